"""GET /seed-groups: runs of the store by what they are seeds of, and whether one is better."""

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.domain.seeds.compared import deciding_metric
from backend.schemas.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import points as metrics
from backend.store.tables.models import Model
from tests.backend.runs.conftest import AT, Seed


def made(
    api: TestClient,
    database: Database,
    seed: Seed,
    number: int,
    rewards: Sequence[float],
    **more: Any,
) -> str:
    """A run with this seed and these held-out rewards at steps 0, 10, 20, ..."""
    config = seed.policy_gradient(seed=number, **more)
    run_id = str(api.post("/runs", json=seed.body(config)).json()["id"])
    lines = [
        MetricLine(step=10 * i, time=float(i), values={"eval/reward": value})
        for i, value in enumerate(rewards)
    ]
    with database.write() as session:
        metrics.append(session, run_id, 1, lines, at=AT)
    return run_id


@pytest.fixture
def groups(api: TestClient, database: Database, seed: Seed) -> list[list[str]]:
    """Three seeds that end at 4, 5, 6 and three with another learning rate at 1, 2, 3."""
    high = [made(api, database, seed, n, [0.0, 2.0, 4.0 + n]) for n in range(3)]
    low = [made(api, database, seed, n, [0.0, 1.0 + n], optim={"lr": 0.5}) for n in range(3)]
    return [high, low]


def test_the_answer_comes_by_the_held_out_reward(api: TestClient, groups: list[list[str]]) -> None:
    high, low = groups
    # In any order: runs are grouped by their configs and ordered by their age.
    runs = [one for pair in zip(low, high, strict=True) for one in pair]

    answer = api.get("/seed-groups", params={"runs": ",".join(runs)}).json()

    assert (answer["metric"], answer["title"]) == ("eval/reward", "Held-out reward")
    assert not answer["is_lower_better"]
    first, second = answer["groups"]
    assert (first["runs"], second["runs"]) == (high, low)
    assert (second["config"]["optim.lr"], second["value"]) == (0.5, 2.0)
    assert set(first["config"]) == {"optim.lr"}
    # 4.30265 / sqrt(3) to each side.
    assert first["interval"]["low"] == pytest.approx(5 - 2.48414, abs=1e-4)
    (found,) = answer["differences"]
    assert (found["better"], found["worse"], found["value"]) == (0, 1, 3.0)
    assert found["is_decided"]
    assert found["sentence"] == "The difference is 3 [0.733, 5.27]: more than chance."


def test_two_seeds_are_shown_as_they_are(api: TestClient, groups: list[list[str]]) -> None:
    runs = [*groups[0][:2], *groups[1]]

    answer = api.get("/seed-groups", params={"runs": ",".join(runs)}).json()

    assert answer["groups"][0]["interval"] is None
    assert [one["value"] for one in answer["groups"][0]["values"]] == [4.0, 5.0]
    assert "Fewer than three seeds" in answer["differences"][0]["sentence"]


def test_groups_and_their_configs_call_models_by_their_names(
    api: TestClient, database: Database, seed: Seed
) -> None:
    with database.write() as session:
        kept = session.scalars(select(Model).where(Model.id == seed.policy)).one()
        facts = {"kind": kept.kind, "source": kept.source, "facts": kept.facts}
        session.add(Model(id="model_other", created_at=AT, name="Taught", **facts))
    runs = [made(api, database, seed, n, [1.0], model={"id": one})
            for n, one in enumerate((seed.policy, "model_other"))]  # fmt: skip

    answer = api.get("/seed-groups", params={"runs": ",".join(runs)}).json()

    assert [one["name"] for one in answer["groups"]] == ["model “causal_lm”", "model “Taught”"]
    assert [one["config"]["model.id"] for one in answer["groups"]] == [seed.policy, "model_other"]
    assert answer["records"] == {seed.policy: "“causal_lm”", "model_other": "“Taught”"}


def test_bands_are_of_all_seeds_step_by_step(api: TestClient, groups: list[list[str]]) -> None:
    runs = ",".join(groups[0] + groups[1])

    answer = api.get("/seed-groups/curves", params={"runs": runs, "names": "eval/reward"}).json()

    high, low = answer["items"]
    assert (high["x"], high["n"], high["value"]) == ([0, 10, 20], [3, 3, 3], [0, 2, 5])
    assert (low["x"], low["value"]) == ([0, 10], [0, 2])
    assert high["high"] == [0, 2, pytest.approx(5 + 2.48414, abs=1e-4)]


def test_long_curves_come_in_at_most_so_many_bins(
    api: TestClient, database: Database, seed: Seed
) -> None:
    runs = [made(api, database, seed, n, [float(i) for i in range(500)]) for n in range(3)]

    query = {"runs": ",".join(runs), "names": "eval/reward", "points": 40}
    (curve,) = api.get("/seed-groups/curves", params=query).json()["items"]

    assert 36 <= len(curve["x"]) <= 41
    assert curve["x"][-1] == 4990
    assert curve["value"] == sorted(curve["value"])


def test_runs_without_a_common_measure_are_grouped_without_an_answer(
    api: TestClient, seed: Seed, groups: list[list[str]]
) -> None:
    bare = str(api.post("/runs", json=seed.body(seed.sft())).json()["id"])

    answer = api.get("/seed-groups", params={"runs": f"{bare},{groups[0][0]}"}).json()

    assert (answer["metric"], answer["differences"]) == (None, [])
    assert [group["value"] for group in answer["groups"]] == [None, None]


def test_a_baseline_changes_what_is_measured_beside_it_and_nothing_else() -> None:
    """The model of the start has no baseline, its policies have it."""
    alone = {"method": "evaluate", "prompts": {"id": "snapshot_a"}}
    beside = alone | {"baseline_model": {"id": "model_a"}}

    assert deciding_metric([alone, beside], [{"eval/reward"}] * 2) == ("eval/reward", "")
    metric, why = deciding_metric([alone, beside], [{"eval/win_rate", "eval/reward"}] * 2)
    assert metric is None
    assert "because `baseline_model` differs" in why


def test_rewards_that_measure_something_else_decide_nothing(
    api: TestClient, database: Database, seed: Seed, groups: list[list[str]]
) -> None:
    """A higher number of another reward is no better policy; what was measured outside decides."""
    rule = {"terms": [{"kind": "finished"}]}
    other = made(api, database, seed, 0, [0.0, 100.0], reward=rule)
    runs = ",".join([other, *groups[0]])

    answer = api.get("/seed-groups", params={"runs": runs}).json()

    assert (answer["metric"], answer["differences"]) == (None, [])
    assert "because `reward` differs" in answer["why_none"]
    assert answer["measured_apart"] == {"eval/reward": "reward"}

    for run in [other, *groups[0]]:
        body = {"points": [{"step": 20, "values": {"gold/reward": float(run == other)}}]}
        api.post(f"/runs/{run}/metrics", json=body).raise_for_status()
    assert api.get("/seed-groups", params={"runs": runs}).json()["metric"] == "gold/reward"


def test_groups_that_measure_the_same_are_compared_and_the_others_are_shown(
    api: TestClient, database: Database, seed: Seed, groups: list[list[str]]
) -> None:
    """One group with a reward of its own keeps nobody from an answer about the rest."""
    rule = {"terms": [{"kind": "finished"}]}
    other = made(api, database, seed, 0, [0.0, 100.0], reward=rule)
    runs = ",".join([other, *groups[0], *groups[1]])

    answer = api.get("/seed-groups", params={"runs": runs}).json()

    assert answer["metric"] == "eval/reward"
    assert [group["apart"] for group in answer["groups"]] == [None, None, "reward"]
    assert answer["groups"][2]["value"] == 100.0
    assert [(one["better"], one["worse"]) for one in answer["differences"]] == [(0, 1)]
    assert answer["measured_apart"] == {"eval/reward": "reward"}
