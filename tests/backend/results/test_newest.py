"""Numbers that are shown together are of one step."""

from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.domain.results.newest import of_one_evaluation
from backend.domain.seeds.draws import Draw
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import RunState
from backend.store.db import Database
from backend.store.metrics import points
from tests.backend.results.plain_runs import answer_of, named, policy, table_of
from tests.backend.runs.conftest import AT, Seed, plant


@pytest.fixture
def seed(service: Any) -> Seed:
    """The store of the service with something to run."""
    return plant(service.app.state.database)


@pytest.fixture
def database_of_service(service: Any) -> Database:
    """The store that the service has."""
    database: Database = service.app.state.database
    return database


def run_of(api: TestClient, store: Seed, **config: Any) -> str:
    body = store.body(store.policy_gradient(**config))
    return str(api.post("/runs", json=body).raise_for_status().json()["id"])


def attach(api: TestClient, run: str, step: int, values: dict[str, float]) -> None:
    body = {"points": [{"step": step, "values": values}]}
    api.post(f"/runs/{run}/metrics", json=body).raise_for_status()


def test_a_value_without_ends_has_not_those_of_an_older_step(api: TestClient, seed: Seed) -> None:
    run = run_of(api, seed)
    ends = {"gold/reward_low": 0.8, "gold/reward_high": 1.0}

    def cell() -> Any:
        found = api.get("/seed-groups/results", params={"runs": run}).raise_for_status().json()
        ((cell,),) = [row["cells"] for row in found["tables"][0]["rows"]]
        return cell

    attach(api, run, 1, {"gold/reward": 0.9} | ends)
    assert (cell()["value"], cell()["interval"]) == (0.9, {"low": 0.8, "high": 1.0})
    attach(api, run, 2, {"gold/reward": 1.5})
    assert (cell()["value"], cell()["interval"]) == (1.5, None)


def test_the_newest_evaluation_has_no_measure_that_only_an_older_one_has(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    """At step 20 every response passes, so that none is wrong and has a length."""
    ood = {"name": "ood", "prompts": {"id": seed.prompts}, "split": "train"}
    run = run_of(api, seed, evaluation_sets=[ood])
    at_10 = {"eval/ood/pass@1": 0.5, "eval/ood/length_wrong": 9.0, "eval/ood/length_right": 8.0}
    at_20 = {"eval/ood/pass@1": 1.0, "eval/ood/length_right": 7.0}
    with database_of_service.write() as session:
        lines = [
            MetricLine(step=10, time=1.0, values=at_10 | {"eval/ood/pass@1_low": 0.3}),
            MetricLine(step=20, time=2.0, values=at_20),
            MetricLine(step=30, time=3.0, values={"reward/mean": 1.0}),
        ]
        points.append(session, run, 1, lines, at=AT)

    (found,) = api.get(f"/runs/{run}/sets").raise_for_status().json()["sets"]

    measured = {one["measure"]: (one["value"], one["interval"]) for one in found["measures"]}
    assert measured == {"pass@1": (1.0, None), "length_right": (7.0, None)}


def test_each_set_has_its_own_newest_evaluation() -> None:
    steps = {"eval/reward": 20, "eval/pass@1/people.3": 20, "eval/length_wrong": 10}
    steps |= {"eval/ood/reward": 10, "eval/ood/reward_low": 5, "eval/ood/coverage": 5}
    steps |= {"gold/reward": 3, "gold/reward_low": 1, "gold/other": 1, "kl/exact": 7}

    assert of_one_evaluation(steps, {"ood"}) == {
        "eval/reward", "eval/pass@1/people.3", "eval/ood/reward", "gold/reward", "gold/other",
        "kl/exact",
    }  # fmt: skip


def best_of(metric: str, *steps: int) -> list[bool]:
    """Which of two groups of policies are best by a metric; the first three runs have more."""
    runs = [
        replace(
            policy(f"{name}{n}", n + 3 * (name == "r"), seed=n, estimator=name),
            draw=Draw(f"{name}{n}", n, RunState.SUCCEEDED, steps=20),
        )
        for name in ("g", "r")
        for n in range(3)
    ]
    values = [0.89, 0.9, 0.91, 0.49, 0.5, 0.51]
    measured = [
        replace(run, values={metric: value}, steps={metric: step})
        for run, value, step in zip(runs, values, steps, strict=True)
    ]
    rows = table_of(answer_of(measured, []), "runs").rows
    return [row.cells[0].is_best for row in rows if row.cells[0] is not None]


def test_nobody_is_best_by_values_of_different_steps() -> None:
    """*Compare* says of such seeds that they were measured at different steps."""
    assert best_of("gold/reward", 20, 20, 20, 20, 20, 20) == [True, False]
    assert best_of("gold/reward", 20, 20, 10, 20, 20, 20) == [False, False]
    assert best_of("gold/reward", 20, 20, 20, 10, 10, 10) == [False, False]


def test_nobody_is_best_by_the_prompts_that_chose_the_checkpoints() -> None:
    assert best_of("eval/reward", 20, 20, 20, 20, 20, 20) == [False, False]


def test_runs_that_measured_a_set_themselves_at_different_steps_have_no_best() -> None:
    def best(last: int) -> list[bool]:
        values = [0.89, 0.9, 0.91, 0.49, 0.5, 0.51]
        runs = [
            replace(
                policy(
                    f"r{n}",
                    n,
                    seed=n % 3,
                    estimator="grpo" if n < 3 else "rloo",
                    evaluation_sets=[named("ood")],
                ),
                values={"eval/ood/pass@1": value, "eval/ood/length": 9.0},
                steps=dict.fromkeys(("eval/ood/pass@1", "eval/ood/length"), last if n == 5 else 20),
                draw=Draw(f"r{n}", n % 3, RunState.SUCCEEDED, steps=20),
            )
            for n, value in enumerate(values)
        ]
        rows = table_of(answer_of(runs, []), "score/ood").rows
        return [row.cells[0].is_best for row in rows if row.cells[0] is not None]

    assert best(20) == [True, False]
    assert best(10) == [False, False]
