"""Answers once given to a POST, so that sending it again does nothing twice.

Called by `backend.phases` and `backend.api.waiting` inside the transaction of the request
that the key belongs to.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import Session

from backend.errors import Conflict
from backend.store import dialect
from backend.store.tables.credentials import IdempotencyKey

KEPT_FOR = timedelta(days=7)
# More than one for each that comes, so that what is too old becomes less.
_FORGOTTEN_AT_ONCE = 10


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
        session.execute(select(func.pg_advisory_xact_lock(number)))
    row = session.get(IdempotencyKey, (user_id, key))
    if row is None:
        return None
    if (row.route, row.body_sha256) != (route, body_sha256):
        raise Conflict(
            "this Idempotency-Key was used for another request",
            advice="Use a fresh key for every new request.",
        )
    return KeptAnswer(row.status, row.answer)


def forget(session: Session, *, before: datetime, most: int) -> int:
    """Forget answers given before a time, and with them their keys, the oldest first.

    At most `most` at once, so that nobody waits long for the writer; returns how many. Rows that
    another transaction forgets at this moment are left to it.
    """
    answer = IdempotencyKey
    old = (
        select(answer.user_id, answer.key)
        .where(answer.created_at < before)
        .order_by(answer.created_at)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    keys = [{"of_user": row[0], "with_key": row[1]} for row in session.execute(old)]
    if keys:
        is_old = (answer.user_id == bindparam("of_user"), answer.key == bindparam("with_key"))
        session.connection().execute(delete(answer).where(*is_old), keys)
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
    session.add(
        IdempotencyKey(
            user_id=user_id,
            key=key,
            route=route,
            body_sha256=body_sha256,
            status=status,
            answer=answer,
            created_at=at,
        )
    )
    session.flush()
