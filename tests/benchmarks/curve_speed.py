"""How fast any part of a long curve is answered, and how small the answer is; on both databases.

`PODIUM_BENCH_POINTS=100000` is shorter. No answer is kept anywhere: each window is asked for once.
"""

import gc
import os
import random
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import psycopg
import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.orm import Session

from backend.api.metrics import packed
from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import curves, levels, points
from backend.store.metrics.curves import Axis, Window
from backend.store.runs import runs
from backend.store.tables.metrics import MetricCurve
from backend.store.tables.runs import Run
from tests.backend.runs.conftest import AT, plant
from tests.benchmarks.metric_speed import add_run

pytestmark = pytest.mark.benchmark

POINTS = int(os.environ.get("PODIUM_BENCH_POINTS", "1000000"))
RUNS, WINDOWS, BATCH = 10, 1000, 20_000
# Seconds and bytes: what 95 of 100 windows stay below.
P95_S, P95_BYTES = 0.1, 150_000
# Seconds: what the median append stays below, and what any other writer waits at most.
APPEND_S, WAIT_S = 0.05, 0.05
EPOCH_S = 1.7e9
COLUMNS = "run_id, name, step, value, time_s, tokens, attempt"


class Asked(NamedTuple):
    """One window: seconds by the clock and of this process's processor, and bytes."""

    seconds: float
    processor_s: float
    size: int


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, list[str]]]:
    """Ten runs with one metric, stored as before there were levels and then summed up."""
    from tests.conftest import migrate

    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('curves') / 'podium.sqlite3'}"
    else:
        server = request.getfixturevalue("postgres_server")
        execute_on_postgres = request.getfixturevalue("execute_on_postgres")
        execute_on_postgres("CREATE DATABASE podium_curves TEMPLATE template0")
        url = server.format(database="podium_curves")
    migrate(url)
    database = Database(url)
    seed = plant(database)
    run_ids = [add_run(database, seed) for _ in range(RUNS)]
    for number, run_id in enumerate(run_ids):
        fill(database, run_id, random.Random(number))
    sum_up(database)
    if not database.is_sqlite:
        with database.write() as session:
            session.execute(text("ANALYZE"))
    # As the API after its start: what is there is not looked through again by garbage collection.
    gc.collect()
    gc.freeze()
    yield database, run_ids
    gc.unfreeze()
    database.close()


def fill(database: Database, run_id: str, rng: random.Random) -> None:
    """A noisy curve that rises, on a clock and a count of tokens that rise unevenly."""
    time_s, tokens = EPOCH_S, 0
    with database.write() as session:
        session.execute(insert(MetricCurve), [{"run_id": run_id, "name": "loss"}])
        runs.locked(session, run_id).summary = {"loss": 1.0}
    for first in range(1, POINTS + 1, BATCH):
        rows = []
        for step in range(first, min(first + BATCH, POINTS + 1)):
            time_s += rng.random()
            tokens += rng.randrange(100, 4000)
            value = rng.gauss(0, 1) + step / POINTS
            rows.append((run_id, "loss", step, value, time_s, tokens, 1))
        with database.write() as session:
            store(session, rows)


def store(session: Session, rows: list[tuple[Any, ...]]) -> None:
    """By the drivers: there are ten million of them."""
    if session.get_bind().dialect.name == "sqlite":
        statement = f"INSERT INTO metric_points ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        session.connection().exec_driver_sql(statement, rows)
        return
    cursor = cast(psycopg.Cursor[Any], session.connection().connection.cursor())
    with cursor.copy(f"COPY metric_points ({COLUMNS}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def sum_up(database: Database) -> None:
    """What the worker's sweeper does after an upgrade."""
    with database.read() as session:
        found = levels.behind(session, 0, limit=RUNS)
    began, holds = time.perf_counter(), []
    for curve in found:
        while levels.is_behind(curve):
            begun = time.perf_counter()
            with database.write() as session:
                curve = levels.catch_up(session, curve)
            holds.append(time.perf_counter() - begun)
    seconds = time.perf_counter() - began
    rate = RUNS * POINTS / seconds
    print(f"\nsummed up {rate:,.0f} points/s, {p95(holds) * 1000:.0f} ms a transaction (p95)")


def p95(seconds: list[float]) -> float:
    """What 95 of 100 stay below."""
    return sorted(seconds)[int(len(seconds) * 0.95)]


def window(rng: random.Random, number: int) -> Window:
    """On each axis in turn: from anywhere to anywhere, and every second time of any length."""
    ends: dict[Axis, tuple[float, float]] = {
        "step": (1, POINTS),
        "tokens": (0, POINTS * 2050),
        "time": (EPOCH_S, EPOCH_S + POINTS / 2),
        "relative": (0, POINTS / 2),
    }
    axis = list(ends)[number % len(ends)]
    first, last = ends[axis]
    low, high = sorted((rng.uniform(first, last), rng.uniform(first, last)))
    if number // len(ends) % 2:
        high = low + (last - first) * 10 ** rng.uniform(-5, 0)
    return Window(axis, low, high)


def test_any_window_of_ten_long_curves(filled: tuple[Database, list[str]]) -> None:
    database, run_ids = filled
    rng = random.Random(7)
    asked: defaultdict[str, list[Asked]] = defaultdict(list)
    for number in range(WINDOWS):
        wanted = window(rng, number)
        began, processor = time.perf_counter(), time.process_time()
        with database.read() as session:
            answer = packed(curves.read(session, run_ids, ["loss"], wanted), "gzip")
        done = (time.perf_counter() - began, time.process_time() - processor, len(answer.body))
        asked[wanted.x].append(Asked(*done))
        asked["all"].append(Asked(*done))

    for axis, ones in asked.items():
        seconds, processor = p95([one.seconds for one in ones]), p95([one[1] for one in ones])
        size = p95([float(one.size) for one in ones])
        print(
            f"\n{axis}: p95 {seconds * 1000:.0f} ms ({processor * 1000:.0f} ms of processor), "
            f"{size / 1000:.0f} kB"
        )
    assert p95([float(one.size) for one in asked["all"]]) < P95_BYTES
    assert p95([one.seconds for one in asked["all"]]) < P95_S


def thousand_more(number: int) -> list[MetricLine]:
    """The points after the newest, the first time, the second time, ..."""
    first = POINTS + 1 + 1000 * number
    return [
        MetricLine(step=step, time=EPOCH_S + step, tokens=step * 2050, values={"loss": 0.5})
        for step in range(first, first + 1000)
    ]


def append(database: Database, run_id: str, lines: list[MetricLine]) -> float:
    """Store these points; return for how many seconds."""
    began = time.perf_counter()
    with database.write() as session:
        points.append(session, run_id, 1, lines, at=AT)
    return time.perf_counter() - began


def write_a_row(database: Database, run_id: str) -> float:
    """Change one row; return how many seconds it took, waiting for the store included."""
    began = time.perf_counter()
    with database.write() as session:
        session.execute(update(Run).where(Run.id == run_id).values(priority=0))
    return time.perf_counter() - began


@contextmanager
def other_writer(database: Database, run_id: str) -> Iterator[list[float]]:
    """Beside what is done meanwhile, change one row again and again: seconds of each time."""
    write_a_row(database, run_id)  # compiles the statement
    waits: list[float] = []
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            waits.append(write_a_row(database, run_id))
            is_over.wait(0.001)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waits
    finally:
        is_over.set()
        thread.join()


def test_a_thousand_points_onto_a_long_curve(filled: tuple[Database, list[str]]) -> None:
    database, run_ids = filled
    writer, *others = run_ids
    # The first append compiles its statements.
    append(database, others[0], thousand_more(0))
    with other_writer(database, writer) as waits:
        holds = [append(database, run_id, thousand_more(1)) for run_id in others]

    hold, wait = statistics.median(holds), max(waits)
    print(f"\n1,000 points onto {POINTS:,}: {hold * 1000:.0f} ms")
    print(f"another writer waits at most {wait * 1000:.0f} ms ({len(waits)} writes of one row)")
    assert hold < APPEND_S
    assert wait < WAIT_S
