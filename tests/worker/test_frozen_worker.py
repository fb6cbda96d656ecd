"""A worker that is stopped in the middle of a transaction holds nobody else up."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from backend.store.db import Database
from backend.store.runs import supervision
from tests import processes
from tests.worker.floor import Floor
from worker.sweeper import Sweeper
from worker.worker_process import WorkerProcess

_SUPERVISOR = """
import os, signal, sys
from sqlalchemy import text
from backend.store.runs import supervision
from backend.store.db import Database
from backend.store.runs.supervision import Claim, GivenAway
from worker.outage import OUTAGES

database = Database(sys.argv[1])
claim = Claim(sys.argv[2], "worker_frozen", 1)
try:
    with database.write() as session:
        supervision.hold(session, claim)
        # As `longest_pause_s` sets it, but not for the moments in which statements are compiled.
        session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 2000"))
        print("holds", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        supervision.hold(session, claim).beat += 1
except OUTAGES:
    print("outage", flush=True)
try:
    with database.write() as session:
        supervision.hold(session, claim)
except GivenAway:
    print("given away", flush=True)
"""


@pytest.fixture
def postgres_floor(postgres_url: str, tmp_path: Path) -> Iterator[Floor]:
    """SQLite has no server that could end a transaction of somebody who stands still."""
    made = Floor(tmp_path / "data", postgres_url)
    yield made
    made.database.close()


@contextmanager
def supervisor_of(floor: Floor, run_id: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the run's row; killed in the end."""
    command = [sys.executable, "-c", _SUPERVISOR, floor.settings.sqlalchemy_url, run_id]
    process = subprocess.Popen(command, cwd=processes.ROOT, text=True, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def live_run(floor: Floor) -> str:
    run_id = floor.new_run()
    with floor.database.write() as session:
        assert supervision.claim(session, run_id, "worker_frozen", at=datetime.now(UTC))
    return run_id


def test_a_worker_that_is_stopped_while_it_writes_gives_its_runs_away(
    postgres_floor: Floor,
) -> None:
    floor = postgres_floor
    frozen, other = live_run(floor), live_run(floor)
    given = {"stale_s": 1.0, "sweep_s": 0.2, "crash_back_off_s": (600.0,)}
    this_worker = WorkerProcess(floor.settings.model_copy(update=given))
    this_worker.register()
    sweeper = Sweeper(this_worker)

    with supervisor_of(floor, frozen) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds\n"
        sweeper.start()
        try:
            for run_id in (other, frozen):
                what = f"{run_id} is taken back"
                processes.wait_until(lambda: floor.run(run_id).state == "crashed", what)  # noqa: B023
            os.kill(process.pid, signal.SIGCONT)
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
            sweeper.stop()
            this_worker.close()

    assert said == "outage\ngiven away\n"
    assert floor.run(frozen).beat == 0


def test_who_writes_may_pause_for_seconds_and_who_reads_for_as_long_as_it_takes(
    postgres_floor: Floor,
) -> None:
    this_worker = WorkerProcess(postgres_floor.settings)
    shown = text("SHOW idle_in_transaction_session_timeout")

    def limits(database: Database) -> tuple[str, str]:
        with database.write() as writing, database.read() as reading:
            return str(writing.scalar(shown)), str(reading.scalar(shown))

    assert limits(this_worker.database) == ("15s", "0")
    assert limits(postgres_floor.database) == ("1min", "0")
    with this_worker.database.read() as session:
        assert session.scalar(shown) == "0"
    this_worker.database.close()
