"""Answers once given to a POST, so that sending it again does nothing twice.

Called by `backend.deps` inside the transaction of the request that the key belongs to.
"""

import hashlib
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from backend.errors import Conflict
from backend.store.tables.access import IdempotencyKey


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
    if session.get_bind().dialect.name == "postgresql":
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


def forget(session: Session, *, before: datetime) -> None:
    """Forget the answers given before a time, and with them their keys."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < before))


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
    """Keep the answer of this request in its own transaction."""
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
