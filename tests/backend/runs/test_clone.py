"""Clones: what they take over, and which of them may go on from a checkpoint."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.domain import continuation, run_config
from backend.store.db import Database
from backend.store.tables.runs import Checkpoint
from tests.backend.runs.conftest import AT, Seed

LORA = {"r": 8, "alpha": 16}


@pytest.fixture
def parent(api: TestClient, seed: Seed, database: Database) -> str:
    """A run with checkpoints of the steps 10 and 20 of 40."""
    config = seed.policy_gradient(steps=40, lora=LORA)
    body = seed.body(config, tags=["kept"], priority=5)
    run_id: str = api.post("/runs", json=body).raise_for_status().json()["id"]
    with database.write() as session:
        for step in (10, 20):
            path = f"checkpoints/step-{step}"
            session.add(Checkpoint(run_id=run_id, step=step, attempt=1, path=path, created_at=AT))
    return run_id


def clone(api: TestClient, run_id: str, step: int | None, **overrides: Any) -> Any:
    """The answer to a clone that goes on from a step."""
    body = {"from_checkpoint": step, "overrides": overrides}
    return api.post(f"/runs/{run_id}/clone", json=body)


def test_a_clone_may_go_on_from_a_checkpoint_of_its_parent(api: TestClient, parent: str) -> None:
    answer = clone(api, parent, 20, steps=80, kl={"coef": 0.2}, optim={"lr": 1e-5})

    assert answer.status_code == 201
    made = answer.json()
    assert (made["parent_id"], made["parent_step"], made["state"]) == (parent, 20, "queued")
    assert (made["config"]["steps"], made["config"]["kl"]["coef"]) == (80, 0.2)
    assert (made["tags"], made["priority"]) == (["kept"], 5)
    assert api.get(f"/runs/{parent}").json()["parent_step"] is None
    assert clone(api, parent, None).json()["parent_step"] is None


def test_a_clone_may_have_tags_priority_and_an_experiment_of_its_own(
    api: TestClient, seed: Seed, parent: str
) -> None:
    named = {"project_id": seed.project, "name": "does it help?"}
    experiment = api.post("/experiments", json=named).json()["id"]
    own = {"tags": [], "priority": -1, "experiment_id": experiment}

    made = api.post(f"/runs/{parent}/clone", json=own).raise_for_status().json()
    lost = api.post(f"/runs/{parent}/clone", json={"experiment_id": "exp_gone"})

    assert {name: made[name] for name in own} == own
    assert lost.status_code == 422


def test_an_unknown_step_is_refused_with_the_steps_there_are(
    api: TestClient, seed: Seed, parent: str
) -> None:
    childless = api.post("/runs", json=seed.body(seed.sft())).json()["id"]

    answer = clone(api, parent, 15)
    nothing = clone(api, childless, 1)

    assert answer.status_code == 422
    assert "no checkpoint of step 15" in answer.json()["detail"]
    assert answer.json()["advice"] == "It has checkpoints at these steps: 10, 20."
    assert answer.json()["errors"][0]["path"] == "from_checkpoint"
    assert nothing.json()["advice"] == "It has checkpoints at these steps: none."
    assert clone(api, parent, -1).status_code == 422


@pytest.mark.parametrize(
    ("overrides", "path", "advice"),
    [
        ({"model": {"hub_id": "another/one"}}, "model.id", "Set model.id back"),
        ({"lora": None}, "lora.r", "Set lora.r back"),
        ({"lora": {"r": 4}}, "lora.r", "Set lora.r back"),
        ({"lora": {"targets": "attention"}}, "lora.targets", "Set lora.targets back"),
        ({"steps": 20}, "steps", "Set steps above 20"),
        (
            {"steps": 80, "optim": {"schedule": "linear"}},
            "steps",
            "set optim.schedule to constant",
        ),
        (
            {"rollout": {"prompts_per_step": 8}, "optim": {"schedule": "cosine"}},
            "rollout.prompts_per_step",
            "set optim.schedule to constant",
        ),
    ],
)
def test_what_a_checkpoint_cannot_go_on_with_is_refused_and_nothing_is_made(
    api: TestClient, parent: str, overrides: dict[str, Any], path: str, advice: str
) -> None:
    answer = clone(api, parent, 20, **overrides)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == path
    assert advice in answer.json()["advice"]
    assert clone(api, parent, None, **overrides).status_code == 201
    assert len(api.get("/runs").json()["items"]) == 2


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ({"method": "reward_model"}, {"method": "dpo"}, "method"),
        ({"estimator": "grpo"}, {"estimator": "ppo"}, "estimator"),
        ({"estimator": "ppo"}, {"estimator": "rloo"}, "estimator"),
    ],
)
def test_another_method_or_critic_does_not_fit_a_checkpoint(
    before: dict[str, Any], after: dict[str, Any], path: str
) -> None:
    constant = {"optim": {"schedule": "constant"}}

    (found,) = continuation.problems_of(before | constant, after | constant, 3)

    assert found.path == path
    assert "without from_checkpoint" in str(found.advice)


def test_a_value_that_is_not_there_is_told_as_it_is_written() -> None:
    before = {"method": "sft", "lora": {"r": 16}, "optim": {"schedule": "constant"}}

    found = continuation.problems_of(before, before | {"lora": None}, 3)

    assert found[0].message == "lora.r is null, but the checkpoint was made with 16"


BATCHES = {"method": "sft", "optim": {"schedule": "constant", "batch_size": 16, "epochs": 1.0}}
WARMED = {"optim": {"schedule": "constant", "warmup_ratio": 0.1}}
REWARD_MODELS: list[dict[str, Any]] = [
    {"terms": [{"kind": "finished"}, {"kind": "model", "model": {"id": f"model_{name}"}}]}
    for name in "ab"
]


def problems(parent: dict[str, Any], change: dict[str, Any]) -> list[tuple[str, str]]:
    """Paths and advice for a clone of `parent` with this change, from step 3 on."""
    found = continuation.problems_of(parent, run_config.merged(parent, change), 3)
    return [(problem.path, str(problem.advice)) for problem in found]


def test_the_batch_of_a_run_on_records_stays_and_its_epochs_need_not() -> None:
    """Another size would count other records as taken: some come twice, or not at all."""
    ((path, advice),) = problems(BATCHES, {"optim": {"batch_size": 32}})

    assert path == "optim.batch_size"
    assert "Set optim.batch_size back" in advice
    assert problems(BATCHES, {"optim": {"epochs": 3.0}}) == []


def test_a_warm_up_is_a_share_of_the_steps_that_were_planned() -> None:
    ((path, advice),) = problems(WARMED | {"steps": 100}, {"steps": 1000})

    assert path == "steps"
    assert "set optim.warmup_ratio to 0" in advice
    longer = {"steps": 1000, "optim": {"warmup_ratio": 0.0}}
    assert problems(WARMED | {"steps": 100}, longer) == []
    assert problems(WARMED | {"steps": 100}, {"kl": {"coef": 1.0}}) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"critic": {"trunk": "shared"}}, {"critic": {"trunk": "model"}}),
        ({"critic": None}, {"critic": {"trunk": "shared"}}),
        (
            {"critic": {"trunk": "reward_model"}, "reward": REWARD_MODELS[0]},
            {"reward": REWARD_MODELS[1]},
        ),
    ],
)
def test_a_critic_goes_on_with_the_trunk_that_it_has(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    parent = {"method": "policy_gradient", "estimator": "ppo", "steps": 10} | WARMED | before

    ((path, advice),) = problems(parent, after)

    assert path == "critic.trunk"
    assert "without from_checkpoint" in advice
    assert problems(parent, {"critic": {"lr": 1e-3}}) == []
    assert problems(parent | {"critic": None}, {"critic": {"trunk": "model"}}) == []
