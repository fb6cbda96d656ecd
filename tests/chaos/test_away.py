"""A worker that is cut off or asleep for minutes: its trainer stands still, and who owns goes on.

One worker has a network of its own. The other one, in a data directory of its own, stands for
another machine.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import select, text

from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import LogLine
from tests import processes, servers
from tests.chaos.mortal import Mortal
from tests.chaos.queue_of_runs import DEFAULTS
from tests.chaos.site import new_database
from tests.chaos.wire import HOST, Wire, wire
from tests.worker.floor import Floor

pytestmark = pytest.mark.chaos

CUT_S = 180.0
ASLEEP_S = 120.0
# Of the guard: two thirds of PODIUM_STALE_S.
PAUSE_AFTER_S = 30.0
# A beat that hangs for longer would cost a run that is still owned.
SILENCE_S = 40.0
# From the end of a disturbance until everybody has noticed.
NOTICED_S = 90.0
STEPS = 400


class Net(NamedTuple):
    """Something to run, a wire, and the database's URL at the other end of it."""

    floor: Floor
    wire: Wire
    far_url: str


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Net]:
    """PostgreSQL at this end of a wire."""
    cluster = Path(tempfile.mkdtemp(prefix="podium-pg-", dir="/tmp"))
    port = servers.free_port()
    command, account = servers.prepare_postgres(cluster, keeps_commits=True)
    with (cluster / "data" / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {HOST}/30 trust\n")
    postgres = Mortal(
        "postgres",
        [*command, "-c", f"listen_addresses={HOST}", "-p", str(port)],
        tmp_path / "postgres.log",
        is_ready=lambda _: servers.postgres_answers(cluster, port),
        user=account,
        cwd=cluster,
        end_signal=signal.SIGINT,
    )
    with wire() as laid:
        postgres.start()
        try:
            postgres.wait_until_ready()
            url = new_database(f"{servers.postgres_url(cluster)}&port={port}")
            floor = Floor(tmp_path / "here", url)
            yield Net(floor, laid, f"postgresql+psycopg://podium@{HOST}:{port}/podium")
            floor.database.close()
        finally:
            postgres.ask_to_end()
            postgres.wait_for_end()
            shutil.rmtree(cluster, ignore_errors=True)


@contextmanager
def far_worker(net: Net, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The worker at the other end of the wire."""
    given = {"PODIUM_DATABASE_URL": net.far_url, "PODIUM_ARTIFACT_URL": str(tmp_path / "shared")}
    flags = ("--steps", str(STEPS), "--step-s", "0.2", "--checkpoint-every", "20")
    with net.floor.worker(*flags, launcher=net.wire.launcher, **DEFAULTS | given) as worker:
        yield worker


def start(floor: Floor) -> tuple[str, int]:
    """A run at work and the pid of its trainer."""
    run_id = floor.new_run()
    floor.wake(run_id)
    floor.wait_for_step(run_id, 30)
    return run_id, floor.trainer_pid(run_id)


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def wait_for_standstill(pid: int) -> float:
    """Seconds until it stands still."""
    since = time.monotonic()
    what = "the trainer stands still"
    processes.wait_until(lambda: stands_still(pid), what, timeout_s=PAUSE_AFTER_S + 30)
    return time.monotonic() - since


def steps_of(floor: Floor, run_id: str) -> list[int]:
    points = select(MetricPoint.step).where(
        MetricPoint.run_id == run_id, MetricPoint.name == "loss"
    )
    return floor.rows(points.order_by(MetricPoint.step))


@pytest.mark.parametrize("statement", ["SELECT 1", "SELECT pg_sleep(4)"])
def test_a_statement_on_a_cut_wire_fails_before_a_run_is_lost(net: Net, statement: str) -> None:
    code = (
        "import sys\n"
        "from sqlalchemy import text\n"
        "from sqlalchemy.exc import OperationalError\n"
        "from backend.store.db import Database\n"
        "with Database(sys.argv[1]).engine.connect() as connection:\n"
        "    connection.execute(text('SELECT 1'))\n"
        "    print('connected', flush=True); input()\n"
        "    try:\n"
        "        connection.execute(text(sys.argv[2]))\n"
        "    except OperationalError:\n"
        "        print('failed', flush=True)\n"
    )
    command = [*net.wire.launcher, sys.executable, "-c", code, net.far_url, statement]
    asker = subprocess.Popen(
        command, cwd=processes.ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert asker.stdout is not None
        assert asker.stdout.readline() == "connected\n"
        if "sleep" in statement:
            # The server has the statement and never gets to answer it.
            threading.Timer(2, net.wire.cut).start()
        else:
            net.wire.cut()
        said, _ = asker.communicate("\n", timeout=SILENCE_S)
    finally:
        asker.kill()
        asker.communicate()
    assert said == "failed\n"


def test_the_server_lets_go_of_who_is_cut_off(net: Net) -> None:
    code = (
        "import sys\n"
        "from sqlalchemy import text\n"
        "from backend.store.db import Database\n"
        "with Database(sys.argv[1]).read() as session:\n"
        "    session.execute(text('SELECT 1'))\n"
        "    print('connected', flush=True); input()\n"
    )
    command = [*net.wire.launcher, sys.executable, "-c", code, net.far_url]
    reader = subprocess.Popen(
        command, cwd=processes.ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    sessions = text("SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL")
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "connected\n"
        assert net.floor.rows(sessions) == [1]
        net.wire.cut()
        what = "its session is gone"
        processes.wait_until(lambda: net.floor.rows(sessions) == [0], what, timeout_s=SILENCE_S)
    finally:
        reader.kill()
        reader.communicate()


def test_a_trainer_stands_still_while_its_worker_is_cut_off_and_goes_on_afterwards(
    net: Net, tmp_path: Path
) -> None:
    floor = net.floor
    with far_worker(net, tmp_path):
        run_id, trainer = start(floor)
        until = time.monotonic() + CUT_S
        net.wire.cut()
        # The last proof may be as old as a beat.
        assert PAUSE_AFTER_S - 10 < wait_for_standstill(trainer) < PAUSE_AFTER_S + 5
        told = (floor.settings.runs_dir / run_id / "events.jsonl").stat().st_size
        while time.monotonic() < until:
            assert stands_still(trainer)
            time.sleep(1)
        assert (floor.settings.runs_dir / run_id / "events.jsonl").stat().st_size == told

        net.wire.mend()
        what = "the trainer goes on"
        processes.wait_until(lambda: not stands_still(trainer), what, timeout_s=NOTICED_S)
        floor.wait_for(run_id, "succeeded", timeout_s=300)

    assert floor.states(run_id) == ["queued", "running", "succeeded"]
    assert floor.run(run_id).attempt == 1
    assert steps_of(floor, run_id) == list(range(1, STEPS + 1))


@pytest.mark.parametrize(("way", "seconds"), [("cut off", CUT_S), ("asleep", ASLEEP_S)])
def test_a_worker_that_comes_back_writes_nothing_on_a_run_that_was_given_away(
    net: Net, tmp_path: Path, way: str, seconds: float
) -> None:
    floor = net.floor
    with far_worker(net, tmp_path) as worker:
        run_id, trainer = start(floor)
        leave, come_back = ways(net, worker)[way]
        since = time.monotonic()
        leave()
        floor.move_to(tmp_path / "there")
        given = {"PODIUM_ARTIFACT_URL": str(tmp_path / "shared")}
        given |= {"PODIUM_MODEL_ROOTS": str(tmp_path / "here")}
        floor.behave(run_id, steps=STEPS, step_s=0.5)
        with floor.worker(**DEFAULTS | given):
            what = "another worker has it"
            processes.wait_until(lambda: floor.run(run_id).attempt == 2, what, timeout_s=150)
            assert stands_still(trainer)
            time.sleep(max(0.0, since + seconds - time.monotonic()))
            assert stands_still(trainer)
            what = "the next attempt has taken back what lay beyond its checkpoint"
            processes.wait_until(lambda: len(floor.events(run_id, "start")) == 2, what)
            before = written_by_first(floor, run_id)

            come_back()
            what = "the first trainer is gone"
            processes.wait_until(lambda: not processes.is_alive(trainer), what, timeout_s=NOTICED_S)
            floor.wait_for(run_id, "succeeded", timeout_s=STEPS)

    assert floor.states(run_id) == [
        "queued",
        "running",
        "crashed",
        "queued",
        "running",
        "succeeded",
    ]
    assert written_by_first(floor, run_id) == before
    assert [event.data["attempt"] for event in floor.events(run_id, "start")] == [1, 2]
    assert steps_of(floor, run_id) == list(range(1, STEPS + 1))


def ways(
    net: Net, worker: "subprocess.Popen[bytes]"
) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
    """How a worker can be away, and how it comes back."""
    return {
        "cut off": (net.wire.cut, net.wire.mend),
        "asleep": (
            lambda: os.kill(worker.pid, signal.SIGSTOP),
            lambda: os.kill(worker.pid, signal.SIGCONT),
        ),
    }


def written_by_first(floor: Floor, run_id: str) -> tuple[list[int], list[int]]:
    """Steps and log lines in the store that the first attempt has written."""
    points = select(MetricPoint.step).where(MetricPoint.run_id == run_id, MetricPoint.attempt == 1)
    lines = select(LogLine.number).where(LogLine.run_id == run_id, LogLine.attempt == 1)
    return (
        floor.rows(points.order_by(MetricPoint.step, MetricPoint.name)),
        floor.rows(lines.order_by(LogLine.number)),
    )
