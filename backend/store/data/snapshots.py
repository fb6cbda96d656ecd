"""Snapshots: records frozen as the exact lines of their native file, split by prompt, hashed.

Called by the job that freezes (`backend.jobs.freeze_snapshot`), by the snapshot routes and by
`worker.run_directory.export`, which writes the same bytes into a run directory. How the lines are
made is `backend.store.data.freezing`.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import Conflict, InvalidInput, NotFound
from backend.plural import plural
from backend.schemas.data import SnapshotAnswer, SnapshotBody, SnapshotLineAnswer
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import HELDOUT_FRACTION, Aggregation, SnapshotKind, Split
from backend.store.data.freezing import FrozenLine
from backend.store.ids import new_id
from backend.store.jobs import UNFINISHED
from backend.store.paging import Page, filled, number_in, page_of
from backend.store.tables.data import Snapshot, SnapshotLine
from backend.store.tables.jobs import Job

BATCH = 500


def begin(
    session: Session,
    project_id: str,
    body: SnapshotBody,
    *,
    job_id: str,
    at: datetime,
    source: Mapping[str, Any] | None = None,
) -> str:
    """A snapshot that nobody sees before its job has published it; returns its id.

    `source`: what its filter tells besides what was asked for.
    """
    snapshot = Snapshot(
        id=new_id("snapshot"),
        project_id=project_id,
        name=body.name,
        kind=body.kind,
        sha256="",
        heldout_fraction=body.heldout_fraction,
        seed=body.seed,
        filter=body.filter.model_dump(exclude_none=True) | dict(source or {}),
        aggregation=body.aggregation,
        criterion=body.criterion or "",
        counts={},
        job_id=job_id,
        created_at=at,
    )
    session.add(snapshot)
    session.flush()
    return snapshot.id


def add_lines(
    session: Session, snapshot_id: str, position: int, lines: Sequence[tuple[Split, str]]
) -> None:
    """The next lines of a snapshot that was begun, from this position on.

    Raises Conflict if it has been removed meanwhile.
    """
    is_begun = select(Snapshot.id).where(Snapshot.id == snapshot_id, Snapshot.job_id.is_not(None))
    if session.scalar(is_begun) is None:
        raise Conflict("the snapshot was removed before it was complete", advice="Freeze it again.")
    rows = [
        {"snapshot_id": snapshot_id, "position": position + n, "split": split, "line": line}
        for n, (split, line) in enumerate(lines)
    ]
    session.execute(insert(SnapshotLine), rows)


def publish(
    session: Session,
    snapshot_id: str,
    *,
    sha256: str,
    counts: Mapping[str, Mapping[str, int]],
) -> SnapshotAnswer:
    """Show the snapshot, all of whose lines are stored, to everybody who sees the project."""
    snapshot = session.scalars(
        select(Snapshot).where(Snapshot.id == snapshot_id, Snapshot.job_id.is_not(None))
    ).one()
    snapshot.sha256 = sha256
    snapshot.counts = {split: dict(found) for split, found in counts.items()}
    snapshot.job_id = None
    session.flush()
    return _answer(snapshot)


def abandoned(session: Session) -> list[str]:
    """The snapshots whose job has ended without publishing them."""
    going = select(Job.id).where(Job.id == Snapshot.job_id, Job.state.in_(UNFINISHED))
    found = session.scalars(
        select(Snapshot.id).where(Snapshot.job_id.is_not(None), ~going.exists())
    )
    return list(found)


def remove_some(session: Session, snapshot_id: str, at_most: int) -> bool:
    """Remove lines of a snapshot that was never published, at last itself; whether any is left."""
    of_it = SnapshotLine.snapshot_id == snapshot_id
    first = session.scalar(select(func.min(SnapshotLine.position)).where(of_it))
    if first is not None:
        session.execute(delete(SnapshotLine).where(of_it, SnapshotLine.position < first + at_most))
        return True
    session.execute(
        delete(Snapshot).where(Snapshot.id == snapshot_id, Snapshot.job_id.is_not(None))
    )
    return False


def get(session: Session, snapshot_id: str, caller: Caller) -> SnapshotAnswer:
    """One snapshot. Raises NotFound."""
    return _answer(_row(session, snapshot_id, caller))


def n_records(session: Session, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Count the records of splits, by snapshot id and split; unknown snapshots are left out."""
    ids = {snapshot_id for snapshot_id, _ in wanted}
    found = session.scalars(select(Snapshot).where(Snapshot.id.in_(ids))) if ids else ()
    known = {one.id: one for one in found}
    return {
        (snapshot_id, split): known[snapshot_id].count("records", split)
        for snapshot_id, split in wanted
        if snapshot_id in known
    }


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    kind: SnapshotKind | None = None,
    archived: bool = False,
) -> Listing[SnapshotAnswer]:
    """A project's snapshots, those in use or those archived."""
    statement = select(Snapshot).where(
        Snapshot.project_id == project_id,
        Snapshot.job_id.is_(None),
        Snapshot.archived_at.is_not(None) == archived,
    )
    if kind:
        statement = statement.where(Snapshot.kind == kind)
    rows, cursor = page_of(session, statement, Snapshot.number, page)
    return Listing(items=[_answer(row) for row in rows], next_cursor=cursor)


def set_archived(
    session: Session, snapshot_id: str, caller: Caller, *, at: datetime | None
) -> SnapshotAnswer:
    """Take a snapshot out of the lists (`at` = when) or bring it back (None). Raises NotFound."""
    snapshot = _row(session, snapshot_id, caller)
    snapshot.archived_at = (snapshot.archived_at or at) if at else None
    session.flush()
    return _answer(snapshot)


def recorded_sha256(session: Session, snapshot_id: str) -> str | None:
    """The SHA-256 of a snapshot's native file; None if there is no such snapshot."""
    return session.scalar(
        select(Snapshot.sha256).where(Snapshot.id == snapshot_id, Snapshot.job_id.is_(None))
    )


def lines(
    session: Session,
    snapshot_id: str,
    *,
    split: Split | None = None,
    after: int = -1,
) -> Sequence[tuple[int, str]]:
    """The next (position, line) beyond `after`, in order; empty at the end.

    There are a few hundred, or fewer long ones.
    """
    return _lines(session, snapshot_id, split, after, BATCH)[0]


def _lines(
    session: Session, snapshot_id: str, split: Split | None, after: int, at_most: int
) -> tuple[list[tuple[int, str]], bool]:
    """Return the next lines, at most so many and no more than a page holds; is there more."""
    statement = select(SnapshotLine.position, SnapshotLine.line).where(
        SnapshotLine.snapshot_id == snapshot_id
    )
    if split:
        statement = statement.where(SnapshotLine.split == split)
    statement = statement.order_by(SnapshotLine.position)

    def _fetched(last: tuple[int, str] | None, limit: int) -> list[tuple[int, str]]:
        beyond = SnapshotLine.position > (after if last is None else last[0])
        rows = session.execute(statement.where(beyond).limit(limit))
        return [(row[0], row[1]) for row in rows]

    return filled(_fetched, at_most, lambda one: len(one[1].encode()))


def every_line(session: Session, snapshot_id: str, *, split: Split | None = None) -> Iterator[str]:
    """All lines in order; each with a newline they are the native file that sha256 is of."""
    after = -1
    while batch := lines(session, snapshot_id, split=split, after=after):
        yield from (line for _, line in batch)
        after = batch[-1][0]


def line_page(
    session: Session, snapshot_id: str, page: Page, *, split: Split | None = None
) -> Listing[SnapshotLineAnswer]:
    """Frozen records to look at, in order of position. Raises InvalidInput for a foreign cursor."""
    after = -1 if page.cursor is None else number_in(page.cursor)
    found, has_more = _lines(session, snapshot_id, split, after, page.limit)
    items = [_line(position, json.loads(line)) for position, line in found]
    return Listing(items=items, next_cursor=f"n{found[-1][0]}" if has_more else None)


class Tally:
    """Hash and counts of a snapshot while its lines go by."""

    def __init__(self, body: SnapshotBody) -> None:
        self.kind = body.kind
        self._criterion = body.criterion
        self._is_merged = body.aggregation is not Aggregation.NONE
        self.counts: dict[str, dict[str, int]] = {}
        self._prompts: dict[str, set[str]] = {}
        self._hash = hashlib.sha256()
        self.lines = 0
        for split in Split:
            self.counts[split] = {"records": 0, "prompts": 0}
            self._prompts[split] = set()
            if self.kind is SnapshotKind.PREFERENCES:
                self.counts[split] |= {"pairs": 0, "ties": 0}
            if self._is_merged:
                self.counts[split] |= {"apart": 0, "outvoted": 0}

    def take(self, one: FrozenLine) -> None:
        """Count a line."""
        self._hash.update(one.line.encode() + b"\n")
        counts = self.counts[one.split]
        counts["records"] += 1
        if self.kind is SnapshotKind.PROMPTS:
            counts["prompts"] += 1
        else:
            self._prompts[one.split].add(one.prompt_id)
            counts["prompts"] = len(self._prompts[one.split])
        if self.kind is SnapshotKind.PREFERENCES:
            counts["pairs"] += one.pairs
            counts["ties"] += one.ties
        if self._is_merged:
            counts["apart"] += one.is_apart
            counts["outvoted"] += one.is_outvoted
        self.lines += 1

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def check(self) -> None:
        """Raise InvalidInput if the snapshot would be of no use."""
        if self.lines == 0 and self._criterion:
            raise InvalidInput(
                f"no judgment was given under the criterion {self._criterion!r}",
                advice="Name another criterion, or an empty one for judgments given without.",
            )
        if self.lines == 0:
            raise InvalidInput(
                f"there are no {self.kind} to freeze",
                advice="Import or collect some, or widen the filter.",
            )
        if self.kind is not SnapshotKind.PREFERENCES:
            return
        pairs = sum(self.counts[split]["pairs"] for split in Split)
        if pairs == 0:
            raise InvalidInput(
                f"there is no pair in {plural(self.lines, 'judgment')}: no response is ranked "
                "above another",
                advice="Rank some comparisons into at least two tiers first.",
            )
        if self.counts[Split.TRAIN]["pairs"] == 0:
            raise InvalidInput(
                "all pairs would be held out, and none would be left to train on",
                advice=f"Lower {HELDOUT_FRACTION}, take another seed, or rank more prompts.",
            )


def _row(session: Session, snapshot_id: str, caller: Caller) -> Snapshot:
    snapshot = session.scalar(
        select(Snapshot).where(Snapshot.id == snapshot_id, Snapshot.job_id.is_(None))
    )
    if snapshot is None:
        raise NotFound(f"there is no snapshot {snapshot_id} that you can see")
    caller.must_see(snapshot.project_id, f"snapshot {snapshot_id}")
    return snapshot


def _answer(snapshot: Snapshot) -> SnapshotAnswer:
    return SnapshotAnswer.model_validate(snapshot)


def _line(position: int, record: dict[str, object]) -> SnapshotLineAnswer:
    return SnapshotLineAnswer(position=position, split=Split(str(record["split"])), record=record)
