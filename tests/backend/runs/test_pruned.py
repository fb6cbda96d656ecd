"""What the API says of runs and models whose files were pruned, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.ops.places import Places
from backend.store.db import Database
from backend.store.models import pruning
from backend.store.tables.models import Model
from backend.store.tables.runs import Checkpoint
from tests.backend.runs.conftest import AT, Seed

NOWHERE = Places(Path("/nowhere/runs"), Path("/nowhere/artifacts"), Path("/nowhere/cache")).look_up


def start(api: TestClient, body: dict[str, Any]) -> str:
    run_id: str = api.post("/runs", json=body).raise_for_status().json()["id"]
    return run_id


def prune(api: TestClient, database: Database, run_id: str) -> None:
    """Cancel, archive, and mark as pruned."""
    for verb in ("cancel", "archive"):
        api.post(f"/runs/{run_id}/{verb}").raise_for_status()
    with database.write() as session:
        assert pruning.mark_run(session, run_id, NOWHERE, at=AT) is not None


@pytest.fixture
def run_id(api: TestClient, seed: Seed, database: Database) -> str:
    """A pruned run of which step 20 was pinned, step 10 not."""
    made = start(api, seed.body(seed.sft()))
    with database.write() as session:
        for step in (10, 20):
            path = f"checkpoints/step-{step}"
            session.add(Checkpoint(run_id=made, step=step, attempt=1, path=path, created_at=AT))
    api.post(f"/runs/{made}/checkpoints/20/pin").raise_for_status()
    prune(api, database, made)
    return made


def test_a_pruned_run_shows_what_is_left_of_it(api: TestClient, run_id: str) -> None:
    run = api.get(f"/runs/{run_id}").json()
    listed = api.get(f"/runs/{run_id}/checkpoints").json()["items"]

    assert run["pruned_at"] == "2026-11-21T12:00:00Z"
    assert run["checkpoint_step"] == 20
    assert [one["step"] for one in listed] == [20]


def test_a_pruned_run_is_gone_on_from_where_it_was_pinned_and_nowhere_else(
    api: TestClient, run_id: str
) -> None:
    refused = api.post(f"/runs/{run_id}/clone", json={"from_checkpoint": 10})
    taken = api.post(f"/runs/{run_id}/clone", json={"from_checkpoint": 20})

    assert refused.status_code == 422
    assert refused.json()["advice"] == (
        "It has checkpoints at these steps: 20. Others were deleted by podium prune on 2026-11-21."
    )
    assert taken.status_code == 201


def test_a_pruned_run_is_retried_from_the_start_alone(api: TestClient, run_id: str) -> None:
    went_on = api.post(f"/runs/{run_id}/retry")
    pinned = api.post(f"/runs/{run_id}/retry", json={"from": "start"})
    api.post(f"/runs/{run_id}/checkpoints/20/unpin").raise_for_status()
    anew = api.post(f"/runs/{run_id}/retry", json={"from": "start"})

    assert (went_on.status_code, pinned.status_code, anew.status_code) == (409, 409, 200)
    assert "deleted by podium prune on 2026-11-21, so it cannot resume" in went_on.json()["detail"]
    assert '{"from": "start"}' in went_on.json()["advice"]
    assert (anew.json()["state"], anew.json()["pruned_at"]) == ("queued", None)


def test_a_checkpoint_that_a_waiting_clone_needs_outlives_its_run(
    api: TestClient, run_id: str, database: Database
) -> None:
    child = api.post(f"/runs/{run_id}/clone", json={"from_checkpoint": 20}).json()["id"]
    api.post(f"/runs/{run_id}/checkpoints/20/unpin").raise_for_status()

    def kept() -> frozenset[int]:
        with database.write() as session:
            files = pruning.mark_run(session, run_id, NOWHERE, at=AT)
        assert files is not None
        return files.kept_steps

    assert kept() == {20}
    for verb in ("cancel", "archive"):
        api.post(f"/runs/{child}/{verb}").raise_for_status()
    assert kept() == frozenset()
    with database.write() as session:
        assert pruning.mark_run(session, child, NOWHERE, at=AT) is not None
    lost = api.post(f"/runs/{child}/retry", json={"from": "start"})
    assert lost.status_code == 409
    assert "the checkpoint that it started from no longer exists" in lost.json()["detail"]


def test_a_pruned_model_trains_nothing_any_more(
    api: TestClient, seed: Seed, database: Database
) -> None:
    cancelled = start(api, seed.body(seed.policy_gradient()))
    for verb in ("cancel", "archive"):
        api.post(f"/runs/{cancelled}/{verb}").raise_for_status()
    api.post(f"/models/{seed.reward_model}/archive").raise_for_status()
    with database.write() as session:
        session.query(Model).filter_by(id=seed.reward_model).one().source = {"artifact": "old"}
        assert pruning.mark_model(session, seed.reward_model, NOWHERE, at=AT) == "old"

    shown = api.post(f"/models/{seed.reward_model}/restore").raise_for_status().json()
    made = api.post("/runs", json=seed.body(seed.policy_gradient()))
    retried = api.post(f"/runs/{cancelled}/retry", json={"from": "start"})

    assert shown["pruned_at"] == "2026-11-21T12:00:00Z"
    assert made.status_code == 422
    (problem,) = [one for one in made.json()["errors"] if one["level"] == "error"]
    assert problem["path"] == "reward.terms.0.model"
    assert problem["message"] == "the files of model 'reward_model' were deleted by podium prune"
    assert "cloning the run that produced it" in problem["advice"]
    assert retried.status_code == 409
    assert "deleted by podium prune" in retried.json()["detail"]
