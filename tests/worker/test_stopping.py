"""Cancel, pause, drain and timeouts: what a run becomes, and that nothing of it stays alive."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from backend.store.runs import runs
from tests import processes
from tests.worker.floor import Floor
from worker.run_directory.layout import RunDirectory

pytestmark = pytest.mark.slow

HANGING = ("--steps", "3", "--hang")


def test_cancelling_a_queued_run_needs_no_worker_and_it_never_starts(sqlite_floor: Floor) -> None:
    cancelled, other = sqlite_floor.new_run(), sqlite_floor.new_run()
    sqlite_floor.ask(runs.cancel, cancelled)

    with sqlite_floor.worker():
        sqlite_floor.wake(cancelled)
        sqlite_floor.wait_for(other, "succeeded")

    assert sqlite_floor.states(cancelled) == ["queued", "cancelled"]
    assert sqlite_floor.run(cancelled).attempt == 0


def test_cancelling_a_running_run_lets_it_checkpoint_and_ends_it(floor: Floor) -> None:
    run_id = floor.new_run()

    with floor.worker(*HANGING):
        floor.wake(run_id)
        floor.wait_for_step(run_id, 3)
        floor.ask(runs.cancel, run_id)
        run = floor.wait_for(run_id, "cancelled")

    assert floor.states(run_id) == ["queued", "running", "stopping", "cancelled"]
    assert (run.exit_code, run.checkpoint_step, run.stop_reason) == (5, 3, "cancel")
    assert floor.pids_of(run_id) == []


def test_a_stop_or_a_drain_does_not_wait_until_a_large_model_is_read(sqlite_floor: Floor) -> None:
    # A terabyte of nothing: reading it takes a quarter of an hour, keeping it no space.
    weights = sqlite_floor.data_dir / "models" / "base" / "model.safetensors"
    os.truncate(weights, 2**40)
    cancelled, drained = sqlite_floor.new_run(), sqlite_floor.new_run()

    with sqlite_floor.worker() as worker:
        reading = f"/proc/{worker.pid}/fd"

        def is_reading() -> bool:
            with suppress(FileNotFoundError):
                return any(fd.samefile(weights) for fd in Path(reading).iterdir())
            return False  # a descriptor was closed under our eyes: look again

        sqlite_floor.wake(cancelled)
        processes.wait_until(is_reading, "the model is read", log=sqlite_floor.newest_log())
        assert sqlite_floor.run(cancelled).state == "running"
        sqlite_floor.ask(runs.cancel, cancelled)
        sqlite_floor.wait_for(cancelled, "cancelled")
        sqlite_floor.wait_for(drained, "running")
        processes.wait_until(is_reading, "it is read again", log=sqlite_floor.newest_log())

    assert sqlite_floor.states(cancelled) == ["queued", "running", "stopping", "cancelled"]
    assert sqlite_floor.states(drained) == ["queued", "running", "queued"]
    for run_id in (cancelled, drained):
        directory = RunDirectory(sqlite_floor.settings.runs_dir, run_id)
        assert not (directory.attempt(1) / "stderr.log").exists(), "no trainer was started"


def test_a_stop_that_comes_before_the_trainer_starts_none(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()
    directory = RunDirectory(sqlite_floor.settings.runs_dir, run_id)
    # An earlier trainer, of another container, has not let go of the directory yet.
    lock_fd = directory.try_lock()
    assert lock_fd is not None

    with sqlite_floor.worker(PODIUM_STOP_GRACE_S="600"):
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for(run_id, "running")
        sqlite_floor.ask(runs.cancel, run_id)
        sqlite_floor.wait_for(run_id, "cancelled")
        os.close(lock_fd)

    assert sqlite_floor.states(run_id) == ["queued", "running", "stopping", "cancelled"]
    assert not directory.attempt(1).exists()


def test_a_deaf_trainer_and_its_children_are_killed_after_the_grace(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker(*HANGING, "--deaf", "--children", "4", PODIUM_STOP_GRACE_S="0.5"):
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for_step(run_id, 3)
        # Trainer, guard, two children, and two that left the session with a parent that is gone.
        processes.wait_until(lambda: len(sqlite_floor.pids_of(run_id)) >= 6, "six processes")
        sqlite_floor.ask(runs.cancel, run_id)
        run = sqlite_floor.wait_for(run_id, "cancelled")
        assert sqlite_floor.pids_of(run_id) == []

    assert run.exit_code is None


def test_children_left_behind_by_a_trainer_that_is_done_are_ended(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker("--children", "4"):
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for(run_id, "succeeded")
        assert sqlite_floor.pids_of(run_id) == []


def test_a_paused_run_goes_on_where_it_stopped(floor: Floor) -> None:
    run_id = floor.new_run()
    floor.behave(run_id, steps=4, hang=True)

    with floor.worker():
        floor.wake(run_id)
        floor.wait_for_step(run_id, 4)
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")
        floor.behave(run_id, steps=6)
        floor.ask(runs.resume, run_id)
        run = floor.wait_for(run_id, "succeeded")

    assert (run.attempt, run.crashes) == (2, 0)
    starts = [event.data["step"] for event in floor.events(run_id, "start")]
    assert starts == [0, 4]
    steps = floor.told_steps(run_id)
    assert steps == [1, 2, 3, 4, 5, 6]


def test_a_run_that_takes_too_long_fails_with_advice(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run(resources={"timeout_s": 0.3})

    with sqlite_floor.worker(*HANGING):
        sqlite_floor.wake(run_id)
        run = sqlite_floor.wait_for(run_id, "failed")

    assert sqlite_floor.states(run_id) == ["queued", "running", "stopping", "failed"]
    assert run.error is not None
    assert run.error["cause"] == "timeout"
    assert run.stop_reason == "timeout"
    assert "timeout_s" in run.error["message"]


def test_a_worker_told_to_end_checkpoints_its_run_and_another_goes_on(floor: Floor) -> None:
    run_id = floor.new_run()
    floor.behave(run_id, steps=3, hang=True)

    with floor.worker() as worker:
        floor.wake(run_id)
        floor.wait_for_step(run_id, 3)
        assert processes.end(worker) == 0
    drained = floor.run(run_id)
    assert (drained.state, drained.checkpoint_step, drained.crashes) == ("queued", 3, 0)
    assert floor.states(run_id) == ["queued", "running", "stopping", "queued"]
    assert floor.pids_of(run_id) == []

    floor.behave(run_id, steps=5)
    with floor.worker():
        floor.wait_for(run_id, "succeeded")

    steps = floor.told_steps(run_id)
    assert steps == [1, 2, 3, 4, 5]


def test_a_worker_told_to_end_does_not_wait_longer_than_the_grace_for_a_deaf_trainer(
    sqlite_floor: Floor,
) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker(*HANGING, "--deaf", PODIUM_STOP_GRACE_S="0.5") as worker:
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for_step(run_id, 3)
        processes.end(worker, timeout_s=120)

    assert sqlite_floor.run(run_id).state == "queued"
    assert sqlite_floor.pids_of(run_id) == []


def test_a_stop_or_a_drain_does_not_wait_for_a_bucket_that_is_away(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    cancelled = floor.new_run()

    def results_wait(run_id: str) -> bool:
        _, run, since_it_ended = floor.newest_log().read_text().rpartition(run_id)
        return bool(run) and "s3://bucket cannot be used" in since_it_ended

    # The bucket's client has no such option: every call fails at once.
    broken = {"PODIUM_ARTIFACT_URL": "s3://bucket", "FSSPEC_S3": '{"config_kwargs": {"none": 1}}'}
    with floor.worker(**broken):
        processes.wait_until(lambda: results_wait(cancelled), "it waits", log=floor.newest_log())
        floor.ask(runs.cancel, cancelled)
        floor.wait_for(cancelled, "cancelled", "failed")
        drained = floor.new_run()
        floor.wake(drained)
        processes.wait_until(lambda: results_wait(drained), "it waits", log=floor.newest_log())

    assert floor.states(cancelled) == ["queued", "running", "stopping", "cancelled"]
    assert floor.states(drained) == ["queued", "running", "queued"]
    with floor.worker():
        floor.wait_for(drained, "succeeded")
