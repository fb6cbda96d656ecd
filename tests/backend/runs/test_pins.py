"""Pins by the API: who may pin, what it answers, what it leaves behind."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import CheckpointLine, MetricLine
from backend.store.db import Database
from backend.store.metrics import points
from backend.store.runs import checkpoints, runs
from backend.store.tables.runs import Checkpoint
from tests.backend.runs.conftest import AT, Seed


@pytest.fixture
def run_id(api: TestClient, seed: Seed, database: Database) -> str:
    """A run with checkpoints of the steps 10 and 20."""
    made: str = api.post("/runs", json=seed.body(seed.sft())).raise_for_status().json()["id"]
    with database.write() as session:
        for step in (10, 20):
            path = f"checkpoints/step-{step}"
            session.add(Checkpoint(run_id=made, step=step, attempt=1, path=path, created_at=AT))
    return made


def pinned(api: TestClient, run_id: str) -> list[int]:
    items = api.get(f"/runs/{run_id}/checkpoints").raise_for_status().json()["items"]
    return [item["step"] for item in items if item["is_pinned"]]


def test_a_pin_stays_until_it_is_taken_back_and_is_told_once(api: TestClient, run_id: str) -> None:
    for _ in range(2):
        answer = api.post(f"/runs/{run_id}/checkpoints/10/pin").raise_for_status().json()
        assert (answer["step"], answer["is_pinned"]) == (10, True)
    assert pinned(api, run_id) == [10]

    api.post(f"/runs/{run_id}/checkpoints/10/unpin").raise_for_status()

    assert pinned(api, run_id) == []
    events = api.get(f"/runs/{run_id}/events", params={"type": "checkpoint"}).json()["items"]
    assert [event["data"]["is_pinned"] for event in events] == [True, False]
    lines = api.get("/audit", params={"object_id": run_id, "oldest_first": True}).json()["items"]
    told = [(line["action"], line["data"].get("step")) for line in lines[1:]]
    assert told == [("pin_checkpoint", "10")] * 2 + [("unpin_checkpoint", "10")]


def test_a_checkpoint_that_is_gone_cannot_be_pinned(
    api: TestClient, run_id: str, database: Database
) -> None:
    with database.write() as session:
        checkpoints.keep_only(session, run_id, [20], attempts=[1], needed=[], at=AT)

    answer = api.post(f"/runs/{run_id}/checkpoints/10/pin")

    assert answer.status_code == 404
    assert "no checkpoint of step 10" in answer.json()["detail"]
    assert answer.json()["advice"] == "It has checkpoints at these steps: 20."
    assert api.post("/runs/run_none/checkpoints/1/pin").status_code == 404
    assert api.post(f"/runs/{run_id}/checkpoints/ten/pin").status_code == 422


def test_a_start_anew_does_not_delete_what_is_pinned(api: TestClient, run_id: str) -> None:
    api.post(f"/runs/{run_id}/checkpoints/20/pin").raise_for_status()
    api.post(f"/runs/{run_id}/cancel").raise_for_status()

    refused = api.post(f"/runs/{run_id}/retry", json={"from": "start"})

    assert refused.status_code == 409
    assert "pinned checkpoints" in refused.json()["detail"]
    assert "Clone the run" in refused.json()["advice"]
    api.post(f"/runs/{run_id}/checkpoints/20/unpin").raise_for_status()
    assert api.post(f"/runs/{run_id}/retry", json={"from": "start"}).status_code == 200


def test_only_a_researcher_of_the_project_may_pin(
    api: TestClient,
    run_id: str,
    seed: Seed,
    new_user: Callable[..., tuple[TestClient, dict[str, Any]]],
) -> None:
    other = api.post("/projects", json={"name": "other"}).json()["id"]
    codes = {
        role: new_user(role, project)[0].post(f"/runs/{run_id}/checkpoints/10/pin").status_code
        for role, project in (("viewer", seed.project), ("researcher", other))
    }

    assert codes == {"viewer": 403, "researcher": 404}
    assert pinned(api, run_id) == []


def test_a_checkpoint_is_the_best_until_a_later_evaluation_is_better(
    api: TestClient, run_id: str, database: Database
) -> None:
    line = CheckpointLine(step=30, path="checkpoints/step-30", best=True)
    with database.write() as session:
        checkpoints.append(session, runs.get(session, run_id), [line], at=AT)
    assert best(api, run_id) == (30, [30])

    # Its evaluation came between two checkpoints: none of them has its weights.
    said = MetricLine(step=40, time=1.0, values={"eval/best_step": 40.0})
    with database.write() as session:
        points.append(session, run_id, 1, [said], at=AT)

    assert best(api, run_id) == (None, [])


def best(api: TestClient, run_id: str) -> tuple[int | None, list[int]]:
    """The best checkpoint of a run, by the run and by the list of its checkpoints."""
    items = api.get(f"/runs/{run_id}/checkpoints").raise_for_status().json()["items"]
    run = api.get(f"/runs/{run_id}").raise_for_status().json()
    return run["best_checkpoint_step"], [item["step"] for item in items if item["is_best"]]
