"""Pinned checkpoints on a real worker: what the trainer keeps, and what another machine finds."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.runs import pins, runs, shown
from backend.store.tables.models import Model
from backend.store.tables.runs import Checkpoint
from tests import processes
from tests.worker.floor import Floor
from worker.run_directory.layout import RunDirectory

pytestmark = pytest.mark.slow


def listed(floor: Floor, run_id: str) -> dict[int, bool]:
    """The checkpoints of a run in the store, by step whether they are pinned."""
    rows = floor.rows(select(Checkpoint).where(Checkpoint.run_id == run_id))
    return {row.step: row.is_pinned for row in rows}


def test_best_last_and_pinned_checkpoints_outlive_the_next_ones(floor: Floor) -> None:
    run_id = floor.new_run()
    directory = RunDirectory(floor.settings.runs_dir, run_id)
    behaviour = {"checkpoint_every": 1, "max_checkpoints": 2, "best_at": 1}
    floor.behave(run_id, steps=4, hang=True, **behaviour)

    with floor.worker():
        floor.wake(run_id)
        processes.wait_until(
            lambda: set(listed(floor, run_id)) == {1, 3, 4}, "four steps", timeout_s=120
        )
        floor.ask(pins.pin, run_id, step=3)
        told = directory.path / "pins.json"
        processes.wait_until(
            lambda: json.loads(told.read_text()) == {"steps": [3]}, "the pin", timeout_s=120
        )
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")
        floor.behave(run_id, steps=8, **behaviour)
        floor.ask(runs.resume, run_id)
        floor.wait_for(run_id, "succeeded")

    assert directory.checkpoint_steps() == [1, 3, 7, 8]
    assert listed(floor, run_id) == {1: False, 3: True, 7: False, 8: False}
    assert floor.events(run_id, "alert") == []
    # What is shipped, and what one goes on from, is what was best.
    with floor.database.read() as session:
        assert shown.one(session, run_id).best_checkpoint_step == 1
    (model,) = floor.rows(select(Model).where(Model.run_id == run_id))
    assert model.step == 1


def test_a_checkpoint_that_a_clone_waits_for_outlives_the_next_ones(
    floor: Floor, tmp_path: Path
) -> None:
    shared = {"PODIUM_ARTIFACT_URL": str(tmp_path / "shared")}
    parent = floor.new_run()
    directory = RunDirectory(floor.settings.runs_dir, parent)
    behaviour = {"checkpoint_every": 1, "max_checkpoints": 2}
    floor.behave(parent, steps=4, hang=True, **behaviour)

    with floor.worker(**shared):
        floor.wake(parent)
        processes.wait_until(lambda: set(listed(floor, parent)) == {3, 4}, "4 steps", timeout_s=120)
        # No GPU is here: it waits.
        child = floor.new_run(from_checkpoint=(parent, 3), gpus=1)
        in_store = tmp_path / "shared" / "runs" / parent / "checkpoint-1-3"
        processes.wait_until(in_store.exists, "it is copied for other machines", timeout_s=120)
        floor.ask(runs.pause, parent)
        floor.wait_for(parent, "paused")
        floor.behave(parent, steps=8, **behaviour)
        floor.ask(runs.resume, parent)
        floor.wait_for(parent, "succeeded")

    assert floor.run(child).state == "queued"
    assert directory.checkpoint_steps() == [3, 7, 8]
    assert listed(floor, parent) == {3: False, 7: False, 8: False}
    assert in_store.exists()


def test_a_pinned_checkpoint_survives_the_machine_it_was_written_on(
    floor: Floor, tmp_path: Path
) -> None:
    shared = {
        "PODIUM_ARTIFACT_URL": str(tmp_path / "shared"),
        "PODIUM_MODEL_ROOTS": str(floor.data_dir),
    }
    run_id = floor.new_run()
    floor.behave(run_id, steps=4, hang=True, checkpoint_every=2)
    with floor.worker(**shared):
        processes.wait_until(
            lambda: 4 in listed(floor, run_id), "the second checkpoint", timeout_s=120
        )
        floor.ask(pins.pin, run_id, step=2)
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")

    floor.move_to(tmp_path / "second")
    floor.behave(run_id, steps=6, checkpoint_every=2)
    floor.ask(runs.resume, run_id)
    with floor.worker(**shared):
        floor.wait_for(run_id, "succeeded")
        child = floor.new_run(from_checkpoint=(run_id, 2))
        floor.wake(child)
        floor.wait_for(child, "succeeded", "failed")

    assert listed(floor, run_id) == {2: True, 4: False, 6: False}
    assert floor.run(child).state == "succeeded"
    assert [event.data["step"] for event in floor.events(child, "start")] == [2]
    kept = {path.name for path in (tmp_path / "shared" / "runs" / run_id).iterdir()}
    assert kept == {"checkpoint-1-2", "checkpoint-2-6", "model-2"}


def test_a_pin_holds_what_lies_on_another_machine_alone(
    sqlite_floor: Floor, tmp_path: Path
) -> None:
    """Pinned while the run is paused: nobody has copied it, and nobody may forget it."""
    floor, first = sqlite_floor, sqlite_floor.data_dir
    shared = {"PODIUM_ARTIFACT_URL": str(tmp_path / "shared"), "PODIUM_MODEL_ROOTS": str(first)}
    behaviour = {"checkpoint_every": 2, "max_checkpoints": 2}
    run_id = floor.new_run()
    floor.behave(run_id, steps=4, hang=True, **behaviour)
    with floor.worker(**shared):
        processes.wait_until(lambda: 4 in listed(floor, run_id), "two steps", timeout_s=120)
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")
    floor.ask(pins.pin, run_id, step=2)

    floor.move_to(tmp_path / "second")
    floor.behave(run_id, steps=8, hang=True, **behaviour)
    floor.ask(runs.resume, run_id)
    with floor.worker(**shared):
        processes.wait_until(lambda: 8 in listed(floor, run_id), "more steps", timeout_s=120)
        floor.ask(runs.pause, run_id)
        floor.wait_for(run_id, "paused")
    assert listed(floor, run_id) == {2: True, 6: False, 8: False}

    floor.return_to(first)
    floor.behave(run_id, steps=12, **behaviour)
    floor.ask(runs.resume, run_id)
    with floor.worker(**shared):
        floor.wait_for(run_id, "succeeded")

    assert RunDirectory(floor.settings.runs_dir, run_id).checkpoint_steps() == [2, 10, 12]
    assert listed(floor, run_id) == {2: True, 10: False, 12: False}
    assert floor.events(run_id, "alert") == []
