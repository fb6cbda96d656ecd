"""A run from queued to succeeded on a real Celery worker, with a trainer that trains nothing."""

import hashlib
import json
import os

import pytest
from sqlalchemy import select

from backend.store.tables.data import Comparison, Response, Snapshot
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.models import Model
from backend.store.tables.runs import Artifact, LogLine, Sample
from tests import processes
from tests.worker.floor import PROMPTS, Floor
from worker.run_directory.layout import RunDirectory

pytestmark = pytest.mark.slow


def test_a_run_goes_from_queued_to_succeeded_and_everything_it_told_is_stored(
    floor: Floor,
) -> None:
    run_id = floor.new_run()

    with floor.worker("--steps", "7", "--noise-bytes", "10"):
        floor.wake(run_id)
        run = floor.wait_for(run_id, "succeeded", "failed", "crashed")

    assert (run.state, run.error, run.exit_code) == ("succeeded", None, 0)
    assert floor.states(run_id) == ["queued", "running", "succeeded"]
    assert (run.attempt, run.owner, run.step, run.steps) == (1, None, 7, 7)
    assert run.environment == {"fake": True, "visible_devices": ""}
    assert run.summary.keys() == {"loss", "reward/mean"}
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert sorted(point.step for point in points) == list(range(1, 8))
    assert len(floor.rows(select(Sample))) == 7
    assert any("step 7 of 7" in line.text for line in floor.rows(select(LogLine)))
    directory = floor.settings.runs_dir / run_id
    assert run.relayed_bytes == (directory / "events.jsonl").stat().st_size


def test_the_final_model_comes_home_with_parent_facts_and_files(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker():
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for(run_id, "succeeded")

    (model,) = sqlite_floor.rows(select(Model).where(Model.run_id == run_id))
    assert (model.parent_id, model.kind, model.step) == ("model_base", "causal_lm", 5)
    assert (model.facts["parameters"], model.facts["vocab_size"]) == (2, 4)
    assert len(model.sha256) == 64
    files = sqlite_floor.rows(select(Artifact).where(Artifact.run_id == run_id))
    assert {file.path for file in files} >= {"model.safetensors", "config.json"}
    for file in files:
        stored = sqlite_floor.data_dir / "artifacts" / file.key
        assert hashlib.sha256(stored.read_bytes()).hexdigest() == file.sha256


def test_generated_responses_come_home_with_comparisons_to_rank(floor: Floor) -> None:
    run_id = floor.new_run("generate")

    with floor.worker():
        floor.wake(run_id)
        floor.wait_for(run_id, "succeeded")

    responses = floor.rows(select(Response).where(Response.run_id == run_id))
    assert len(responses) == PROMPTS * 2
    comparisons = floor.rows(select(Comparison).where(Comparison.run_id == run_id))
    assert sorted(one.prompt_id for one in comparisons) == [f"prompt_{n}" for n in range(PROMPTS)]
    assert sorted(i for one in comparisons for i in one.response_ids) == sorted(
        response.id for response in responses
    )


def test_the_input_file_is_the_snapshot_byte_by_byte(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker():
        sqlite_floor.wake(run_id)
        sqlite_floor.wait_for(run_id, "succeeded")

    directory = sqlite_floor.settings.runs_dir / run_id
    (snapshot,) = sqlite_floor.rows(select(Snapshot).where(Snapshot.kind == "demonstrations"))
    data = (directory / "inputs" / "demonstrations.jsonl").read_bytes()
    assert hashlib.sha256(data).hexdigest() == snapshot.sha256
    config = json.loads((directory / "config.json").read_text())
    assert config["demonstrations"] == {
        "path": "inputs/demonstrations.jsonl",
        "sha256": snapshot.sha256,
    }
    assert config["model"]["path"] == str(sqlite_floor.data_dir / "models" / "base")


def test_a_doubled_ring_starts_one_trainer(floor: Floor) -> None:
    run_id = floor.new_run()

    with floor.worker(slots=3):
        for _ in range(5):
            floor.wake(run_id)
        floor.wait_for(run_id, "succeeded")

    assert floor.run(run_id).attempt == 1
    assert floor.states(run_id) == ["queued", "running", "succeeded"]


def test_one_ring_is_enough_for_many_runs_and_they_go_in_order(sqlite_floor: Floor) -> None:
    run_ids = [sqlite_floor.new_run() for _ in range(3)]

    with sqlite_floor.worker(PODIUM_SWEEP_S="600"):
        sqlite_floor.wake(run_ids[2])
        for run_id in run_ids:
            sqlite_floor.wait_for(run_id, "succeeded")

    started = [sqlite_floor.run(run_id).started_at for run_id in run_ids]
    assert started == sorted(started)


def test_a_run_nobody_rang_for_is_found_by_the_sweeper(redis_floor: Floor) -> None:
    run_id = redis_floor.new_run()

    with redis_floor.worker():
        redis_floor.wait_for(run_id, "succeeded")


def test_two_workers_share_the_queue_and_no_run_is_started_twice(redis_floor: Floor) -> None:
    run_ids = [redis_floor.new_run() for _ in range(8)]

    with redis_floor.worker(slots=2), redis_floor.worker(slots=2):
        for run_id in run_ids:
            redis_floor.wake(run_id)
            redis_floor.wake(run_id)
        for run_id in run_ids:
            redis_floor.wait_for(run_id, "succeeded")

    assert {redis_floor.run(run_id).attempt for run_id in run_ids} == {1}


def test_no_second_trainer_starts_while_the_run_directory_is_held(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()
    held = RunDirectory(sqlite_floor.settings.runs_dir, run_id).try_lock()
    assert held is not None

    with sqlite_floor.worker(PODIUM_STOP_GRACE_S="0.3"):
        processes.wait_until(lambda: sqlite_floor.run(run_id).attempt >= 2, "it was tried twice")
        assert not (sqlite_floor.settings.runs_dir / run_id / "events.jsonl").exists()
        os.close(held)
        run = sqlite_floor.wait_for(run_id, "succeeded")

    assert run.crashes == 0
    assert len(sqlite_floor.events(run_id, "start")) == 1
