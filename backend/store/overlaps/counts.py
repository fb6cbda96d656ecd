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

# Pairs whose counts are kept; for one more all are forgotten.
MOST_KEPT = 10_000
_Counts = dict[tuple[str, str, str], InCommon]
# By the database that they are of.
_kept: WeakKeyDictionary[Engine, _Counts] = WeakKeyDictionary()


class CommonPrompts:
    """Counts for one request, which reads at most so many records of snapshots."""

    def __init__(self, session: Session, most_records: int) -> None:
        self._session, self._left = session, most_records
        self._kept = _kept.setdefault(session.get_bind().engine, {})
        self._sides: dict[str, Sides] = {}

    def of(self, trained: str, data: str, split: str) -> InCommon | None:
        """The prompts of a split of the snapshot `data` that the snapshot `trained` has, too.

        None where a snapshot is unknown, holds no prompts or has more than may still be read.
        """
        key = (trained, data, split)
        if key in self._kept:
            return self._kept[key]
        if not self._has_read({trained, data}):
            return None
        found = in_common(self._sides[trained], self._sides[data], split)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[key] = found
        return found

    def _has_read(self, snapshot_ids: set[str]) -> bool:
        """Read all of these that were not read yet, or none if one cannot be."""
        wanted = select(Snapshot).where(
            Snapshot.id.in_(snapshot_ids - self._sides.keys()),
            Snapshot.job_id.is_(None),
            Snapshot.kind == SnapshotKind.PROMPTS,
        )
        found = {one.id: one.count("records") for one in self._session.scalars(wanted)}
        is_every_known = snapshot_ids <= found.keys() | self._sides.keys()
        if not is_every_known or sum(found.values()) > self._left:
            return False
        self._left -= sum(found.values())
        self._sides |= {one: sides_of(self._session, one) for one in found}
        return True
