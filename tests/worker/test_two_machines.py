"""A run that goes on elsewhere: two data directories, one database, one artifact store."""

from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.runs import runs
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import Checkpoint
from tests.worker.floor import Floor

pytestmark = pytest.mark.slow


def test_a_paused_run_goes_on_from_the_shared_checkpoint_on_another_machine(
    floor: Floor, tmp_path: Path
) -> None:
    shared = {
        "PODIUM_ARTIFACT_URL": str(tmp_path / "shared"),
        "PODIUM_MODEL_ROOTS": str(floor.data_dir),
    }
    first = floor.data_dir
    run_id = floor.new_run()
    floor.behave(run_id, steps=4, hang=True, checkpoint_every=2)
    with floor.worker(**shared):
        floor.wait_for_step(run_id, 4)
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")
    rows = floor.rows(select(Checkpoint).where(Checkpoint.run_id == run_id))
    assert [(row.step, row.artifact is not None) for row in rows] == [(2, False), (4, True)]

    floor.move_to(tmp_path / "second")
    floor.ask(runs.resume, run_id)
    floor.behave(run_id, steps=6, checkpoint_every=2)
    with floor.worker(**shared):
        floor.wait_for(run_id, "succeeded")

    assert [event.data["step"] for event in floor.events(run_id, "start")] == [0, 4]
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert {point.step: point.attempt for point in points} == {
        1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2
    }  # fmt: skip
    assert not (first / "runs" / run_id / "attempts" / "2").exists()
    kept = {path.name for path in (tmp_path / "shared" / "runs" / run_id).iterdir()}
    assert kept == {"checkpoint-2-6", "model-2"}


def test_a_damaged_shared_checkpoint_fails_the_run_and_is_gone_on_from_once_it_is_restored(
    floor: Floor, tmp_path: Path
) -> None:
    shared = {
        "PODIUM_ARTIFACT_URL": str(tmp_path / "shared"),
        "PODIUM_MODEL_ROOTS": str(floor.data_dir),
    }
    run_id = floor.new_run()
    floor.behave(run_id, steps=2, hang=True, checkpoint_every=2)
    with floor.worker(**shared):
        floor.wait_for_step(run_id, 2)
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")
    state = tmp_path / "shared" / "runs" / run_id / "checkpoint-1-2" / "state.json"
    whole = state.read_bytes()
    # Under a new name: the first machine's own file is the same one.
    state.unlink()
    state.write_bytes(whole[:-1] + b"x")

    floor.move_to(tmp_path / "second")
    floor.ask(runs.resume, run_id)
    floor.behave(run_id, steps=3)
    with floor.worker(**shared):
        failed = floor.wait_for(run_id, "failed")
        state.write_bytes(whole)
        floor.ask(runs.retry, run_id)
        floor.wait_for(run_id, "succeeded")

    assert failed.error["cause"] == "checkpoint"
    assert (
        "checkpoint-1-2/state.json is missing, or its sha256 is not the recorded one"
        in failed.error["message"]
    )
    assert "retry" in failed.error["advice"]
    assert [event.data["step"] for event in floor.events(run_id, "start")] == [0, 2]


def test_a_run_retried_from_the_start_forgets_what_it_had(floor: Floor) -> None:
    run_id = floor.new_run()
    floor.behave(run_id, steps=4, exit=4, checkpoint_every=2)

    with floor.worker():
        floor.wake(run_id)
        floor.wait_for(run_id, "failed")
        floor.behave(run_id, steps=3)
        floor.ask(runs.retry, run_id, from_start=True)
        floor.wait_for(run_id, "succeeded")

    assert [event.data["step"] for event in floor.events(run_id, "start")] == [0, 0]
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert sorted((point.step, point.attempt) for point in points) == [(1, 2), (2, 2), (3, 2)]
    assert floor.rows(select(Checkpoint)) == []
    assert floor.run(run_id).from_start is False
