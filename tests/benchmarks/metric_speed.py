"""How fast metric lines reach the store, beside a bare insert by the database's own driver.

Both are measured in turn in one run on the same kind of file, so that a busy machine slows both.
The relay's path is measured from the trainer's file to the commit, on both databases.
"""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest

from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Method
from backend.store.db import Database
from backend.store.metrics import points
from backend.store.runs import runs, supervision
from backend.store.runs.supervision import Claim
from tests.backend.runs.conftest import Seed, plant
from worker.run_directory.layout import RunDirectory
from worker.run_directory.relay import Relay

pytestmark = pytest.mark.benchmark

ROUNDS = 5
BATCHES = 20
LINES_PER_BATCH = 100
NAMES = [f"bench/value_{n}" for n in range(10)]
VALUES = BATCHES * LINES_PER_BATCH * len(NAMES)
ENOUGH_THROUGH_THE_RELAY = 50_000  # points a second, by the clock


def lines(batch: int) -> list[MetricLine]:
    first = batch * LINES_PER_BATCH
    return [
        MetricLine(type="metric", step=step, time=float(step), tokens=step,
                   values=dict.fromkeys(NAMES, step / 7))
        for step in range(first, first + LINES_PER_BATCH)
    ]  # fmt: skip


def add_run(database: Database, seed: Seed) -> str:
    new = runs.NewRun(
        project_id=seed.project,
        user_id=seed.user,
        name="benchmark",
        method=Method.SFT,
        config=seed.sft(),
        schema_version=1,
    )
    with database.write() as session:
        return runs.create(session, new, at=datetime.now(UTC)).id


def seconds_of_ours(database: Database, run_id: str) -> float:
    began = time.perf_counter()
    for batch in range(BATCHES):
        with database.write() as session:
            points.append(session, run_id, 1, lines(batch), at=datetime.now(UTC))
    return time.perf_counter() - began


def seconds_of_the_driver(path: Path) -> float:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            "CREATE TABLE p (run TEXT, name TEXT, step INT, value REAL, time REAL, tokens INT,"
            " PRIMARY KEY (run, name, step)) WITHOUT ROWID"
        )
        began = time.perf_counter()
        for batch in range(BATCHES):
            rows = [
                ("run", name, line.step, value, line.time, line.tokens)
                for line in lines(batch)
                for name, value in line.values.items()
            ]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO p VALUES (?, ?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
        return time.perf_counter() - began


def test_metric_values_per_second(sqlite_url: str, tmp_path: Path) -> None:
    database = Database(sqlite_url)
    seed = plant(database)
    ours, driver = [], []
    for _ in range(ROUNDS):
        ours.append(seconds_of_ours(database, add_run(database, seed)))
        driver.append(seconds_of_the_driver(tmp_path / "driver.sqlite3"))
    database.close()

    rate, bare = VALUES / median(ours), VALUES / median(driver)
    print(f"\nmetric values a second: {rate:,.0f} through the store, {bare:,.0f} by sqlite3 alone")
    assert rate > 1000


def test_points_per_second_through_the_relay(store_url: str, tmp_path: Path) -> None:
    database = Database(store_url)
    seed = plant(database)
    seconds, processor = [], []
    for number in range(ROUNDS):
        run_id = add_run(database, seed)
        with database.write() as session:
            assert supervision.claim(session, run_id, "worker_bench", at=datetime.now(UTC))
        directory = RunDirectory(tmp_path / str(number), run_id)
        directory.begin_attempt(1, None, 0)
        said = (line.model_dump_json() for batch in range(BATCHES) for line in lines(batch))
        directory.events.write_text("".join(line + "\n" for line in said))
        relay = Relay(database, Claim(run_id, "worker_bench", 1), directory)
        began, used = time.perf_counter(), time.process_time()
        while relay.carry():
            pass
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    database.close()

    rate, by_processor = VALUES / median(seconds), VALUES / median(processor)
    print(f"\npoints a second through the relay: {rate:,.0f}; {by_processor:,.0f} by processor")
    assert rate >= ENOUGH_THROUGH_THE_RELAY
