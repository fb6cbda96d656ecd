"""The tables that prove who is asking, and keep what was answered before: hashes, never secrets.

The files of `backend.store.people` query these.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Numbered, index_where

_UNUSED = "used_at IS NULL AND revoked_at IS NULL"


class ApiKey(Numbered, Base):
    """A bearer key; only its sha256 is kept."""

    __tablename__ = "api_keys"
    # Revoked ones stay, however many there were: whoever revokes keys reads the others alone.
    __table_args__ = (
        index_where("ix_api_keys_live_user", "user_id", where="revoked_at IS NULL"),
        index_where("ix_api_keys_live_parent", "parent_id", where="revoked_at IS NULL"),
    )
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(String(200))
    prefix: Mapped[str] = mapped_column(String(16))
    key_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[list[str]]
    # The key that this one was made with, and dies with.
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("api_keys.id"))
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class SignInToken(Base):
    """A one-time link into the browser; only its sha256 is kept."""

    __tablename__ = "sign_in_tokens"
    token_sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    expires_at: Mapped[datetime]


class Invitation(Numbered, Base):
    """A link that makes somebody a member, once; only its token's sha256 is kept.

    `key_id` is the key that it was made with, and dies with. With the role `admin` it makes an
    administrator of the service.
    """

    __tablename__ = "invitations"
    # Those that are over stay, too.
    __table_args__ = (
        index_where("ix_invitations_open_sender", "invited_by", "expires_at", where=_UNUSED),
        index_where("ix_invitations_open_key", "key_id", "expires_at", where=_UNUSED),
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    email: Mapped[str | None] = mapped_column(String(320))
    role: Mapped[str] = mapped_column(String(16))
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    invited_by: Mapped[str] = mapped_column(ForeignKey("users.id"))
    key_id: Mapped[str | None] = mapped_column(ForeignKey("api_keys.id"))
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id"))  # who used it


class BrowserSession(Base):
    """A signed-in browser; only the cookie's sha256 is kept."""

    __tablename__ = "browser_sessions"
    cookie_sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class IdempotencyKey(Base):
    """The answer once given to a POST, to be given again for the same key and body."""

    __tablename__ = "idempotency_keys"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    route: Mapped[str] = mapped_column(String(300))
    body_sha256: Mapped[str] = mapped_column(String(64))
    status: Mapped[int]
    answer: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
