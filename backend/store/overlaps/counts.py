"""How many prompts of a set are training or held-out prompts of another snapshot.

Snapshots never change, so each pair is counted once and the counts are kept in memory.
"""

from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from backend.domain.differences.prompts import InCommon, Sides, in_common
from backend.schemas.vocabulary import SnapshotKind
from backend.store.overlaps.sides import prompts_of
from backend.store.tables.data import Snapshot

# Pairs whose counts are kept, and snapshots whose sizes are; for one more all are forgotten.
MOST_KEPT = 10_000


@dataclass(frozen=True)
class _Kept:
    """What requests have found, for those after them. `sizes`: characters of a snapshot, or more.

    What is too long is read in vain once: it leaves the next request room for all the others.
    """

    counts: dict[tuple[str, str, str], InCommon] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


# By the database that it is of.
_kept: WeakKeyDictionary[Engine, _Kept] = WeakKeyDictionary()


class Most(NamedTuple):
    """What one request reads at most of snapshots: a record may have 2 MiB."""

    records: int
    characters: int


class CommonPrompts:
    """Counts for one request, which reads no more of snapshots than `most`."""

    def __init__(self, session: Session, most: Most) -> None:
        self._session, self._most = session, most
        self._n_records = self._n_characters = 0
        self._kept = _kept.setdefault(session.get_bind().engine, _Kept())
        self._sides: dict[str, Sides] = {}

    def of(self, trained: str, data: str, split: str) -> InCommon | None:
        """The prompts of a split of the snapshot `data` that the snapshot `trained` has, too.

        None where that is not known: a snapshot is unknown, holds no prompts or has more than may
        still be read.
        """
        key = (trained, data, split)
        # Looked up once: another thread may forget all at any time.
        if (kept := self._kept.counts.get(key)) is not None:
            return kept
        if not self._has_read({trained, data}):
            return None
        found = in_common(self._sides[trained], self._sides[data], split)
        if len(self._kept.counts) >= MOST_KEPT:
            self._kept.counts.clear()
        self._kept.counts[key] = found
        return found

    def _has_read(self, snapshot_ids: set[str]) -> bool:
        """Read those of these that were not read yet, or none if they are known not to fit.

        How long their records are is known only once they came.
        """
        missing = snapshot_ids - self._sides.keys()
        if not missing:
            return True
        wanted = select(Snapshot).where(
            Snapshot.id.in_(missing),
            Snapshot.job_id.is_(None),
            Snapshot.kind == SnapshotKind.PROMPTS,
        )
        found = {one.id: one.count("records") for one in self._session.scalars(wanted)}
        n_records = self._n_records + sum(found.values())
        n_characters = self._n_characters + sum(self._kept.sizes.get(one, 0) for one in missing)
        is_too_much = n_records > self._most.records or n_characters > self._most.characters
        if is_too_much or missing != found.keys():
            return False
        self._n_records = n_records
        return all(map(self._has_read_one, sorted(missing)))

    def _has_read_one(self, snapshot_id: str) -> bool:
        left = self._most.characters - self._n_characters
        sides: dict[bytes, bool] = {}
        size = 0
        for prompt in prompts_of(self._session, snapshot_id):
            size += prompt.size
            if size > left:
                break
            sides[prompt.key] = prompt.is_heldout
        else:
            self._sides[snapshot_id] = sides
        self._n_characters += size
        if len(self._kept.sizes) >= MOST_KEPT:
            self._kept.sizes.clear()
        self._kept.sizes[snapshot_id] = size
        return snapshot_id in self._sides
