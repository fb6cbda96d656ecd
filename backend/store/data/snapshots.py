"""Snapshots: records frozen as the exact lines of their native file, split by prompt, hashed.

Called by the snapshot routes and by `worker.run_directory.export`, which writes the same bytes into a run
directory. How the lines are made is `backend.store.data.freezing`.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import InvalidInput, NotFound
from backend.schemas.data import SnapshotAnswer, SnapshotBody, SnapshotLineAnswer
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import SnapshotKind, Split
from backend.store.data import freezing
from backend.store.data.freezing import FrozenLine
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.data import Snapshot, SnapshotLine

BATCH = 500


def create(
    session: Session, project_id: str, body: SnapshotBody, *, at: datetime
) -> SnapshotAnswer:
    """Freeze what the project holds at this moment.

    Raises InvalidInput if nothing would be in it, or no pair to learn from.
    """
    snapshot = Snapshot(
        id=new_id("snapshot"),
        project_id=project_id,
        name=body.name,
        kind=body.kind,
        sha256="",
        heldout_fraction=body.heldout_fraction,
        seed=body.seed,
        filter=body.filter.model_dump(exclude_none=True),
        counts={},
        created_at=at,
    )
    session.add(snapshot)
    session.flush()
    tally = _Tally(body.kind)
    every = iter(freezing.lines(session, project_id, body))
    while batch := list(islice(every, BATCH)):
        rows = [
            {
                "snapshot_id": snapshot.id,
                "position": tally.take(one),
                "split": one.split,
                "line": one.line,
            }
            for one in batch
        ]
        session.execute(insert(SnapshotLine), rows)
    tally.check()
    snapshot.sha256 = tally.sha256
    snapshot.counts = tally.counts
    session.flush()
    return _answer(snapshot)


def get(session: Session, snapshot_id: str, caller: Caller) -> SnapshotAnswer:
    """One snapshot. Raises NotFound."""
    return _answer(_row(session, snapshot_id, caller))


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
        Snapshot.project_id == project_id, Snapshot.archived_at.is_not(None) == archived
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
    return session.scalar(select(Snapshot.sha256).where(Snapshot.id == snapshot_id))


def lines(
    session: Session, snapshot_id: str, *, split: Split | None = None, after: int = -1
) -> Sequence[tuple[int, str]]:
    """The next few hundred (position, line) beyond `after`, in order; empty at the end."""
    statement = select(SnapshotLine.position, SnapshotLine.line).where(
        SnapshotLine.snapshot_id == snapshot_id, SnapshotLine.position > after
    )
    if split:
        statement = statement.where(SnapshotLine.split == split)
    rows = session.execute(statement.order_by(SnapshotLine.position).limit(BATCH))
    return [(row[0], row[1]) for row in rows]


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
    cursor = page.cursor or "n-1"
    if not cursor.removeprefix("n-").removeprefix("n").isdigit():
        raise InvalidInput(
            f"the cursor {cursor[:40]!r} was not issued by this list",
            advice="Pass the next_cursor of the previous page, or leave the cursor out.",
        )
    found = lines(session, snapshot_id, split=split, after=int(cursor.removeprefix("n")))
    shown = found[: page.limit]
    items = [_line(position, json.loads(line)) for position, line in shown]
    return Listing(items=items, next_cursor=f"n{shown[-1][0]}" if len(found) > len(shown) else None)


class _Tally:
    """Hash and counts of a snapshot while its lines go by."""

    def __init__(self, kind: SnapshotKind) -> None:
        self.kind = kind
        self.counts: dict[str, dict[str, int]] = {}
        self._prompts: dict[str, set[str]] = {}
        self._hash = hashlib.sha256()
        self._position = 0
        for split in Split:
            self.counts[split] = {"records": 0, "prompts": 0}
            self._prompts[split] = set()
            if kind is SnapshotKind.PREFERENCES:
                self.counts[split] |= {"pairs": 0, "ties": 0}

    def take(self, one: FrozenLine) -> int:
        """Count a line; returns its position."""
        self._hash.update(one.line.encode() + b"\n")
        counts = self.counts[one.split]
        self._prompts[one.split].add(one.prompt_id)
        counts["records"] += 1
        counts["prompts"] = len(self._prompts[one.split])
        if self.kind is SnapshotKind.PREFERENCES:
            counts["pairs"] += one.pairs
            counts["ties"] += one.ties
        self._position += 1
        return self._position - 1

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def check(self) -> None:
        """Raise InvalidInput if the snapshot would be of no use."""
        if self._position == 0:
            raise InvalidInput(
                f"there are no {self.kind} to freeze",
                advice="Import or collect some, or widen the filter.",
            )
        if self.kind is not SnapshotKind.PREFERENCES:
            return
        pairs = sum(self.counts[split]["pairs"] for split in Split)
        if pairs == 0:
            raise InvalidInput(
                f"the {self._position} judgments contain no pair: no response is ranked above "
                "another",
                advice="Rank some comparisons into at least two tiers first.",
            )
        if self.counts[Split.TRAIN]["pairs"] == 0:
            raise InvalidInput(
                "all pairs would be held out, and none would be left to train on",
                advice="Use a smaller heldout_fraction or another seed, or rank more prompts.",
            )


def _row(session: Session, snapshot_id: str, caller: Caller) -> Snapshot:
    snapshot = session.scalar(select(Snapshot).where(Snapshot.id == snapshot_id))
    if snapshot is None:
        raise NotFound(f"there is no snapshot {snapshot_id} that you can see")
    caller.must_see(snapshot.project_id, f"snapshot {snapshot_id}")
    return snapshot


def _answer(snapshot: Snapshot) -> SnapshotAnswer:
    return SnapshotAnswer.model_validate(snapshot)


def _line(position: int, record: dict[str, object]) -> SnapshotLineAnswer:
    return SnapshotLineAnswer(position=position, split=Split(str(record["split"])), record=record)
