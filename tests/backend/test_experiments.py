"""Experiments: a question with its runs, changed by one person at a time."""

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import points as metrics
from backend.store.metrics import results
from backend.store.runs.table import facts
from backend.store.tables.data import Project
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.backend.runs.conftest import AT, Seed, plant


@pytest.fixture
def seed(service: Any) -> Seed:
    """The store of the service with something to run."""
    return plant(service.app.state.database)


@pytest.fixture
def experiment(api: TestClient, seed: Seed) -> str:
    """The address of an experiment."""
    body = {"project_id": seed.project, "name": "e", "question": "Does KL help?"}
    return f"/experiments/{api.post('/experiments', json=body).json()['id']}"


def run_of(api: TestClient, store: Seed, **config: Any) -> str:
    """A run that belongs to no experiment."""
    body = store.body(store.policy_gradient(**config))
    return str(api.post("/runs", json=body).raise_for_status().json()["id"])


def ended(database: Database, runs: Sequence[str]) -> None:
    """The runs as the worker leaves them at their end."""
    with database.write() as session:
        session.execute(update(Run).where(Run.id.in_(runs)).values(state="succeeded"))


def test_an_experiment_begins_with_its_question(api: TestClient, experiment: str) -> None:
    made = api.get(experiment).json()

    assert (made["question"], made["revision"], made["run_ids"]) == ("Does KL help?", 1, [])
    assert (made["changed_at"], made["archived_at"]) == (None, None)


def test_whoever_was_faster_is_not_overwritten(api: TestClient, experiment: str) -> None:
    first = api.patch(experiment, json={"revision": 1, "conclusion": "**Yes.**"})
    second = api.patch(experiment, json={"revision": 1, "notes": "mine"})

    assert (first.json()["conclusion"], first.json()["revision"]) == ("**Yes.**", 2)
    assert first.json()["question"] == "Does KL help?"
    assert second.status_code == 409
    assert "the newest is revision 2" in second.json()["detail"]
    (line,) = (
        one for one in api.get("/audit").json()["items"] if one["action"] == "change_experiment"
    )
    assert line["data"]["after"]["conclusion"] == "**Yes.**"


def test_runs_come_and_go(api: TestClient, seed: Seed, experiment: str) -> None:
    runs = [run_of(api, seed) for _ in range(3)]
    added = api.post(f"{experiment}/runs", json={"run_ids": runs[1:]}).raise_for_status()
    again = api.post(f"{experiment}/runs", json={"run_ids": runs[1:]}).raise_for_status()

    assert added.json()["run_ids"] == again.json()["run_ids"] == runs[1:]
    assert api.get(f"/runs/{runs[1]}").json()["experiment_id"] == experiment.split("/")[-1]
    assert api.delete(f"{experiment}/runs/{runs[1]}").status_code == 204
    assert api.delete(f"{experiment}/runs/{runs[0]}").status_code == 404
    assert api.get(experiment).json()["run_count"] == 1


def test_archived_runs_are_counted_apart(api: TestClient, seed: Seed, experiment: str) -> None:
    runs = [run_of(api, seed) for _ in range(2)]
    api.post(f"{experiment}/runs", json={"run_ids": runs})
    api.post(f"/runs/{runs[0]}/cancel")
    api.post(f"/runs/{runs[0]}/archive").raise_for_status()

    found = api.get(experiment).json()

    assert (found["run_count"], found["archived_run_count"]) == (1, 1)
    assert found["run_ids"] == runs[1:]


def test_a_run_of_another_project_is_refused(api: TestClient, seed: Seed, experiment: str) -> None:
    project = api.post("/projects", json={"name": "p"}).json()["id"]
    other = api.post("/experiments", json={"project_id": project, "name": "f"}).json()["id"]
    run = run_of(api, seed)

    refused = api.post(f"/experiments/{other}/runs", json={"run_ids": [run]})

    assert refused.status_code == 422
    assert api.get(f"/runs/{run}").json()["experiment_id"] is None


def test_archived_experiments_have_a_list_of_their_own(
    api: TestClient, seed: Seed, experiment: str
) -> None:
    def listed(**query: Any) -> list[str]:
        found = api.get("/experiments", params={"project_id": seed.project, **query}).json()
        return [one["name"] for one in found["items"]]

    assert (listed(), listed(archived=True)) == (["e"], [])
    api.post(f"{experiment}/archive").raise_for_status()
    assert (listed(), listed(archived=True)) == ([], ["e"])
    api.post(f"{experiment}/restore").raise_for_status()
    assert listed() == ["e"]


def test_texts_have_largest_sizes(api: TestClient, experiment: str) -> None:
    for name, size in {"question": 2000, "hypothesis": 2000, "conclusion": 5000,
                       "notes": 50_000}.items():  # fmt: skip
        body = {"revision": 1, name: "a" * (size + 1)}
        assert api.patch(experiment, json=body).status_code == 422
    answer = api.patch(experiment, json={"revision": 1, "notes": "a" * 50_000})
    assert answer.status_code == 200


def test_results_are_a_row_for_each_group(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    """Three seeds end at 1, 2, 3; a fourth run with another rate has only its length."""
    seeds = [run_of(api, seed, seed=n) for n in range(3)]
    other = run_of(api, seed, optim={"lr": 0.5})
    with database_of_service.write() as session:
        for n, run in enumerate(seeds):
            values = {"eval/reward": 1.0 + n, "kl/response": 4.0, "reward/mean": 9.0}
            lines = [
                MetricLine(step=10, time=1.0, values=values),
                MetricLine(step=20, time=2.0, values={"kl/exact": 5.0}),
            ]
            metrics.append(session, run, 1, lines, at=AT)
        lines = [MetricLine(step=10, time=1.0, values={"length/mean": 7.0})]
        metrics.append(session, other, 1, lines, at=AT)

    query = {"runs": ",".join([*seeds, other])}
    answer = api.get("/seed-groups/results", params=query).raise_for_status().json()

    (table,) = answer["tables"]
    assert [one["metric"] for one in table["columns"]] == ["eval/reward", "kl/exact", "length/mean"]
    assert table["remarks"] == []
    assert "4 runs have not ended." in answer["missing"]
    first, second = table["rows"]
    assert (first["runs"], second["config"]) == (seeds, {"optim.lr": 0.5})
    reward, kl, length = first["cells"]
    assert (reward["n"], reward["value"], kl["value"], length) == (3, 2.0, 5.0, None)
    # 4.30265 / sqrt(3) to each side of the mean.
    assert reward["interval"]["low"] == pytest.approx(2 - 2.48414, abs=1e-4)
    assert [cell and cell["value"] for cell in second["cells"]] == [None, None, 7.0]


def evaluated(
    store: Seed, database: Database, number: int, model: str, value: float, **changes: Any
) -> None:
    """An evaluate run of a model that has succeeded, as the worker leaves it."""
    config = {
        "method": "evaluate", "model": {"id": model}, "prompts": {"id": store.prompts},
        "split": "heldout", "samples_per_prompt": 4, "reward": {"terms": []}, "rollout": {},
    }  # fmt: skip
    run = Run(
        id=f"run_eval{number}", created_at=AT, project_id=store.project, user_id=store.user,
        name="e", method="evaluate", config=config, schema_version=1, tags=[], state="succeeded",
        environment={"code": {"commit": "abc"}}, seq=0,
        summary={"eval/pass@1": value, "eval/length": 9.0},
    )  # fmt: skip
    for name, other in changes.items():
        setattr(run, name, other)
    with database.write() as session:
        session.add(run)
        session.flush()
        facts.write(session, run)


def left_by(store: Seed, database: Database, run: str) -> str:
    """The model that a run has left."""
    with database.write() as session:
        session.add(
            Model(
                id=f"model_of_{run[-4:]}", created_at=AT, project_id=store.project, name="left",
                kind="causal_lm", source={"artifact": "k"}, facts={}, run_id=run,
            )
        )  # fmt: skip
    return f"model_of_{run[-4:]}"


def test_evaluations_from_anywhere_in_the_project_count_for_the_runs_of_an_experiment(
    api: TestClient, seed: Seed, experiment: str, database_of_service: Database
) -> None:
    """The evaluations belong to no experiment; archived, failed and foreign ones do not count."""
    store = database_of_service
    runs = [run_of(api, seed, seed=n) for n in range(2)]
    api.post(f"{experiment}/runs", json={"run_ids": runs}).raise_for_status()
    first, second = (left_by(seed, store, run) for run in runs)
    with store.write() as session:
        session.add(Project(id="project_other", created_at=AT, name="other"))
    evaluated(seed, store, 1, first, 0.4)
    evaluated(seed, store, 2, second, 0.6)
    evaluated(seed, store, 3, first, 0.9, archived_at=AT)
    evaluated(seed, store, 4, first, 0.9, state="failed")
    evaluated(seed, store, 5, first, 0.9, project_id="project_other")
    evaluated(seed, store, 6, seed.policy, 0.1)

    answer = api.get(f"{experiment}/results").raise_for_status().json()

    (table,) = answer["tables"]
    assert (table["id"], table["kind"]) == ("score/held-out prompts of prompts", "score")
    start, group = table["rows"]
    assert (start["name"], start["is_start"], start["cells"][0]["value"]) == (
        "causal_lm",
        True,
        0.1,
    )
    assert (group["runs"], group["cells"][0]["n"], group["cells"][0]["value"]) == (runs, 2, 0.5)
    assert [one["measured_by"] for one in group["cells"][0]["points"]] == [
        ["run_eval1"], ["run_eval2"],
    ]  # fmt: skip
    assert answer["commits"] == ["abc"]
    assert api.get("/seed-groups/results", params={"runs": ",".join(runs)}).json() == answer


def test_results_say_how_many_evaluations_they_have_where_there_are_more(
    api: TestClient,
    seed: Seed,
    database_of_service: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "MOST_EVALUATIONS", 2)
    run = run_of(api, seed)
    model = left_by(seed, database_of_service, run)

    def missing_with(number: int) -> str:
        evaluated(seed, database_of_service, number, model, number / 10)
        answer = api.get("/seed-groups/results", params={"runs": run}).raise_for_status().json()
        return str(answer["missing"])

    cut = "Only the newest 2 evaluations of these models are in the tables."
    assert [cut in missing_with(number) for number in (1, 2, 3)] == [False, False, True]


def test_evaluations_of_all_models_decide_before_what_the_runs_measured(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    """The runs' own numbers say the opposite; they chose the checkpoints."""
    store = database_of_service
    runs = [run_of(api, seed), run_of(api, seed, optim={"lr": 0.5})]
    with store.write() as session:
        for run, reward in zip(runs, (1.0, 2.0), strict=True):
            lines = [MetricLine(step=10, time=1.0, values={"eval/reward": reward})]
            metrics.append(session, run, 1, lines, at=AT)
    ended(store, runs)
    evaluated(seed, store, 1, left_by(seed, store, runs[0]), 0.75)

    def answer() -> dict[str, Any]:
        # The newer run is asked for first: letters go by age all the same.
        query = {"runs": ",".join(reversed(runs))}
        found: dict[str, Any] = api.get("/seed-groups", params=query).raise_for_status().json()
        assert [group["runs"] for group in found["groups"]] == [[runs[0]], [runs[1]]]
        return found

    own = answer()
    assert (own["metric"], own["evaluated_on"]) == ("eval/reward", None)
    # The newest value, which is not the one that chose the output.
    assert not own["has_chosen"]
    assert own["differences"][0]["better"] == 1
    # The reward model of the runs; what is right it does not say.
    assert "also judges it here" in own["doubt"]

    evaluated(seed, store, 2, left_by(seed, store, runs[1]), 0.25)
    found = answer()
    # Evaluations that are asked for beside what they measure are in no group.
    evaluated(seed, store, 3, seed.policy, 0.1)
    both = {"runs": ",".join([*runs, "run_eval1", "run_eval2", "run_eval3"])}
    beside = api.get("/seed-groups", params=both).raise_for_status().json()
    assert (found["n_evaluations"], beside["n_evaluations"]) == (0, 3)
    assert beside["groups"] == found["groups"]
    alone = api.get("/seed-groups", params={"runs": "run_eval1,run_eval2"}).json()
    assert len(alone["groups"]) == 2
    assert (found["metric"], found["title"], found["doubt"]) == ("eval/pass@1", "pass@1", "")
    assert (found["evaluated_on"], found["has_chosen"]) == ("held-out prompts of prompts", True)
    assert [group["value"] for group in found["groups"]] == [0.75, 0.25]
    assert found["groups"][0]["values"][0]["step"] is None
    assert found["differences"][0]["better"] == 0


def test_evaluations_decide_while_other_runs_are_queued(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    store = database_of_service
    runs = [run_of(api, seed, optim={"lr": 0.1 * n}) for n in range(1, 4)]
    ended(store, runs[:2])
    for number, run in enumerate(runs[:2]):
        evaluated(seed, store, number, left_by(seed, store, run), 0.25 + number / 2)

    query = {"runs": ",".join(runs)}
    found = api.get("/seed-groups", params=query).raise_for_status().json()

    assert (found["evaluated_on"], found["why_none"]) == ("held-out prompts of prompts", "")
    assert [(one["better"], one["worse"]) for one in found["differences"]] == [(1, 0)]
    assert found["groups"][2]["why_open"] == "the only seed has not succeeded (1 queued)"


def test_runs_that_evaluate_keep_no_outputs(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    store = database_of_service
    runs = [run_of(api, seed), run_of(api, seed, optim={"lr": 0.5})]
    ended(store, runs)
    for number, run in enumerate(runs):
        model = left_by(seed, store, run)
        evaluated(seed, store, number, model, 0.5, summary={})
        with store.write() as session:
            lines = [MetricLine(step=0, time=1.0, values={"eval/reward": float(number)})]
            metrics.append(session, f"run_eval{number}", 1, lines, at=AT)

    def answer(runs: Sequence[str]) -> dict[str, Any]:
        found = api.get("/seed-groups", params={"runs": ",".join(runs)}).raise_for_status().json()
        assert len(found["differences"]) == 1
        return dict(found)

    trained, evaluations = answer(runs), answer(["run_eval0", "run_eval1"])

    assert (evaluations["metric"], evaluations["evaluated_on"]) == ("eval/reward", None)
    assert (trained["has_outputs"], evaluations["has_outputs"]) == (True, False)


@pytest.mark.parametrize("state", ["queued", "running", "failed"])
def test_evaluations_of_all_that_have_succeeded_decide_before_what_the_runs_measured(
    api: TestClient, seed: Seed, database_of_service: Database, state: str
) -> None:
    """By their own rewards, which all have, the first would be better."""
    store = database_of_service
    runs = [run_of(api, seed, optim={"lr": 0.1 * n}) for n in range(1, 4)]
    with store.write() as session:
        for run, reward in zip(runs, (2.0, 1.0, 3.0), strict=True):
            lines = [MetricLine(step=10, time=1.0, values={"eval/reward": reward})]
            metrics.append(session, run, 1, lines, at=AT)
        session.execute(update(Run).where(Run.id == runs[2]).values(state=state))
    ended(store, runs[:2])
    for number, run in enumerate(runs[:2]):
        evaluated(seed, store, number, left_by(seed, store, run), 0.25 + number / 2)
    on = "held-out prompts of prompts"

    def answer(**query: str) -> dict[str, Any]:
        query |= {"runs": ",".join(runs)}
        found: dict[str, Any] = api.get("/seed-groups", params=query).raise_for_status().json()
        return found

    found = answer()
    assert (found["metric"], found["evaluated_on"]) == ("eval/pass@1", on)
    assert found["evaluation_sets"] == [on]
    assert [(one["better"], one["worse"]) for one in found["differences"]] == [(1, 0)]
    assert found["groups"][2]["why_open"] == f"the only seed has not succeeded (1 {state})"
    assert [group["value"] for group in found["groups"]] == [0.25, 0.75, None]
    assert answer(evaluated_on=on) == answer(evaluated_on="no such set") == found

    # It has left a model that nobody has evaluated yet.
    ended(store, runs)
    last = left_by(seed, store, runs[2])
    own = answer(evaluated_on=on)
    assert (own["metric"], own["evaluated_on"]) == ("eval/reward", None)
    assert own["evaluation_sets"] == []
    evaluated(seed, store, 2, last, 0.5)
    assert (answer()["evaluated_on"], answer()["groups"][2]["value"]) == (on, 0.5)


def test_which_of_several_sets_decides_can_be_chosen(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    """They need not agree: on `hard` the other run is better."""
    store = database_of_service
    runs = [run_of(api, seed), run_of(api, seed, optim={"lr": 0.5})]
    ended(store, runs)
    hard = {"name": "hard", "prompts": {"id": seed.prompts}, "split": "heldout",
            "samples_per_prompt": 4}  # fmt: skip
    for number, (run, value) in enumerate(zip(runs, (0.75, 0.25), strict=True)):
        evaluated(seed, store, number, left_by(seed, store, run), value)
        with store.write() as session:
            found = session.scalars(select(Run).where(Run.id == f"run_eval{number}")).one()
            found.config = found.config | {"evaluation_sets": [hard]}
            found.summary = found.summary | {"eval/hard/pass@1": 1 - value}

    def answer(**query: str) -> dict[str, Any]:
        query |= {"runs": ",".join(runs)}
        found: dict[str, Any] = api.get("/seed-groups", params=query).raise_for_status().json()
        return found

    both = answer()
    assert both["evaluation_sets"] == ["hard", "held-out prompts of prompts"]
    assert (both["evaluated_on"], both["differences"][0]["better"]) == ("hard", 1)
    other = answer(evaluated_on="held-out prompts of prompts")
    assert (other["metric"], other["differences"][0]["better"]) == ("eval/pass@1", 0)
    assert answer(evaluated_on="no such set") == both
    assert both["attached"] is None

    for run, value in zip(runs, (1.0, 2.0), strict=True):
        body = {"points": [{"step": 3, "values": {"gold/reward": value}}]}
        api.post(f"/runs/{run}/metrics", json=body).raise_for_status()
    attached = answer()
    assert (attached["metric"], attached["evaluated_on"]) == ("gold/reward", None)
    chosen = answer(evaluated_on="held-out prompts of prompts")
    assert (chosen["metric"], chosen["evaluated_on"]) == (
        "eval/pass@1",
        "held-out prompts of prompts",
    )
    # Either way a page can offer the way to the other.
    for one in (attached, chosen):
        assert one["attached"] == "Gold reward"
        assert one["evaluation_sets"] == ["hard", "held-out prompts of prompts"]


def test_the_sets_of_a_run_have_their_prompts(
    api: TestClient, seed: Seed, database_of_service: Database
) -> None:
    """Of the 10 prompts of the snapshot two are held out."""
    evaluated(seed, database_of_service, 1, seed.policy, 0.4)

    answer = api.get("/runs/run_eval1/sets").raise_for_status().json()

    (one,) = answer["sets"]
    assert (one["label"], one["n_prompts"], one["samples_per_prompt"]) == (
        "held-out prompts of prompts",
        2,
        4,
    )
    assert [(it["measure"], it["title"], it["unit"]) for it in answer["measures"]] == [
        ("pass@1", "pass@1", "share"), ("length", "Length", "tokens"),
    ]  # fmt: skip
    assert one["measures"][0]["value"] == 0.4
    # Nobody trained this model. A policy would have kept its best checkpoint by these prompts.
    assert (one["has_chosen"], one["is_trained"]) == (False, False)
    run = run_of(api, seed)
    evaluated(seed, database_of_service, 2, left_by(seed, database_of_service, run), 0.5)
    (one,) = api.get("/runs/run_eval2/sets").raise_for_status().json()["sets"]
    assert (one["has_chosen"], one["is_trained"]) == (True, False)
    assert api.get("/runs/run_none/sets").status_code == 404


def test_results_are_written_in_each_format(
    api: TestClient, seed: Seed, experiment: str, database_of_service: Database
) -> None:
    run = run_of(api, seed)
    api.post(f"{experiment}/runs", json={"run_ids": [run]}).raise_for_status()
    evaluated(seed, database_of_service, 1, left_by(seed, database_of_service, run), 0.4)

    def written(format: str) -> tuple[str, str]:
        answer = api.get(f"{experiment}/results", params={"format": format}).raise_for_status()
        return answer.headers["content-type"], answer.text

    kind, text = written("markdown")
    assert kind == "text/markdown; charset=utf-8"
    assert "| reinforce\\_pp | 1 | 0.400 | 9 |" in text
    kind, text = written("csv")
    assert kind == "text/csv; charset=utf-8"
    assert text.startswith("table,set,group,")
    kind, text = written("latex")
    assert kind == "application/x-tex; charset=utf-8"
    assert "\\begin{tabular}" in text
    assert api.get(f"{experiment}/results", params={"format": "xml"}).status_code == 422


@pytest.fixture
def database_of_service(service: Any) -> Database:
    """The database that the service works on."""
    database: Database = service.app.state.database
    return database
