"""Answers once given to a POST, so that sending it again does nothing twice.

Called by `backend.phases` and `backend.api.waiting` inside the transaction of the request
that the key belongs to.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Integer, bindparam, delete, func, insert, select
from sqlalchemy.orm import Session

from backend.errors import Conflict
from backend.store import built, dialect
from backend.store.tables.credentials import IdempotencyKey

KEPT_FOR = timedelta(days=7)
# More than one for each that comes, so that what is too old becomes less.
_FORGOTTEN_AT_ONCE = 10


_LOCK = select(func.pg_advisory_xact_lock(bindparam("number", type_=BigInteger)))
_IS_IT = (
    IdempotencyKey.user_id == bindparam("of_user"),
    IdempotencyKey.key == bindparam("with_key"),
)
_KEPT = select(
    IdempotencyKey.route, IdempotencyKey.body_sha256, IdempotencyKey.status, IdempotencyKey.answer
).where(*_IS_IT)
_OLD = (
    select(IdempotencyKey.user_id, IdempotencyKey.key)
    .where(IdempotencyKey.created_at < bindparam("before"))
    .order_by(IdempotencyKey.created_at)
    .limit(bindparam("most", type_=Integer))
    .with_for_update(skip_locked=True)
)
_NEW = insert(IdempotencyKey)


class KeptAnswer(NamedTuple):
    """What was answered the first time."""

    status: int
    answer: dict[str, Any]


def find(
    session: Session, *, user_id: str, key: str, route: str, body_sha256: str
) -> KeptAnswer | None:
    """The answer kept under this key, None if the key is new.

    Raises Conflict if the key was used for another route or body. On PostgreSQL two requests with
    one key wait for each other here; on SQLite writers are alone anyway.
    """
    if not dialect.is_sqlite(session):
        digest = hashlib.sha256(f"{user_id}\0{key}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        built.rows(session, _LOCK, {"number": number})
    row = built.row(session, _KEPT, {"of_user": user_id, "with_key": key})
    if row is None:
        return None
    its_route, its_body, status, answered = row
    if (its_route, its_body) != (route, body_sha256):
        raise Conflict(
            "this Idempotency-Key was used for another request",
            advice="Use a fresh key for every new request.",
        )
    return KeptAnswer(status, answered)


def forget(session: Session, *, before: datetime, most: int) -> int:
    """Forget answers given before a time, and with them their keys, the oldest first.

    At most `most` at once, so that nobody waits long for the writer; returns how many. Rows that
    another transaction forgets at this moment are left to it.
    """
    old = built.rows(session, _OLD, {"before": before, "most": most})
    keys = [{"of_user": user_id, "with_key": key} for user_id, key in old]
    if keys:
        session.connection().execute(delete(IdempotencyKey).where(*_IS_IT), keys)
    return len(keys)


def keep(
    session: Session,
    *,
    user_id: str,
    key: str,
    route: str,
    body_sha256: str,
    status: int,
    answer: dict[str, Any],
    at: datetime,
) -> None:
    """Keep the answer of this request in its own transaction, and forget a few that are too old."""
    forget(session, before=at - KEPT_FOR, most=_FORGOTTEN_AT_ONCE)
    row = {
        "user_id": user_id,
        "key": key,
        "route": route,
        "body_sha256": body_sha256,
        "status": status,
        "answer": answer,
        "created_at": at,
    }
    built.changed(session, _NEW, row)
