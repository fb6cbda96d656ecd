"""The snapshots that runs use: which differ, and which prompts these have in common.

Called by `backend.api.differences`; what an overlap is stands in
`backend.domain.differences.prompts`.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, cast, func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.domain.differences.prompts import Sides, overlap
from backend.schemas.compared.differences import (
    ComparedSnapshot,
    DataDifference,
    DataDifferences,
    PromptOverlap,
)
from backend.schemas.vocabulary import SnapshotKind, Split
from backend.store import dialect, record_names
from backend.store.tables.data import Snapshot, SnapshotLine
from backend.store.tables.runs import Run

# Records that a request reads at most, of all snapshots together: a second or two of work.
MOST_RECORDS = 100_000
_BATCH = 1000


def of_runs(session: Session, run_ids: Sequence[str], caller: Caller) -> DataDifferences:
    """Find the fields in which these runs name different snapshots, and how far those overlap."""
    used = _used(session, run_ids)
    snapshots = _snapshots(session, {one for field in used.values() for one in field})
    names = record_names.of_ids(session, snapshots, caller)
    prompts = _Prompts(session)
    items, same = [], []
    for field, by_snapshot in used.items():
        known = {one: runs for one, runs in by_snapshot.items() if one in snapshots}
        if len(known) > 1:
            items.append(_difference(field, known, snapshots, names, prompts))
        elif known:
            same.append(field)
    return DataDifferences(items=items, same=same, most_records=MOST_RECORDS)


def _used(session: Session, run_ids: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Map fields of the config, and in them snapshots, to the runs that name them, in order."""
    rows = session.execute(select(Run.id, Run.config).where(Run.id.in_(run_ids)))
    configs: dict[str, dict[str, Any]] = dict(rows.all())
    used: dict[str, dict[str, list[str]]] = {}
    for kind in SnapshotKind:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for run_id in run_ids:
            reference = configs[run_id].get(kind)
            if isinstance(reference, Mapping) and isinstance(reference.get("id"), str):
                found[reference["id"]].append(run_id)
        if found:
            used[kind] = dict(found)
    return used


def _snapshots(session: Session, ids: set[str]) -> dict[str, Snapshot]:
    complete = select(Snapshot).where(Snapshot.id.in_(ids), Snapshot.job_id.is_(None))
    return {one.id: one for one in session.scalars(complete)}


def _difference(
    field: str,
    used: Mapping[str, list[str]],
    snapshots: Mapping[str, Snapshot],
    names: Mapping[str, str],
    prompts: "_Prompts",
) -> DataDifference:
    first, *others = (snapshots[one] for one in used)
    return DataDifference(
        field=field,
        snapshots=[
            _compared(snapshots[one], runs, names.get(one, one)) for one, runs in used.items()
        ],
        overlaps=[prompts.overlap(first, other) for other in others],
    )


def _compared(snapshot: Snapshot, runs: list[str], name: str) -> ComparedSnapshot:
    same = ComparedSnapshot.model_fields.keys() - {"runs", "name"}
    return ComparedSnapshot(runs=runs, name=name, **{one: getattr(snapshot, one) for one in same})


class _Prompts:
    """The prompts of snapshots, each read once and only as far as a request may read."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._left = MOST_RECORDS
        self._read: dict[str, Sides] = {}  # by the hash of the content

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
            self._read[snapshot.sha256] = _sides(self._session, snapshot.id)
        return self._read[snapshot.sha256]


def _sides(session: Session, snapshot_id: str) -> Sides:
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
