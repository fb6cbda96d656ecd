"""The prompts of a snapshot as hashes of their messages, each with its side of the split."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, cast, func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from backend.domain.differences.prompts import Sides
from backend.schemas.vocabulary import Split
from backend.store import dialect
from backend.store.tables.data import SnapshotLine

# Rows that are in memory at a time: one may have 2 MiB.
_BATCH = 100


class Prompt(NamedTuple):
    """A prompt of a snapshot. `key`: the hash of its messages; `size`: characters of its line."""

    key: bytes
    is_heldout: bool
    size: int


def sides_of(session: Session, snapshot_id: str) -> Sides:
    """Whether each prompt is held out, by the hash of its messages: ids differ by project."""
    return {one.key: one.is_heldout for one in prompts_of(session, snapshot_id)}


def prompts_of(session: Session, snapshot_id: str) -> Iterator[Prompt]:
    """Read the prompts one after another; nothing more is read where the reader stops."""
    asked = select(SnapshotLine.split, _messages(session), func.length(SnapshotLine.line)).where(
        SnapshotLine.snapshot_id == snapshot_id
    )
    with session.execute(asked, execution_options={"yield_per": _BATCH}) as rows:
        for split, messages, size in rows:
            key = hashlib.blake2b(messages.encode(), digest_size=16).digest()
            yield Prompt(key, split == Split.HELDOUT, size)


def _messages(session: Session) -> ColumnElement[Any]:
    if dialect.is_sqlite(session):
        return func.json_extract(SnapshotLine.line, "$.messages")
    in_line: ColumnElement[Any] = cast(SnapshotLine.line, postgresql.JSON)["messages"].astext
    return in_line
