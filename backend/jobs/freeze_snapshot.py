"""Freezing a snapshot, as a job: it is what one transaction would have seen when the job began.

The lines are first written to a file without a name, in one transaction that only reads; then they
go into the store in short batches, of which nobody sees anything before the snapshot is published
by whoever concludes the job (`backend.store.data.snapshots.publish`). Reading and writing are apart
because a reader that stays keeps SQLite's log growing with all that is written meanwhile.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO

from backend.errors import Unavailable
from backend.jobs.answers import answers_of
from backend.jobs.pace import Pace
from backend.jobs.work import JSON, Work
from backend.machine.disk_errors import is_full
from backend.schemas.data import SnapshotBody
from backend.schemas.vocabulary import Split
from backend.store.data import freezing, snapshots
from backend.store.data.freezing import Answers
from backend.store.data.snapshots import Tally
from backend.store.db import Database

# Lines between two looks at whether anybody still waits.
_LOOK = 200
_MARKS = {Split.TRAIN: b"t", Split.HELDOUT: b"h"}
_SPLITS = {mark: split for split, mark in _MARKS.items()}


def freeze_snapshot(work: Work) -> dict[str, JSON]:
    """The work function; arguments: project_id, body, at. Progress in records.

    Returns what `publish` wants to know. Raises InvalidInput if nothing would be in it, or no pair
    to learn from.
    """
    body = _meant(work)
    folder: Path = work.settings.data_dir
    try:
        with (
            tempfile.TemporaryFile(dir=folder) as file,
            answers_of(work, body.filter.answers) as (answers, source),
        ):
            tally = _spool(work, body, file, answers)
            tally.check()
            file.seek(0)
            snapshot_id = _store(work, body, file, tally.lines, source)
    except OSError as error:
        if not is_full(error):
            raise
        raise Unavailable(
            f"the disk of {folder} is full", advice="Free some space and freeze it again."
        ) from error
    return {"snapshot_id": snapshot_id, "sha256": tally.sha256, "counts": tally.counts}


def clear_abandoned(database: Database, check: Callable[[], None]) -> None:
    """Remove the snapshots whose job has ended without publishing them, in short batches."""
    with database.read() as session:
        found = snapshots.abandoned(session)
    for snapshot_id in found:
        _remove(database, snapshot_id, check)


def _meant(work: Work) -> SnapshotBody:
    body = SnapshotBody.model_validate(work.arguments["body"])
    with work.database.read() as session:
        return freezing.meant(session, work.arguments["project_id"], body)


def _spool(work: Work, body: SnapshotBody, file: IO[bytes], answers: Answers | None) -> Tally:
    tally = Tally(body)
    project_id = work.arguments["project_id"]
    with (
        work.database.read_at_once() as session,
        closing(freezing.lines(session, project_id, body, answers)) as lines,
    ):
        for one in lines:
            tally.take(one)
            file.write(_MARKS[one.split] + one.line.encode() + b"\n")
            if tally.lines % _LOOK == 0:
                work.check()
                work.progress(tally.lines, None)
    return tally


def _store(
    work: Work, body: SnapshotBody, file: IO[bytes], total: int, source: dict[str, JSON]
) -> str:
    with work.database.write() as session:
        snapshot_id = snapshots.begin(
            session,
            work.arguments["project_id"],
            body,
            source=source,
            job_id=work.job_id,
            at=datetime.fromisoformat(work.arguments["at"]),
        )
    try:
        every = _lines(file)
        pace = Pace()
        position = 0
        while position < total:
            work.check()
            lines = list(islice(every, pace.size))
            with work.database.write() as session:
                pace.began()
                snapshots.add_lines(session, snapshot_id, position, lines)
            pace.ended()
            position += len(lines)
            work.progress(position, total)
    except BaseException:
        _remove(work.database, snapshot_id, lambda: None)
        raise
    return snapshot_id


def _lines(file: IO[bytes]) -> Iterator[tuple[Split, str]]:
    for line in file:
        yield _SPLITS[line[:1]], line[1:].removesuffix(b"\n").decode()


def _remove(database: Database, snapshot_id: str, check: Callable[[], None]) -> None:
    pace = Pace()
    is_left = True
    while is_left:
        check()
        with database.write() as session:
            pace.began()
            is_left = snapshots.remove_some(session, snapshot_id, pace.size)
        pace.ended()
