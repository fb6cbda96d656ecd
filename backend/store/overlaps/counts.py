"""How many prompts of a set are training or held-out prompts of another snapshot.

Snapshots never change, so each pair is counted once and the counts are kept in memory.
"""

from weakref import WeakKeyDictionary

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from backend.domain.differences.prompts import InCommon, Sides, in_common
from backend.schemas.vocabulary import SnapshotKind
from backend.store.overlaps.sides import sides_of
from backend.store.tables.data import Snapshot

# Pairs whose counts are kept; with one more all are counted anew.
MOST_KEPT = 10_000
_Counts = dict[tuple[str, str, str], InCommon]
# By the database that they are of.
_kept: WeakKeyDictionary[Engine, _Counts] = WeakKeyDictionary()


class CommonPrompts:
    """Counts for one request, which reads at most so many records of snapshots."""

    def __init__(self, session: Session, most_records: int) -> None:
        self._session, self._left = session, most_records
        self._kept = _kept.setdefault(session.get_bind().engine, {})
        self._sides: dict[str, Sides | None] = {}

    def of(self, trained: str, data: str, split: str) -> InCommon | None:
        """The prompts of a split of the snapshot `data` that the snapshot `trained` has, too.

        None where a snapshot is unknown, holds no prompts or has more than may still be read.
        """
        key = (trained, data, split)
        if key in self._kept:
            return self._kept[key]
        first, other = self._read(trained), self._read(data)
        if first is None or other is None:
            return None
        found = in_common(first, other, split)
        self._kept[key] = found
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()
        return found

    def _read(self, snapshot_id: str) -> Sides | None:
        if snapshot_id not in self._sides:
            self._sides[snapshot_id] = self._read_now(snapshot_id)
        return self._sides[snapshot_id]

    def _read_now(self, snapshot_id: str) -> Sides | None:
        wanted = select(Snapshot).where(
            Snapshot.id == snapshot_id,
            Snapshot.job_id.is_(None),
            Snapshot.kind == SnapshotKind.PROMPTS,
        )
        snapshot = self._session.scalars(wanted).one_or_none()
        if snapshot is None or snapshot.count("records") > self._left:
            return None
        self._left -= snapshot.count("records")
        return sides_of(self._session, snapshot_id)
