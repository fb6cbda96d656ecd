"""The tables of people: users, the projects they may see, and the audit of what they did.

Store modules query these.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, FromImport, Number, Numbered


class User(FromImport, Numbered, Base):
    """A person or a program with a role."""

    __tablename__ = "users"
    name: Mapped[str] = mapped_column(String(200))
    email: Mapped[str | None] = mapped_column(String(320), unique=True)
    # In the whole service; `memberships` say it for each project.
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str | None] = mapped_column(String(300))
    is_active: Mapped[bool] = mapped_column(default=True)


class Membership(Base):
    """The role of a user in a project; an administrator needs none."""

    __tablename__ = "memberships"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))


class AuditEntry(Base):
    """Who did what to which object, in which request; `sha256` is its link of the chain."""

    __tablename__ = "audit"
    # What one person did, and who did one thing: newest first.
    __table_args__ = (
        Index("ix_audit_user", "user_id", "number"),
        Index("ix_audit_action", "action", "number"),
    )
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    user_id: Mapped[str | None] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(64))
    object_id: Mapped[str] = mapped_column(String(64), index=True)
    data: Mapped[dict[str, Any]]
    request_id: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime]
    sha256: Mapped[str] = mapped_column(String(64), server_default="")
