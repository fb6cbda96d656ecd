"""Crashes: of the trainer, of the worker, of the guard; no orphan stays and no run is lost."""

import os
import signal
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, update

from backend.store.runs import runs, supervision
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import Run
from backend.store.tables.workers import Worker
from tests import processes
from tests.chaos import witness
from tests.worker.floor import Floor
from worker.process.processes import namespace
from worker.run_directory.layout import RunDirectory
from worker.worker_process import WorkerProcess

pytestmark = pytest.mark.slow


def test_killing_the_worker_ends_its_trainer_and_the_run_goes_on_under_another(
    floor: Floor,
) -> None:
    run_id = floor.new_run()
    floor.behave(run_id, steps=4, hang=True, deaf=True, children=4, checkpoint_every=2)

    with floor.worker() as worker:
        floor.wake(run_id)
        # A step is told before its checkpoint is written.
        processes.wait_until(
            lambda: floor.run(run_id).checkpoint_step == 4, "step 4 has its checkpoint"
        )
        worker.kill()
        worker.wait()
    processes.wait_until(lambda: floor.pids_of(run_id) == [], "the group is gone")
    assert floor.run(run_id).state == "running"

    floor.behave(run_id, steps=6)
    # A dead worker of the same machine is known at once; nobody waits for staleness.
    with floor.worker(PODIUM_STALE_S="600"):
        run = floor.wait_for(run_id, "succeeded")

    assert floor.states(run_id) == [
        "queued",
        "running",
        "crashed",
        "queued",
        "running",
        "succeeded",
    ]
    assert (run.attempt, run.error) == (2, None)
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert sorted(point.step for point in points) == [1, 2, 3, 4, 5, 6]
    assert [event.data["step"] for event in floor.events(run_id, "start")] == [0, 4]


def test_a_killed_trainer_goes_on_from_its_checkpoint_and_what_lay_beyond_is_taken_back(
    floor: Floor,
) -> None:
    run_id = floor.new_run()

    with floor.worker("--steps", "6", "--checkpoint-every", "2", "--die-at", "5"):
        floor.wake(run_id)
        run = floor.wait_for(run_id, "succeeded")

    assert floor.states(run_id)[:4] == ["queued", "running", "crashed", "queued"]
    assert (run.attempt, run.crashes) == (2, 0)
    assert [event.data["step"] for event in floor.events(run_id, "rewind")] == [4]
    steps = floor.told_steps(run_id)
    assert steps == [1, 2, 3, 4, 5, 5, 6]
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    attempts = {point.step: point.attempt for point in points}
    assert attempts == {1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2}
    crash = floor.events(run_id, "state")[2].data["error"]
    assert "SIGKILL" in crash["message"]
    assert "memory" in crash["advice"]
    assert "Podium retries the run automatically from step 4." in crash["advice"]


def test_a_run_that_crashes_three_times_without_a_checkpoint_stays_crashed(
    sqlite_floor: Floor,
) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker("--die-at", "2", "--die-attempts", "9"):
        sqlite_floor.wake(run_id)
        processes.wait_until(lambda: sqlite_floor.run(run_id).crashes == 3, "three crashes")
        later = sqlite_floor.new_run(behaviour={"steps": 1, "die_at": 0})
        sqlite_floor.wait_for(later, "succeeded")

    run = sqlite_floor.run(run_id)
    assert (run.state, run.attempt) == ("crashed", 3)
    assert run.error is not None
    assert "crashed 3 times without a new checkpoint" in run.error["advice"]
    assert "Fix the cause, then retry the run." in run.error["advice"]


def test_killing_the_guard_ends_the_trainer_and_counts_as_a_crash(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()
    sqlite_floor.behave(run_id, steps=3, hang=True, deaf=True, children=2)

    with sqlite_floor.worker(PODIUM_CRASH_BACK_OFF_S="[600]"):
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for_step(run_id, 3)
        os.kill(os.getsid(sqlite_floor.trainer_pid(run_id)), signal.SIGKILL)
        sqlite_floor.wait_for(run_id, "crashed")
        # One of the children has left the session, and its parent is gone.
        assert sqlite_floor.pids_of(run_id) == []


def kill_worker_and_guard(floor: Floor, run_id: str, worker: "subprocess.Popen[bytes]") -> None:
    """Nobody is left who could end the trainer."""
    worker.send_signal(signal.SIGSTOP)
    os.kill(os.getsid(floor.trainer_pid(run_id)), signal.SIGKILL)
    worker.kill()
    worker.wait()
    assert floor.pids_of(run_id) != []


def test_the_next_owner_ends_what_a_dead_worker_and_its_dead_guard_have_left(
    sqlite_floor: Floor,
) -> None:
    floor, run_id = sqlite_floor, sqlite_floor.new_run()
    floor.behave(run_id, steps=3, hang=True, deaf=True, children=4)

    with floor.worker() as worker:
        floor.wake(run_id)
        floor.wait_for_step(run_id, 3)
        left = floor.pids_of(run_id)
        kill_worker_and_guard(floor, run_id, worker)

    floor.behave(run_id, steps=4, hang=True)
    with floor.worker(PODIUM_STALE_S="600"):
        floor.wait_for_step(run_id, 4)
        assert [pid for pid in left if processes.is_alive(pid)] == []
        assert floor.run(run_id).attempt == 2


def test_a_run_given_back_waits_until_the_guard_of_its_dead_owner_lets_go(
    sqlite_floor: Floor,
) -> None:
    floor, run_id = sqlite_floor, sqlite_floor.new_run()
    dead = WorkerProcess(floor.settings)
    dead.register()
    dead.database.close()
    with floor.database.write() as session:
        gone = update(Worker).where(Worker.id == dead.id)
        session.execute(gone.values(process=f"{namespace()}/1"))
        supervision.claim(session, run_id, dead.id, at=datetime.now(UTC))
    # Its guard is in another container: it cannot be seen, and it has the directory.
    lock_fd = RunDirectory(floor.settings.runs_dir, run_id).try_lock()
    assert lock_fd is not None

    with floor.worker(PODIUM_STALE_S="600", PODIUM_STOP_GRACE_S="0.5"):
        processes.wait_until(lambda: floor.run(run_id).attempt >= 3, "it was tried twice")
        assert floor.events(run_id, "start") == []
        os.close(lock_fd)
        floor.wait_for(run_id, "succeeded")

    assert floor.states(run_id)[:6] == [
        "queued", "running", "crashed", "queued", "running", "queued"
    ]  # fmt: skip
    assert len(floor.events(run_id, "start")) == 1


def test_the_trainer_of_a_guard_that_sleeps_is_gone_before_the_next_one_starts(
    sqlite_floor: Floor, tmp_path: Path
) -> None:
    floor, run_id = sqlite_floor, sqlite_floor.new_run()
    trainer = witness.command(tmp_path, "worker.process.fake_trainer")
    floor.behave(run_id, steps=3, hang=True)

    with floor.worker(PODIUM_TRAINER_COMMAND=trainer) as worker:
        floor.wake(run_id)
        floor.wait_for_step(run_id, 3)
        os.kill(os.getsid(floor.trainer_pid(run_id)), signal.SIGSTOP)
        worker.kill()
        worker.wait()
    assert len(floor.pids_of(run_id)) == 2, "the guard has not noticed"

    floor.behave(run_id, steps=3, hang=False)
    with floor.worker(PODIUM_TRAINER_COMMAND=trainer, PODIUM_STALE_S="600"):
        floor.wait_for(run_id, "succeeded")

    assert witness.words_of(tmp_path, run_id) == ["alone", "alone"]


def test_the_sweeper_ends_what_a_run_that_needs_no_owner_has_left(sqlite_floor: Floor) -> None:
    floor, run_id = sqlite_floor, sqlite_floor.new_run()
    floor.behave(run_id, steps=3, hang=True, deaf=True, children=4)

    with floor.worker(PODIUM_STOP_GRACE_S="600") as worker:
        floor.wake(run_id)
        floor.wait_for_step(run_id, 3)
        floor.ask(runs.cancel, run_id)
        kill_worker_and_guard(floor, run_id, worker)

    at_work = floor.new_run()
    floor.behave(at_work, steps=3, hang=True, children=2)
    with floor.worker():
        floor.wake(at_work)
        floor.wait_for_step(at_work, 3)
        floor.wait_for(run_id, "cancelled")
        processes.wait_until(lambda: floor.pids_of(run_id) == [], "nothing of it is left")
        # A process that the worker itself has begun beside it may still be ending.
        processes.wait_until(lambda: len(floor.pids_of(at_work)) == 4, "what is at work stays")
        assert floor.run(at_work).attempt == 1, "what is at work stays"


def test_a_run_that_was_given_away_writes_nothing_more_and_its_trainer_dies(floor: Floor) -> None:
    run_id = floor.new_run()

    with floor.worker("--steps", "1000", "--step-s", "0.02", PODIUM_SWEEP_S="600"):
        floor.wake(run_id)
        floor.wait_for_step(run_id, 2)
        with floor.database.write() as session:
            given = update(Run).where(Run.id == run_id).values(owner="worker_other", attempt=7)
            session.execute(given)
            seq = session.scalar(select(Run.seq).where(Run.id == run_id))
        processes.wait_until(lambda: floor.pids_of(run_id) == [], "the trainer is gone")

        after = floor.run(run_id)

    assert (after.state, after.owner, after.attempt, after.seq) == (
        "running", "worker_other", 7, seq
    )  # fmt: skip


def test_a_worker_on_another_machine_takes_back_what_shows_no_life(floor: Floor) -> None:
    run_id = floor.new_run()
    stopping = floor.new_run()
    with floor.database.write() as session:
        gone = {"owner": "worker_gone", "attempt": 1, "state": "running"}
        session.execute(update(Run).where(Run.id == run_id).values(**gone))
        gone |= {"state": "stopping", "stop_reason": "cancel"}
        session.execute(update(Run).where(Run.id == stopping).values(**gone))

    with floor.worker(PODIUM_STALE_S="3"):
        floor.wait_for(stopping, "cancelled")
        run = floor.wait_for(run_id, "succeeded")

    assert floor.states(run_id) == ["queued", "crashed", "queued", "running", "succeeded"]
    assert run.attempt == 2
