"""The snapshots that runs use: which differ, and which prompts these have in common.

Called by `backend.api.differences`; what an overlap is stands in
`backend.domain.differences.prompts`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.domain.differences.prompts import Sides, overlap
from backend.schemas.compared.differences import (
    ComparedSnapshot,
    DataDifference,
    DataDifferences,
    PromptOverlap,
)
from backend.schemas.methods import SAMPLERS
from backend.schemas.vocabulary import SnapshotKind
from backend.store import record_names
from backend.store.overlaps.sides import sides_of
from backend.store.tables.data import Snapshot
from backend.store.tables.runs import Run

# Records that a request reads at most, of all snapshots together: a second or two of work.
MOST_RECORDS = 100_000
_KINDS = tuple(kind.value for kind in SnapshotKind)


def of_runs(session: Session, run_ids: Sequence[str], caller: Caller) -> DataDifferences:
    """Find the fields in which not all runs name one snapshot, and how far those overlap."""
    rows = session.execute(select(Run.id, Run.config).where(Run.id.in_(run_ids)))
    by_run: dict[str, dict[str, Any]] = dict(rows.all())
    configs = {run_id: by_run[run_id] for run_id in run_ids}
    used = _used(configs)
    snapshots = _snapshots(session, {one for field in used.values() for one in field})
    names = record_names.of_ids(session, snapshots, caller)
    prompts = _Prompts(session)
    items, same = [], []
    for field, by_snapshot in used.items():
        known = {one: runs for one, runs in by_snapshot.items() if one in snapshots}
        naming = {run for runs in by_snapshot.values() for run in runs}
        if len(by_snapshot) == 1 and naming == configs.keys():
            same.append(field)
        elif known:
            training = {run for run in naming if configs[run]["method"] not in SAMPLERS}
            items.append(
                DataDifference(
                    field=field,
                    snapshots=[
                        _compared(
                            snapshots[one],
                            name=names.get(one, one),
                            runs=runs,
                            is_trained_on=field in _KINDS and not training.isdisjoint(runs),
                        )
                        for one, runs in known.items()
                    ],
                    overlaps=prompts.overlaps([snapshots[one] for one in known]),
                    without=[run for run in configs if run not in naming],
                )
            )
    return DataDifferences(items=items, same=same, most_records=MOST_RECORDS)


def _used(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Map fields of the config, and in them snapshots, to the runs that name them, in order."""
    used: dict[str, dict[str, list[str]]] = {}
    for run_id, config in configs.items():
        for field, reference in _fields(config).items():
            if isinstance(reference, Mapping) and isinstance(reference.get("id"), str):
                used.setdefault(field, {}).setdefault(reference["id"], []).append(run_id)
    return used


def _fields(config: Mapping[str, Any]) -> dict[str, Any]:
    """What may name a snapshot; of a set by its name, because its place says nothing."""
    own = {field: config.get(field) for field in (*_KINDS, "texts")}
    sets = config.get("evaluation_sets") or ()
    return own | {f"evaluation_sets.{one['name']}.prompts": one["prompts"] for one in sets}


def _snapshots(session: Session, ids: set[str]) -> dict[str, Snapshot]:
    complete = select(Snapshot).where(Snapshot.id.in_(ids), Snapshot.job_id.is_(None))
    return {one.id: one for one in session.scalars(complete)}


def _compared(snapshot: Snapshot, **more: Any) -> ComparedSnapshot:
    same = ComparedSnapshot.model_fields.keys() - more.keys()
    return ComparedSnapshot(**{one: getattr(snapshot, one) for one in same}, **more)


class _Prompts:
    """The prompts of snapshots, each read once and only as far as a request may read."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._left = MOST_RECORDS
        self._read: dict[str, Sides] = {}  # by the hash of the content

    def overlaps(self, snapshots: Sequence[Snapshot]) -> list[PromptOverlap | None]:
        """Each after the first beside the first."""
        return [self.overlap(snapshots[0], other) for other in snapshots[1:]]

    def overlap(self, first: Snapshot, other: Snapshot) -> PromptOverlap | None:
        """The prompts of `other` beside those of `first`; None if they are too many to read."""
        sides = [self._sides(one) for one in (first, other)]
        if sides[0] is None or sides[1] is None:
            return None
        return overlap(sides[0], sides[1])

    def _sides(self, snapshot: Snapshot) -> Sides | None:
        if snapshot.sha256 not in self._read:
            records = snapshot.count("records")
            if records > self._left:
                return None
            self._left -= records
            self._read[snapshot.sha256] = sides_of(self._session, snapshot.id)
        return self._read[snapshot.sha256]
