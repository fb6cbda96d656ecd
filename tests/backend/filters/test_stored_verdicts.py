"""The verdict of a run that has ended stands beside it, and is renewed with its evidence."""

from datetime import UTC, datetime
from typing import Any

from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import RunState
from backend.store.db import Database
from backend.store.metrics import points, verdicts
from backend.store.runs import runs
from tests.backend.runs.conftest import Seed

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def ended(api: TestClient, database: Database, seed: Seed, rewards: list[float]) -> str:
    """A run with these held-out rewards that has succeeded."""
    run_id = str(api.post("/runs", json=seed.body(seed.policy_gradient())).json()["id"])
    lines = [
        MetricLine(step=10 * i, time=float(i), values={
            "eval/reward": value, "eval/reward_low": value - 0.01, "eval/reward_high": value + 0.01,
        })
        for i, value in enumerate(rewards)
    ]  # fmt: skip
    with database.write() as session:
        points.append(session, run_id, 1, lines, at=AT)
        run = runs.locked(session, run_id)
        runs.transition(session, run, RunState.RUNNING, at=AT)
        runs.transition(session, run, RunState.SUCCEEDED, at=AT)
    return run_id


def kind(api: TestClient, run_id: str) -> Any:
    verdict = api.get(f"/runs/{run_id}").json()["verdict"]
    return verdict and verdict["kind"]


def test_it_is_kept_once_the_run_has_ended(api: TestClient, database: Database, seed: Seed) -> None:
    run_id = ended(api, database, seed, [0.1, 0.5])
    waiting = str(api.post("/runs", json=seed.body(seed.sft())).json()["id"])
    assert kind(api, run_id) is None
    with database.read() as session:
        assert [one for _, one in verdicts.unjudged(session, 0, limit=10)] == [run_id]

    with database.write() as session:
        verdicts.keep(session, run_id)
        verdicts.keep(session, waiting)

    (told,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]
    stored = api.get(f"/runs/{run_id}").json()["verdict"]
    assert stored == {name: told[name] for name in ("kind", "level", "sentence")}
    assert kind(api, waiting) is None
    with database.read() as session:
        assert verdicts.unjudged(session, 0, limit=10) == []
    found = api.get("/runs", params={"filter": "verdict:improved"}).json()["items"]
    assert [run["id"] for run in found] == [run_id]


def test_an_evaluation_from_outside_renews_it(
    api: TestClient, database: Database, seed: Seed
) -> None:
    run_id = ended(api, database, seed, [0.1, 0.5])
    gold = [
        {"step": 0, "values": {"gold/reward": 0.9}},
        {"step": 10, "values": {"gold/reward": 0.1}},
    ]

    api.post(f"/runs/{run_id}/metrics", json={"points": gold})

    (told,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]
    assert kind(api, run_id) == told["kind"] != "improved"


def test_a_run_that_goes_on_has_none(api: TestClient, database: Database, seed: Seed) -> None:
    run_id = ended(api, database, seed, [0.1, 0.5])
    with database.write() as session:
        runs.locked(session, run_id).state = RunState.FAILED
        verdicts.keep(session, run_id)
    assert kind(api, run_id) is not None

    api.post(f"/runs/{run_id}/retry")

    assert kind(api, run_id) is None
