"""Sign-in links and signed-in browsers, by the hashes of their tokens and cookies.

Called by `backend.auth` and the user routes.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, select
from sqlalchemy.orm import Session

from backend.domain.operations import Of
from backend.schemas.paging import Listing
from backend.schemas.people import SessionAnswer
from backend.store import built, owners
from backend.store.built import once
from backend.store.owners import Asked
from backend.store.people import callers
from backend.store.people.callers import Sender
from backend.store.tables.credentials import BrowserSession, SignInToken
from backend.store.tables.people import User

# Expired sessions and links, at each new one: more than come in, so that they become less.
_FORGOTTEN_AT_ONCE = 100


def add_token(
    session: Session, *, user_id: str, token_sha256: str, expires_at: datetime, at: datetime
) -> None:
    """Keep the one-time token of a sign-in link by its hash, and forget a few that have expired."""
    expired = (
        select(SignInToken.token_sha256)
        .where(SignInToken.expires_at <= at)
        .limit(_FORGOTTEN_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    tokens = session.scalars(expired).all()
    session.execute(delete(SignInToken).where(SignInToken.token_sha256.in_(tokens)))
    session.add(SignInToken(token_sha256=token_sha256, user_id=user_id, expires_at=expires_at))
    session.flush()


def use_token(session: Session, token_sha256: str, *, at: datetime) -> str | None:
    """The user a token signs in, once: the DELETE lets one of two racing requests through.

    The user is held first, as whoever ends links and sessions does.
    """
    owner = select(SignInToken.user_id).where(SignInToken.token_sha256 == token_sha256)
    active = callers.hold_users(session, session.scalars(owner).all())
    row = session.execute(
        delete(SignInToken)
        .where(SignInToken.token_sha256 == token_sha256)
        .returning(SignInToken.user_id, SignInToken.expires_at)
    ).one_or_none()
    if row is None or row[1] <= at:
        return None
    return row[0] if active.get(row[0], False) else None


def add_session(
    session: Session, *, user_id: str, cookie_sha256: str, expires_at: datetime, at: datetime
) -> None:
    """Keep a signed-in browser by its cookie's hash and forget a few that have expired."""
    # By index and never many, so that nobody waits long for the writer.
    expired = (
        select(BrowserSession.cookie_sha256)
        .where(BrowserSession.expires_at <= at)
        .order_by(BrowserSession.expires_at)
        .limit(_FORGOTTEN_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    cookies = session.scalars(expired).all()
    session.execute(delete(BrowserSession).where(BrowserSession.cookie_sha256.in_(cookies)))
    session.add(
        BrowserSession(
            cookie_sha256=cookie_sha256, user_id=user_id, created_at=at, expires_at=expires_at
        )
    )
    session.flush()


def sessions(session: Session, user_id: str, *, at: datetime) -> Listing[SessionAnswer]:
    """The signed-in browsers of a user, newest first."""
    rows = session.scalars(
        select(BrowserSession)
        .where(BrowserSession.user_id == user_id, BrowserSession.expires_at > at)
        .order_by(BrowserSession.created_at.desc())
        .limit(500)
    )
    return Listing(items=[SessionAnswer.model_validate(row) for row in rows])


def end_session(session: Session, cookie_sha256: str) -> bool:
    """Sign a browser out; returns whether it was signed in."""
    own = delete(BrowserSession).where(BrowserSession.cookie_sha256 == cookie_sha256)
    return session.scalar(own.returning(BrowserSession.user_id)) is not None


def end_sessions(session: Session, user_id: str, *, but: str | None) -> None:
    """Sign all browsers of a user out, and end its links; the browser with this hash stays.

    Who is signing in at this moment is signed out too: a sign-in holds the user.
    """
    session.execute(select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    theirs = delete(BrowserSession).where(BrowserSession.user_id == user_id)
    session.execute(theirs if but is None else theirs.where(BrowserSession.cookie_sha256 != but))
    session.execute(delete(SignInToken).where(SignInToken.user_id == user_id))


def sender_of(
    session: Session, cookie_sha256: str, *, at: datetime, asked: Asked | None = None
) -> Sender | None:
    """Who a browser session belongs to and whose the object is, None if it is unknown or over."""
    named = {"cookie_sha256": cookie_sha256, "at": at, "object_id": asked and asked.id}
    statement = _user_of_session(asked and asked.kind)
    return callers.sender(built.rows(session, statement, named))


@once
def _user_of_session(asked: Of | None) -> Select[Any]:
    return (
        callers.WHO.add_columns(*owners.columns(asked))
        .join(BrowserSession, BrowserSession.user_id == User.id)
        .where(
            BrowserSession.cookie_sha256 == bindparam("cookie_sha256"),
            BrowserSession.expires_at > bindparam("at"),
        )
    )
