"""API keys by their hashes: what each may do, until when, and which key it was made with.

Called by `backend.auth` and the user routes. A key dies with the key that it was made with, and so
does an invitation.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from backend.domain.access import ApiKeyUsed, Caller
from backend.domain.operations import Of
from backend.errors import Conflict, NotFound
from backend.schemas.paging import Listing
from backend.schemas.people import KeyAnswer
from backend.schemas.vocabulary import Scope
from backend.store import built, given, owners
from backend.store.built import once
from backend.store.ids import new_id
from backend.store.owners import Asked
from backend.store.paging import Page, page_of
from backend.store.people import callers, invitations, users
from backend.store.people.callers import Sender
from backend.store.tables.credentials import ApiKey, Invitation
from backend.store.tables.people import User

# Of one person: whoever takes their access away ends all of them in one transaction.
MOST_KEYS = 100


def add(
    session: Session,
    *,
    user_id: str,
    name: str,
    prefix: str,
    key_sha256: str,
    scopes: Sequence[Scope],
    maker: Caller | None,
    expires_at: datetime | None,
    at: datetime,
) -> KeyAnswer:
    """Keep an API key by its hash; `maker` None: the service itself makes it.

    Raises NotFound for an unknown user, NotSignedIn if the maker may do nothing any more, Conflict
    for a user who has as many keys as one may.
    """
    users.must_exist(session, user_id)
    if maker is not None:
        callers.hold(session, maker, users=[user_id])
    _make_room(session, user_id, at)
    key = ApiKey(
        id=new_id("key"),
        user_id=user_id,
        name=name,
        prefix=prefix,
        key_sha256=key_sha256,
        scopes=list(scopes),
        parent_id=maker.key.id if maker and maker.key else None,
        expires_at=expires_at,
        created_at=at,
    )
    session.add(key)
    session.flush()
    return KeyAnswer.model_validate(key)


def listing(session: Session, user_id: str, page: Page, seen_by: Caller) -> Listing[KeyAnswer]:
    """The keys of a user that still work or have expired, never the key itself.

    Which key of somebody else one was made with, only administrators see.
    """
    users.must_exist(session, user_id)
    statement = select(ApiKey).where(ApiKey.user_id == user_id, ApiKey.revoked_at.is_(None))
    rows, cursor = page_of(session, statement, ApiKey.number, page)
    parents = select(ApiKey.id).where(ApiKey.id.in_({row.parent_id for row in rows}))
    if not seen_by.is_admin:
        parents = parents.where(ApiKey.user_id == user_id)
    shown = set(session.scalars(parents))
    items = [KeyAnswer.model_validate(row) for row in rows]
    return Listing(
        items=[
            one if one.parent_id in shown else one.model_copy(update={"parent_id": None})
            for one in items
        ],
        next_cursor=cursor,
    )


def revoke(session: Session, user_id: str, key_id: str, *, at: datetime) -> KeyAnswer:
    """End a key at once, and all that were made with it; gives it as it was. Raises NotFound."""
    found = select(ApiKey).where(ApiKey.id == key_id, ApiKey.user_id == user_id)
    key = session.scalar(found)
    if key is None:
        raise NotFound(f"there is no key {key_id} of this user")
    before = KeyAnswer.model_validate(key)
    _revoke(session, ApiKey.id == key_id, at)
    return before


def revoke_all(session: Session, user_id: str, *, at: datetime) -> None:
    """End every key of a user at once, and all that were made with one of them."""
    _revoke(session, ApiKey.user_id == user_id, at)


def sender_of(
    session: Session, key_sha256: str, *, at: datetime, asked: Asked | None = None
) -> Sender | None:
    """Who a key belongs to and whose the object is, None if it is unknown, expired or revoked."""
    named = {"key_sha256": key_sha256, "at": at, "object_id": asked and asked.id}
    rows = built.rows(session, _user_of_key(asked and asked.kind), named)
    if not rows:
        return None
    key_id, scopes, expires_at = rows[0][-3:]
    key = ApiKeyUsed(key_id, frozenset(Scope(one) for one in scopes), expires_at)
    return callers.sender(rows, key)


# Built once: every request asks this, and building a statement takes longer than running it.
@once
def _user_of_key(asked: Of | None) -> Select[Any]:
    proof = (ApiKey.id, ApiKey.scopes, ApiKey.expires_at)
    return (
        callers.WHO.add_columns(*owners.columns(asked), *proof)
        .join(ApiKey, ApiKey.user_id == User.id)
        .where(
            ApiKey.key_sha256 == bindparam("key_sha256"),
            ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > bindparam("at")),
        )
    )


def _make_room(session: Session, user_id: str, at: datetime) -> None:
    """Let a user have one more key; those that have expired give way."""
    if _count(session, user_id) < MOST_KEYS:
        return
    _revoke(session, and_(ApiKey.user_id == user_id, ApiKey.expires_at <= at), at)
    found = _count(session, user_id)
    if found >= MOST_KEYS:
        raise Conflict(
            f"this user has {found} keys that are neither revoked nor expired; at most {MOST_KEYS} "
            "are allowed",
            advice="Revoke keys that nobody uses any more, or use one key for several programs.",
        )


def _count(session: Session, user_id: str) -> int:
    own = select(func.count()).where(ApiKey.user_id == user_id, ApiKey.revoked_at.is_(None))
    return session.scalar(own) or 0


def _revoke(session: Session, first: ColumnElement[bool], at: datetime) -> None:
    """Revoke keys and what was made with them, until nothing is left.

    Whoever makes a key holds its parent (`callers.hold`): the UPDATE waits for that transaction,
    but finds its key only when it looks again.
    """
    ended = _revoke_found(session, first, at)
    while ended:
        ended = _revoke_found(session, given.is_among(session, ApiKey.parent_id, ended), at)


def _revoke_found(session: Session, first: ColumnElement[bool], at: datetime) -> Sequence[str]:
    """Revoke the keys that are there now, and their invitations; the ids of these keys.

    What a revoked key has made is revoked already.
    """
    is_live = ApiKey.revoked_at.is_(None)
    family = select(ApiKey.id).where(first, is_live).cte("family", recursive=True)
    child = aliased(ApiKey)
    of_family = select(child.id).join(family, child.parent_id == family.c.id)
    family = family.union(of_family.where(child.revoked_at.is_(None)))
    ending = update(ApiKey).where(ApiKey.id.in_(select(family.c.id)), is_live)
    ended = session.connection().execute(ending.values(revoked_at=at).returning(ApiKey.id))
    ids = ended.scalars().all()
    if ids:
        invitations.end(session, given.is_among(session, Invitation.key_id, ids), at=at)
    return ids
