"""A frozen snapshot is what one transaction would have seen, whatever happens beside it."""

import json
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.errors import Conflict, InvalidInput
from backend.jobs import pace
from backend.jobs.freeze_snapshot import clear_abandoned, freeze_snapshot
from backend.jobs.work import JSON, Cancelled
from backend.schemas.data import SnapshotBody
from backend.schemas.vocabulary import JobState, SnapshotKind
from backend.settings import Settings
from backend.store import jobs
from backend.store.data import snapshots
from backend.store.db import Database
from backend.store.tables.data import Prompt, Snapshot, SnapshotLine
from tests.backend.jobs import plain_freezing, planted
from tests.backend.splits import heldout


class Task:
    """A job, done in this process."""

    job_id = "job_1"

    def __init__(self, database: Database, arguments: dict[str, JSON], data_dir: Path) -> None:
        self.database = database
        self.arguments = arguments
        self.settings = Settings(data_dir=data_dir)
        self.said: list[tuple[int, int | None]] = []
        self.on_check: Callable[[], None] = lambda: None

    def progress(self, done: int, total: int | None) -> None:
        """Remember it."""
        self.said.append((done, total))

    def check(self) -> None:
        """What the test wants to happen now and then."""
        self.on_check()


@pytest.fixture
def place(database: Database) -> tuple[Database, str, str]:
    """An empty project with a job; ids of project and user."""
    with database.write() as session:
        project, user = planted.project(session)
        jobs.add(
            session, job_id=Task.job_id, kind="freeze_snapshot", project_id=project, user_id=user,
            cache_key=None, owner="test", at=planted.AT,
        )  # fmt: skip
    return database, project, user


def task(place: tuple[Database, str, str], body: SnapshotBody, data_dir: Path) -> Task:
    database, project, _ = place
    arguments = {
        "project_id": project,
        "body": body.model_dump(mode="json"),
        "at": planted.AT.isoformat(),
    }
    return Task(database, arguments, data_dir)


def left(session: Session) -> tuple[int, int]:
    """How many snapshots and lines the store holds, seen or not."""
    counted = [select(func.count()).select_from(table) for table in (Snapshot, SnapshotLine)]
    rows, lines = (session.scalar(one) or 0 for one in counted)
    return rows, lines


@pytest.mark.parametrize("kind", list(SnapshotKind))
def test_it_is_what_freezing_at_once_gives(
    place: tuple[Database, str, str], tmp_path: Path, kind: SnapshotKind
) -> None:
    database, project, user = place
    draw = random.Random(5)
    with database.write() as session:
        ids = planted.prompts(session, project, 450)
        other = planted.project(session, "another")[1]
        planted.judged(session, project, [user, other], ids[:230], draw)
        planted.written(session, project, ids[100:330])
    # A single ranking left to train on may have no pair.
    most = 0.7 if kind is SnapshotKind.PREFERENCES else 0.9999
    filters: list[dict[str, Any]] = [{}, {"tags": ["third"]}, {"prompt_ids": ids[200:220]}]
    bodies = [
        SnapshotBody(name="s", kind=kind, heldout_fraction=fraction, seed=seed, filter=wanted)
        for fraction, seed in ((0.0, 0), (0.3, 1), (most, 2), (1e-6, 3))
        for wanted in filters
    ]
    for body in bodies:
        with database.read() as session:
            expected = plain_freezing.frozen(session, project, body)
        found = freeze_snapshot(task(place, body, tmp_path))
        with database.write() as session:
            snapshots.publish(session, **found)
        with database.read() as session:
            lines = list(snapshots.every_line(session, found["snapshot_id"]))
        assert (lines, found["sha256"], found["counts"]) == expected
        assert len(lines) >= 5


def test_what_is_written_meanwhile_is_in_it_whole_or_not_at_all(
    place: tuple[Database, str, str], tmp_path: Path
) -> None:
    """A writer changes the first and the last prompt and adds one, in each of its transactions."""
    database, project, _ = place
    with database.write() as session:
        ids = planted.prompts(session, project, 3000)
    is_over = threading.Event()
    written = threading.Semaphore(0)

    def write() -> None:
        n = 0
        while not is_over.is_set():
            n += 1
            with database.write() as session:
                session.execute(
                    update(Prompt)
                    .where(Prompt.id.in_([ids[0], ids[-1]]))
                    .values(reference=f"version {n}")
                )
                session.add(Prompt(**planted.prompt_rows(project, 3000 + n, 1)[0]))
            written.release()

    body = SnapshotBody(name="s", kind=SnapshotKind.PROMPTS, heldout_fraction=0.5, seed=1)
    one = task(place, body, tmp_path)
    # Between two looks of the reader something is written, always.
    one.on_check = lambda: None if written.acquire(timeout=60) else pytest.fail("no writer")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        written.acquire(timeout=60)
        found = freeze_snapshot(one)
    finally:
        is_over.set()
        writer.join()

    with database.write() as session:
        snapshots.publish(session, **found)
    with database.read() as session:
        every = [json.loads(x) for x in snapshots.every_line(session, found["snapshot_id"])]
    first, last = (r for r in every if r["prompt_id"] in (ids[0], ids[-1]))
    assert first["reference"] == last["reference"]
    version = int(first["reference"].removeprefix("version "))
    assert len(every) == 3000 + version
    assert {r["split"] for r in every} == {"train", "heldout"}


def test_nobody_sees_it_before_it_is_published(
    place: tuple[Database, str, str], tmp_path: Path
) -> None:
    database, project, _ = place
    with database.write() as session:
        planted.prompts(session, project, 30)
    body = SnapshotBody(name="s", kind=SnapshotKind.PROMPTS)

    found = freeze_snapshot(task(place, body, tmp_path))

    with database.read() as session:
        assert left(session) == (1, 30)
        assert snapshots.recorded_sha256(session, found["snapshot_id"]) is None
        assert snapshots.abandoned(session) == []


@pytest.mark.parametrize("checks", [0, 2, 7, None])
def test_cancelled_at_any_time_it_leaves_nothing(
    place: tuple[Database, str, str],
    tmp_path: Path,
    checks: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a fast disk batches grow, and there would be fewer than seven.
    monkeypatch.setattr(pace, "LARGEST", 100)
    database, project, _ = place
    with database.write() as session:
        planted.prompts(session, project, 1000)
    one = task(place, SnapshotBody(name="s", kind=SnapshotKind.PROMPTS), tmp_path)
    seen = 0

    def cancel() -> None:
        nonlocal seen
        seen += 1
        if checks is not None and seen > checks:
            raise Cancelled

    one.on_check = cancel
    if checks is not None:
        with pytest.raises(Cancelled):
            freeze_snapshot(one)
    else:
        freeze_snapshot(one)
        with database.write() as session:
            jobs.end(session, {Task.job_id}, JobState.CANCELLED, at=planted.AT)
        clear_abandoned(database, lambda: None)

    with database.read() as session:
        assert left(session) == (0, 0)
    assert list(tmp_path.glob("tmp*")) == []


def test_what_would_be_of_no_use_is_refused_before_anything_is_written(
    place: tuple[Database, str, str], tmp_path: Path
) -> None:
    database, _, _ = place
    one = task(place, SnapshotBody(name="s", kind=SnapshotKind.PROMPTS), tmp_path)

    with pytest.raises(InvalidInput, match="no prompts to freeze"):
        freeze_snapshot(one)

    with database.read() as session:
        assert left(session) == (0, 0)


def test_lines_that_come_after_the_removal_are_refused(
    place: tuple[Database, str, str], tmp_path: Path
) -> None:
    """As of a process that slept, and whose job was ended meanwhile."""
    database, project, _ = place
    with database.write() as session:
        planted.prompts(session, project, 1000)
    one = task(place, SnapshotBody(name="s", kind=SnapshotKind.PROMPTS), tmp_path)

    def remove() -> None:
        if one.said and one.said[-1][1] is not None:
            with database.write() as session:
                jobs.end(session, {Task.job_id}, JobState.FAILED, at=planted.AT)
            clear_abandoned(database, lambda: None)

    one.on_check = remove
    with pytest.raises(Conflict, match="removed before it was complete"):
        freeze_snapshot(one)

    with database.read() as session:
        assert left(session) == (0, 0)


@given(
    contents=st.sets(st.integers(0, 10_000).map(lambda n: f"{n:064x}"), max_size=12),
    fraction=st.one_of(st.just(0.0), st.floats(1e-9, 1 - 1e-9)),
    seed=st.integers(0, 5),
)
def test_prompts_seen_one_by_one_are_split_as_those_that_are_sorted(
    contents: set[str], fraction: float, seed: int
) -> None:
    sorted_ones = plain_freezing.heldout(contents, fraction=fraction, seed=seed)

    assert heldout(contents, fraction=fraction, seed=seed) == sorted_ones
