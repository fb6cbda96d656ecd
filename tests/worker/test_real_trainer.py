"""The real trainer under the real worker: train, then sample from what was trained."""

import hashlib
import sys
from collections import Counter

import pytest
from sqlalchemy import select

from backend.schemas.records import EvaluatedRecord
from backend.store.runs import runs
from backend.store.tables.data import Comparison, Response
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.models import Model
from backend.store.tables.runs import Artifact
from tests.worker.floor import PROMPTS, Floor
from tests.worker.tiny_floor import demonstration, plant_tiny_model

TRAINER = f"{sys.executable} -P -m worker.trainer"
SMALL = {
    "optim": {"lr": 1e-3, "batch_size": 2, "epochs": 2},
    "precision": "fp32",
    "resources": {"threads": 1},
}
ROLLOUT = {"max_new_tokens": 4, "max_prompt_tokens": 128}


@pytest.fixture
def floor_with_model(sqlite_floor: Floor) -> Floor:
    """A floor with a tiny real model, a few demonstrations and a few rankings."""
    plant_tiny_model(sqlite_floor)
    return sqlite_floor


@pytest.mark.slow
def test_a_model_is_trained_comes_home_and_is_sampled_from(
    floor_with_model: Floor, warm_trainer: str
) -> None:
    floor = floor_with_model
    trained = floor.new_run(demonstrations={"id": "snapshot_more"}, **SMALL)

    with floor.worker(PODIUM_TRAINER_COMMAND=warm_trainer, PODIUM_STOP_GRACE_S="30"):
        run = floor.wait_for(trained, "succeeded", "failed", "crashed", timeout_s=120)
        assert run.state == "succeeded", run.error
        (model,) = floor.rows(select(Model).where(Model.run_id == trained))
        sampled = floor.new_run("generate", model={"id": model.id}, rollout=ROLLOUT)
        run = floor.wait_for(sampled, "succeeded", "failed", "crashed", timeout_s=120)
        assert run.state == "succeeded", run.error

    assert "loss" in floor.run(trained).summary
    assert model.parent_id == "model_base"
    assert model.facts["architecture"] == "LlamaForCausalLM"
    responses = floor.rows(select(Response).where(Response.run_id == sampled))
    assert len(responses) == PROMPTS * 2
    assert {response.model_id for response in responses} == {model.id}
    distinct = {(r.prompt_id, r.content) for r in responses}
    comparisons = floor.rows(select(Comparison).where(Comparison.run_id == sampled))
    assert len(comparisons) == len(distinct) - PROMPTS
    assert list((floor.settings.runs_dir / trained / "output").glob("*.bin")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "kind", "metrics"),
    [
        ("dpo", "causal_lm", {"loss", "dpo/margin", "dpo/accuracy", "eval/accuracy"}),
        ("process_reward_model", "process_model", {"loss", "accuracy", "eval/accuracy"}),
    ],
)
def test_a_run_brings_its_model_home(
    floor_with_model: Floor, warm_trainer: str, method: str, kind: str, metrics: set[str]
) -> None:
    floor = floor_with_model
    run_id = floor.new_run(method, **SMALL)

    with floor.worker(PODIUM_TRAINER_COMMAND=warm_trainer, PODIUM_STOP_GRACE_S="30"):
        run = floor.wait_for(run_id, "succeeded", "failed", "crashed", timeout_s=120)
        assert run.state == "succeeded", run.error

    (model,) = floor.rows(select(Model).where(Model.run_id == run_id))
    assert (model.kind, model.parent_id) == (kind, "model_base")
    assert metrics <= set(floor.run(run_id).summary)


@pytest.mark.slow
def test_an_evaluation_brings_its_numbers_home(floor_with_model: Floor, warm_trainer: str) -> None:
    floor = floor_with_model
    baseline = {"id": "model_base"}
    run_id = floor.new_run("evaluate", baseline_model=baseline, rollout=ROLLOUT, **SMALL)

    with floor.worker(PODIUM_TRAINER_COMMAND=warm_trainer, PODIUM_STOP_GRACE_S="30"):
        run = floor.wait_for(run_id, "succeeded", "failed", "crashed", timeout_s=120)
        assert run.state == "succeeded", run.error

    summary = floor.run(run_id).summary
    assert summary["eval/win_rate"] == 0.5
    assert {"eval/reward", "eval/pass@1", "eval/length", "reward/finished"} <= set(summary)
    (kept,) = floor.rows(select(Artifact).where(Artifact.run_id == run_id))
    assert kept.key == f"runs/{run_id}/answers-1/responses.jsonl"
    stored = (floor.settings.data_dir / "artifacts" / kept.key).read_bytes()
    assert hashlib.sha256(stored).hexdigest() == kept.sha256
    answers = [EvaluatedRecord.model_validate_json(line) for line in stored.splitlines()]
    models = Counter(one.model for one in answers)
    assert models["model"] == models["baseline"] == len(answers) / 2 > 0
    assert all(one.token_ids is not None and one.passed is not None for one in answers)


@pytest.mark.slow
def test_a_real_training_stops_when_asked_and_goes_on_from_its_checkpoint(
    floor_with_model: Floor,
) -> None:
    floor = floor_with_model
    with floor.database.write() as session:
        many = [demonstration(number) for number in range(200)]
        floor.add_snapshot(session, "demonstrations", many, name="many")
    # A hundred thousand steps: never trained to their end.
    long = SMALL | {"optim": {"lr": 1e-4, "batch_size": 2, "epochs": 1000}}
    run_id = floor.new_run(demonstrations={"id": "snapshot_many"}, **long)

    with floor.worker(PODIUM_TRAINER_COMMAND=TRAINER, PODIUM_STOP_GRACE_S="60"):
        floor.wait_for_step(run_id, 5)
        floor.ask(runs.pause, run_id)
        paused = floor.wait_for(run_id, "paused", timeout_s=180)
        assert paused.exit_code == 5
        assert paused.checkpoint_step is not None
        floor.ask(runs.resume, run_id)
        floor.wait_for_step(run_id, paused.checkpoint_step + 5)
        floor.ask(runs.cancel, run_id)
        floor.wait_for(run_id, "cancelled", timeout_s=180)

    starts = [event.data["step"] for event in floor.events(run_id, "start")]
    assert starts == [0, paused.checkpoint_step]
    steps = floor.told_steps(run_id)
    assert len(steps) == len(set(steps)), "no step is told twice after a clean stop"


@pytest.mark.slow
def test_a_clone_without_changes_goes_on_from_a_checkpoint_to_the_bit(
    floor_with_model: Floor,
) -> None:
    floor = floor_with_model
    config = SMALL | {"demonstrations": {"id": "snapshot_more"}, "checkpoint_every": 1}

    with floor.worker(PODIUM_TRAINER_COMMAND=TRAINER):
        parent = floor.new_run(**config)
        assert floor.wait_for(parent, "succeeded", "failed", timeout_s=120).step == 3
        child = floor.new_run(from_checkpoint=(parent, 2), **config)
        floor.wait_for(child, "succeeded", "failed", timeout_s=120)

    whole, rest = (
        {
            (point.name, point.step): point.value
            for point in floor.rows(select(MetricPoint).where(MetricPoint.run_id == run_id))
            if point.name in ("loss", "grad_norm", "eval/loss")
        }
        for run_id in (parent, child)
    )
    assert rest == {key: value for key, value in whole.items() if key[1] > 2}
    assert ("loss", 3) in rest
    made = floor.rows(select(Model).where(Model.run_id.in_([parent, child])))
    assert made[0].sha256 == made[1].sha256
