"""The prompts of a snapshot as hashes of their messages, each with its side of the split."""

import hashlib
from typing import Any

from sqlalchemy import ColumnElement, cast, func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from backend.domain.differences.prompts import Sides
from backend.schemas.vocabulary import Split
from backend.store import dialect
from backend.store.tables.data import SnapshotLine

_BATCH = 1000


def sides_of(session: Session, snapshot_id: str) -> Sides:
    """Whether each prompt is held out, by the hash of its messages: ids differ by project."""
    rows = session.execute(
        select(SnapshotLine.split, _messages(session)).where(
            SnapshotLine.snapshot_id == snapshot_id
        ),
        execution_options={"yield_per": _BATCH},
    )
    return {
        hashlib.blake2b(messages.encode(), digest_size=16).digest(): split == Split.HELDOUT
        for split, messages in rows
    }


def _messages(session: Session) -> ColumnElement[Any]:
    if dialect.is_sqlite(session):
        return func.json_extract(SnapshotLine.line, "$.messages")
    in_line: ColumnElement[Any] = cast(SnapshotLine.line, postgresql.JSON)["messages"].astext
    return in_line
