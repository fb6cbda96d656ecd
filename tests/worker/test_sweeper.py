"""What a sweeper counts as stale or dead."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.store.metrics import verdicts
from backend.store.runs import runs, supervision
from backend.store.tables.runs import Run
from backend.store.tables.workers import Worker
from backend.store.workers import workers
from tests import processes
from tests.worker.floor import Floor
from worker.presence import Presence
from worker.process.devices import Devices
from worker.process.gpus import Gpu
from worker.process.processes import identity
from worker.sweeper import Sightings, Sweeper, is_dead
from worker.worker_process import WorkerProcess


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_age_counts_only_while_the_same_thing_is_seen_at_every_look() -> None:
    clock = Clock()
    sightings = Sightings(clock, longest_gap_s=20)

    for now, seen in ((0, "a"), (10, "a"), (20, "ab"), (30, "b")):
        clock.now = now
        sightings.look(seen)
    assert sightings.age_s("b") == 10
    clock.now = 40
    sightings.look("ab")
    assert sightings.age_s("a") == 0
    assert sightings.age_s("b") == 20


def test_a_sweeper_that_was_itself_stopped_has_watched_nobody() -> None:
    clock = Clock()
    sightings = Sightings(clock, longest_gap_s=20)
    sightings.look("a")

    clock.now = 1000.0
    sightings.look("a")
    assert sightings.age_s("a") == 20
    sightings.forget()
    clock.now = 1010.0
    sightings.look("a")
    assert sightings.age_s("a") == 0


def swept(floor: Floor, clock: Clock, seconds: float, *, beating: str | None = None) -> None:
    settings = floor.settings.model_copy(update={"sweep_s": 15.0, "stale_s": 45.0})
    this_worker = WorkerProcess(settings)
    this_worker.register()
    sweeper = Sweeper(this_worker, clock)
    until = clock.now + seconds
    while clock.now <= until:
        if beating is not None:
            with floor.database.write() as session:
                session.execute(update(Run).where(Run.id == beating).values(beat=Run.beat + 1))
        sweeper.turn()
        clock.now += 15
    this_worker.close()


def live_run(floor: Floor, owner: str) -> str:
    run_id = floor.new_run()
    with floor.database.write() as session:
        supervision.claim(session, run_id, owner, at=datetime.now(UTC))
    return run_id


def test_a_run_is_stale_after_45_seconds_without_a_beat_and_not_before(floor: Floor) -> None:
    run_id, beating = live_run(floor, "worker_far"), live_run(floor, "worker_far")
    clock = Clock()

    swept(floor, clock, 30, beating=beating)
    assert floor.run(run_id).state == "running"
    swept(floor, clock, 45, beating=beating)

    assert floor.run(run_id).state == "crashed"
    assert floor.run(beating).state == "running"
    error = floor.run(run_id).error
    assert error is not None
    assert error["cause"] == "worker_lost"


def test_a_crashed_run_waits_longer_each_time_and_after_three_for_ever(floor: Floor) -> None:
    run_id = floor.new_run()
    waited = {}

    for crashes in (1, 2, 3):
        with floor.database.write() as session:
            claimed = supervision.claim(session, run_id, "worker_x", at=datetime.now(UTC))
            assert claimed is not None
            error = {"cause": "c", "message": "m", "advice": "a"}
            supervision.crash(session, claimed, error, at=datetime.now(UTC))
        clock = Clock()
        settings = floor.settings.model_copy(update={"sweep_s": 5.0})
        this_worker = WorkerProcess(settings)
        this_worker.register()
        sweeper = Sweeper(this_worker, clock)
        while floor.run(run_id).state == "crashed" and clock.now < 1000:
            sweeper.turn()
            clock.now += 5
        this_worker.close()
        waited[crashes] = clock.now - 5

    assert waited == {1: 10, 2: 60, 3: 995}


def test_a_crashed_run_that_is_archived_is_tried_again_once_it_is_listed(floor: Floor) -> None:
    run_id = live_run(floor, "worker_x")
    with floor.database.write() as session:
        claimed = supervision.hold(session, supervision.Claim(run_id, "worker_x", 1))
        error = {"cause": "c", "message": "m", "advice": "a"}
        supervision.crash(session, claimed, error, at=datetime.now(UTC))
        [seen] = supervision.crashed(session)
        runs.archive(session, run_id, at=datetime.now(UTC))
        assert not supervision.queue_again(session, seen, at=datetime.now(UTC))

    swept(floor, Clock(), 600)
    assert floor.run(run_id).state == "crashed"
    with floor.database.write() as session:
        runs.restore(session, run_id)
    swept(floor, Clock(), 600)

    assert floor.run(run_id).state == "queued"


def test_the_runs_of_a_dead_worker_of_this_machine_are_queued_at_once(floor: Floor) -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    this_worker = WorkerProcess(floor.settings)
    this_worker.register()
    this_worker.database.close()
    process = identity(child.pid)
    with floor.database.write() as session:
        # As if this child were the worker that has registered.
        session.execute(
            update(Worker).where(Worker.id == this_worker.id).values(pid=child.pid, process=process)
        )
    run_id = live_run(floor, this_worker.id)
    stopping = live_run(floor, this_worker.id)
    with floor.database.write() as session:
        asked = update(Run).where(Run.id == stopping)
        session.execute(asked.values(state="stopping", stop_reason="pause"))

    swept(floor, Clock(), 0)
    assert floor.run(run_id).state == "running", "its worker is alive"
    child.communicate(b"\n")
    swept(floor, Clock(), 0)

    assert (floor.run(run_id).state, floor.run(run_id).crashes) == ("queued", 1)
    assert floor.run(stopping).state == "paused"
    (row,) = floor.rows(select(Worker).where(Worker.id == this_worker.id))
    assert row.stopped_at is not None


def test_a_silent_worker_of_another_machine_leaves_the_list_and_a_beat_brings_it_back(
    floor: Floor,
) -> None:
    far = WorkerProcess(floor.settings)
    far.host = "far"
    far.register()
    far.database.close()

    swept(floor, Clock(), 30)
    assert floor.rows(select(Worker.stopped_at).where(Worker.id == far.id)) == [None]
    swept(floor, Clock(), 60)
    assert floor.rows(select(Worker.stopped_at).where(Worker.id == far.id)) != [None]
    with floor.database.write() as session:
        workers.report(session, far.id, far.report(), at=datetime.now(UTC))

    assert floor.rows(select(Worker.stopped_at).where(Worker.id == far.id)) == [None]


@pytest.mark.parametrize(
    ("slots", "at_work", "queued", "n_messages"),
    [(3, 0, 5, 3), (3, 2, 5, 1), (3, 0, 2, 2), (1, 1, 5, 0)],
)
def test_a_sweep_wakes_for_as_many_queued_runs_as_there_are_free_slots(
    sqlite_floor: Floor, slots: int, at_work: int, queued: int, n_messages: int
) -> None:
    floor = sqlite_floor
    this_worker = WorkerProcess(
        floor.settings.model_copy(update={"slots": slots, "min_free_gb": 0})
    )
    this_worker.register()
    for _ in range(at_work):
        floor.new_run()
        assert this_worker.claim_next() is not None
    run_ids = [floor.new_run() for _ in range(queued)]

    Sweeper(this_worker, Clock()).turn()
    this_worker.close()

    said = "".join(path.read_text() for path in (floor.data_dir / "broker" / "queue").glob("*"))
    # Each message tells of its run in its headers, too: the best ones, and no other.
    assert [run_id for run_id in run_ids if run_id in said] == run_ids[:n_messages]
    assert len(list((floor.data_dir / "broker" / "queue").glob("*"))) == n_messages


class FaultyDriver:
    """A GPU whose driver fails in ways of its own, once it is told to."""

    def __init__(self) -> None:
        self.questions_failed = 0
        self.is_broken = False

    def used_bytes(self, _: Gpu) -> int:
        if self.is_broken:
            self.questions_failed += 1
            raise RuntimeError("the driver's own error")
        return 0


def test_a_driver_that_fails_in_its_own_way_ends_neither_reports_nor_sweeps(
    sqlite_floor: Floor,
) -> None:
    floor, driver = sqlite_floor, FaultyDriver()
    this_worker = WorkerProcess(floor.settings.model_copy(update={"beat_s": 0.1}))
    gpu = Gpu(id="GPU-0", name="H", memory_bytes=1)
    this_worker.devices = Devices(1, [gpu], used_bytes=driver.used_bytes)
    this_worker.register()
    driver.is_broken = True

    presence = Presence(this_worker)
    presence.start()
    try:
        processes.wait_until(lambda: beats(floor, this_worker) >= 3, "the worker reports")
        assert driver.questions_failed >= 3
    finally:
        presence.stop()
        this_worker.close()


class ForgetfulWorker(WorkerProcess):
    """Whose first reports fail for a reason that nobody has thought of."""

    failures_left = 2

    def report(self) -> dict[str, Any]:
        if self.id and self.failures_left:
            self.failures_left -= 1
            raise RuntimeError("nobody has thought of this")
        return super().report()


def test_a_report_that_fails_for_an_unknown_reason_is_followed_by_another(
    sqlite_floor: Floor,
) -> None:
    this_worker = ForgetfulWorker(sqlite_floor.settings.model_copy(update={"beat_s": 0.1}))
    this_worker.register()
    presence = Presence(this_worker)
    presence.start()
    try:
        processes.wait_until(
            lambda: beats(sqlite_floor, this_worker) > 0, "the worker reports again"
        )
    finally:
        presence.stop()
        this_worker.close()
    assert this_worker.failures_left == 0


class DeafWorker(WorkerProcess):
    """A worker that fails to wake others for a reason that nobody has thought of, every time."""

    def wake_if_there_is_room(self) -> None:
        raise RuntimeError("nobody has thought of this")


def test_a_step_of_a_sweep_that_always_fails_keeps_no_dead_run_alive(floor: Floor) -> None:
    clock = Clock()
    settings = floor.settings.model_copy(update={"sweep_s": 15.0, "stale_s": 45.0})
    this_worker = DeafWorker(settings)
    this_worker.register()
    run_id = live_run(floor, "worker_far")
    sweeper = Sweeper(this_worker, clock)

    for now in (0, 15, 30, 45):
        clock.now = float(now)
        sweeper.turn()
    this_worker.close()

    assert floor.run(run_id).state == "crashed"


def test_a_run_that_cannot_be_judged_keeps_no_other_from_its_verdict(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ids = [live_run(floor, "worker_far") for _ in range(3)]
    with floor.database.write() as session:
        session.execute(update(Run).values(state="succeeded"))
    tried: list[str] = []
    keep = verdicts.keep

    def _keep(session: Session, run_id: str) -> None:
        tried.append(run_id)
        if run_id != run_ids[2]:
            raise ValueError("nobody has thought of this")
        keep(session, run_id)

    monkeypatch.setattr(verdicts, "keep", _keep)
    monkeypatch.setattr("worker.sweeper._RUNS", 2)
    this_worker = WorkerProcess(floor.settings)
    this_worker.register()
    sweeper = Sweeper(this_worker, Clock())
    for _ in range(4):
        sweeper.turn()
    this_worker.close()

    assert [floor.run(run_id).verdict is None for run_id in run_ids] == [True, True, False]
    assert tried == run_ids, "each once"


def beats(floor: Floor, this_worker: WorkerProcess) -> int:
    return int(floor.rows(select(Worker.beat).where(Worker.id == this_worker.id))[0])


def test_nobody_judges_a_process_of_another_boot_or_container() -> None:
    mine = identity(os.getpid())
    assert mine is not None
    boot, namespace, started = mine.split("/")

    assert not is_dead(os.getpid(), mine)
    assert is_dead(os.getpid(), f"{boot}/{namespace}/1")
    assert is_dead(2**22 + 1, mine)
    assert not is_dead(2**22 + 1, f"another-boot/{namespace}/{started}")
    assert not is_dead(2**22 + 1, f"{boot}/1/{started}")


@pytest.mark.slow
def test_a_supervisor_that_beats_in_time_keeps_its_run(floor: Floor) -> None:
    run_id = floor.new_run()

    with floor.worker("--hang", PODIUM_STALE_S="3"):
        floor.wake(run_id)
        # Of a tenth of a second each: more than it takes to be stale.
        processes.wait_until(lambda: floor.run(run_id).beat >= 40, "forty beats")
        floor.ask(runs.cancel, run_id)
        floor.wait_for(run_id, "cancelled")

    assert floor.run(run_id).attempt == 1
