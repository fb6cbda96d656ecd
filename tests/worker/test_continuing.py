"""A run that goes on from a checkpoint of another run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.schemas.run_directory.events import DistributionLine, Histogram, PromptScoresLine
from backend.settings import Settings
from backend.store.metrics import distributions, prompt_scores
from backend.store.runs import runs
from backend.store.tables.metrics import Distribution, MetricPoint, PromptScores
from backend.store.tables.runs import Checkpoint, Sample
from tests.worker.floor import Floor
from tests.worker.stepped import ScriptedTrainer, SteppedSupervisor, SteppedWorker
from worker import tasks

pytestmark = pytest.mark.slow


def parent_of(floor: Floor, *, steps: int = 4) -> str:
    """A run that has succeeded, with a checkpoint of every second step."""
    run_id = floor.new_run(behaviour={"steps": steps, "checkpoint_every": 2})
    floor.wake(run_id)
    floor.wait_for(run_id, "succeeded")
    return run_id


def points(floor: Floor, run_id: str) -> list[int]:
    """The steps of a run's curve."""
    statement = select(MetricPoint).where(MetricPoint.run_id == run_id, MetricPoint.name == "loss")
    return [point.step for point in floor.rows(statement.order_by(MetricPoint.step))]


def directory(floor: Floor, run_id: str) -> Path:
    return floor.settings.runs_dir / run_id


def test_a_child_begins_at_its_parents_checkpoint_and_so_does_its_curve(floor: Floor) -> None:
    with floor.worker():
        parent = parent_of(floor)
        behaviour = {"steps": 5, "checkpoint_every": 4}
        child = floor.new_run(from_checkpoint=(parent, 2), behaviour=behaviour)
        floor.wake(child)
        run = floor.wait_for(child, "succeeded", "failed", "crashed")

    assert (run.state, run.step, run.attempt) == ("succeeded", 5, 1)
    assert [event.data["step"] for event in floor.events(child, "start")] == [2]
    assert points(floor, child) == [3, 4, 5]
    assert points(floor, parent) == [1, 2, 3, 4]
    rows = floor.rows(select(Checkpoint).where(Checkpoint.run_id == child))
    assert sorted(row.step for row in rows) == [2, 4]
    assert not list(directory(floor, child).rglob("*.partial"))


class LongTrainer(ScriptedTrainer):
    """It has many more steps than a test lets it take."""

    steps = 20


class SupervisorOfLong(SteppedSupervisor):
    """The real supervisor beside a long scripted trainer."""

    start_trainer = LongTrainer


def go_on(this_worker: SteppedWorker, is_there: Callable[[], object], what: str) -> None:
    """Let all threads of a worker go on, transaction by transaction, until it is so."""
    for _ in range(1000):
        if is_there():
            return
        for actor in list(this_worker.actors):
            actor.step()
    raise AssertionError(f"never: {what}")


def test_the_pace_of_a_child_is_that_of_its_own_steps(sqlite_floor: Floor) -> None:
    floor, clock_s = sqlite_floor, [1000.0]
    with floor.worker():
        parent = parent_of(floor)
    child = floor.new_run(from_checkpoint=(parent, 2), resources={"timeout_s": 4})
    # The clock is the test's: no start of a process and no slow machine takes time of the child's.
    given = floor.settings.model_copy(update={"min_free_gb": 0, "system_metrics_s": 0})
    this_worker = SteppedWorker(given, floor.database, "here", lambda: clock_s[0])
    this_worker.register()
    task = this_worker.begin(
        lambda: tasks.execute(this_worker, child, SupervisorOfLong), name="task"
    )
    go_on(this_worker, lambda: this_worker.trainers, "the trainer has started")
    (trainer,) = this_worker.trainers
    for _ in range(4):  # It begins, and takes the steps 3, 4 and 5.
        trainer.work("step")

    clock_s[0] += 5.0
    go_on(this_worker, lambda: trainer.is_asked, "the trainer is asked to stop")
    trainer.work("step")
    go_on(this_worker, lambda: task.is_over, "the task is over")

    run = floor.run(child)
    assert (run.state, run.step) == ("failed", 5)
    assert run.error is not None
    assert run.error["advice"].startswith(
        "Raise resources.timeout_s from 4 to 30: 3 steps took 5 s, and 15 steps remain"
    )


def test_a_retry_from_the_start_begins_there_again_without_the_parents_files(
    sqlite_floor: Floor,
) -> None:
    floor = sqlite_floor
    with floor.worker():
        parent = parent_of(floor)
        behaviour = {"steps": 6, "checkpoint_every": 2, "exit": 4}
        child = floor.new_run(from_checkpoint=(parent, 2), behaviour=behaviour)
        floor.wake(child)
        floor.wait_for(child, "failed")
        shutil.rmtree(directory(floor, parent))
        floor.behave(child, steps=3)
        floor.ask(runs.retry, child, from_start=True)
        floor.wait_for(child, "succeeded")

    assert [event.data["step"] for event in floor.events(child, "start")] == [2, 2]
    assert points(floor, child) == [3]
    (row,) = floor.rows(select(Checkpoint).where(Checkpoint.run_id == child))
    assert (row.step, row.attempt) == (2, 2)


def test_a_retry_from_the_start_takes_back_all_that_an_attempt_has_told_though_none_follows(
    sqlite_floor: Floor,
) -> None:
    floor = sqlite_floor
    with floor.worker():
        run_id = floor.new_run(behaviour={"steps": 2, "checkpoint_every": 2, "exit": 4})
        floor.wake(run_id)
        floor.wait_for(run_id, "failed")
    spread = DistributionLine(
        step=1, time=1.0, values={"reward/mean": Histogram(bins=[4000], counts=[2])}
    )
    scores = PromptScoresLine(
        step=1, prompt_ids=["prompt_0"], responses=[2], scored=[2], score=[0.5], passed=[None]
    )
    with floor.database.write() as session:
        distributions.append(session, run_id, [spread])
        prompt_scores.append(session, run_id, [scores])
    told = [MetricPoint, Sample, Checkpoint, Distribution, PromptScores]

    def has_told() -> list[bool]:
        return [bool(floor.rows(select(row).where(row.run_id == run_id))) for row in told]

    assert all(has_told())

    with floor.worker(PODIUM_TRAINER_COMMAND="false"):
        floor.ask(runs.retry, run_id, from_start=True)
        floor.wake(run_id)
        floor.wait_for(run_id, "crashed")

    assert not any(has_told())


def test_a_child_that_crashes_goes_on_from_its_own_checkpoint(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    with floor.worker():
        parent = parent_of(floor)
        behaviour = {"steps": 6, "checkpoint_every": 2, "die_at": 5}
        child = floor.new_run(from_checkpoint=(parent, 2), behaviour=behaviour)
        floor.wake(child)
        floor.wait_for(child, "succeeded")

    assert [event.data["step"] for event in floor.events(child, "start")] == [2, 4]


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_checkpoint_that_is_gone_or_damaged_fails_the_child_with_advice(
    sqlite_floor: Floor, how: str
) -> None:
    floor = sqlite_floor
    with floor.worker():
        parent = parent_of(floor)
        checkpoint = directory(floor, parent) / "checkpoints" / "step-2"
        if how == "gone":
            shutil.rmtree(checkpoint)
        else:
            (checkpoint / "state.json").write_text(json.dumps({"step": 3}))
        child = floor.new_run(from_checkpoint=(parent, 2))
        floor.wake(child)
        run = floor.wait_for(child, "failed", "succeeded", "crashed")

    assert run.state == "failed"
    assert run.error is not None
    assert run.error["cause"] == "checkpoint"
    assert f"Training cannot continue from step 2 of run {parent}:" in run.error["message"]
    assert "Clone the parent again" in run.error["advice"]
    assert not (directory(floor, child) / "checkpoints").exists()
    assert floor.events(child, "start") == []


def test_on_another_machine_the_checkpoint_comes_from_the_artifact_store(
    floor: Floor, tmp_path: Path
) -> None:
    shared = {
        "PODIUM_ARTIFACT_URL": str(tmp_path / "shared"),
        "PODIUM_MODEL_ROOTS": str(floor.data_dir),
    }
    with floor.worker(**shared):
        parent = parent_of(floor)

    floor.data_dir = tmp_path / "second"
    floor.data_dir.mkdir()
    floor.settings = Settings(data_dir=floor.data_dir, database_url=floor.database.url)
    child = floor.new_run(from_checkpoint=(parent, 4))
    lost = floor.new_run(from_checkpoint=(parent, 2))
    floor.behave(child, steps=6)
    with floor.worker(**shared):
        floor.wait_for(child, "succeeded", "failed")
        failed = floor.wait_for(lost, "succeeded", "failed")

    assert points(floor, child) == [5, 6]
    assert failed.state == "failed", "only the newest checkpoint of a run is shared"
