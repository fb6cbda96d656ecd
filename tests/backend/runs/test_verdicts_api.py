"""GET /verdicts: the curves of the store, judged, for whoever sees the runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from backend.domain.verdict.judging import is_looked_at
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Method
from backend.store.db import Database
from backend.store.metrics import curves, verdicts
from backend.store.metrics import points as metrics
from backend.store.runs import events, runs
from backend.store.runs.events import NewEvent
from backend.store.runs.runs import NewRun
from backend.store.tables.data import Snapshot
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.backend.runs.conftest import AT, Seed


@pytest.fixture
def run_id(api: TestClient, seed: Seed) -> str:
    """A queued run that optimises a policy."""
    return str(api.post("/runs", json=seed.body(seed.policy_gradient())).json()["id"])


def tell(
    database: Database, run_id: str, heldout: Sequence[float], *, steps: int, slope: float = 0.01
) -> None:
    """A training reward that rises at every step, and evaluations at equal distances."""
    lines = [
        MetricLine(step=step, time=float(step), values={"reward/mean": slope * step + step % 2})
        for step in range(1, steps + 1)
    ]
    every = steps // max(1, len(heldout) - 1)
    for i, value in enumerate(heldout):
        ends = {"eval/reward_low": value - 0.05, "eval/reward_high": value + 0.05}
        values = {"eval/reward": value, **ends}
        lines.append(MetricLine(step=i * every, time=float(i * every), values=values))
    with database.write() as session:
        metrics.append(session, run_id, 1, lines, at=AT)


def test_a_run_without_metrics_waits(api: TestClient, run_id: str) -> None:
    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert (found["run"], found["kind"], found["level"]) == (run_id, "waiting", "none")


@pytest.mark.parametrize("steps", [100, 5000])
def test_what_is_held_out_decides_however_long_the_run(
    api: TestClient, database: Database, run_id: str, steps: int
) -> None:
    tell(database, run_id, [0.1, 0.8, 0.26], steps=steps, slope=10 / steps)

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert (found["kind"], found["best_step"]) == ("over_optimized", steps // 2)
    assert (
        found["sentence"] == f"Improved until step {steps // 2:,}, then over-optimized the reward."
    )
    assert found["gauges"][0]["interval"] == {
        "low": pytest.approx(0.21),
        "high": pytest.approx(0.31),
    }
    # As many as the snapshot holds out.
    assert found["gauges"][0]["beside"] == "2 prompts, was 0.100 at step 0"


@pytest.mark.parametrize("steps", [1000, 10_000])
def test_a_length_that_jumps_among_the_first_steps_is_seen_however_long_the_run(
    api: TestClient, database: Database, seed: Seed, run_id: str, steps: int
) -> None:
    """From 20 tokens to 60 within 60 steps, which are half a bucket of the longer run."""
    learned = {"terms": [{"kind": "model"}]}
    with database.write() as session:
        run = runs.locked(session, run_id)
        run.config = run.config | {"reward": learned}
    tell(database, run_id, [0.1, 0.5, 0.8], steps=steps, slope=10 / steps)
    lengths = [
        MetricLine(step=step, time=float(step), values={"length/mean": value})
        for step in range(1, steps + 1)
        for value in [20 + 40 * min(1, step / 60) + 0.5 * (-1) ** step]
    ]
    with database.write() as session:
        metrics.append(session, run_id, 1, lengths, at=AT)

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert (found["kind"], found["level"]) == ("inflated", "bad")
    assert "the responses grew from 20.2 to 60.0 tokens" in found["sentence"]
    # The last fifth of the means of 8 or 64 steps each, from the first step of the first of them.
    first = {1000: "808", 10_000: "8,064"}[steps]
    told = f"mean of steps {first} to {steps:,}, was 20.2 at step 1"
    assert found["gauges"][3]["beside"] == told


def test_evaluations_come_whole_however_many_there_are(
    api: TestClient, database: Database, run_id: str
) -> None:
    """2,000 evaluations: the best is one of them, not the mean of several."""
    values = [0.1 + 0.0001 * i + (0.5 if i == 1500 else 0) for i in range(2000)]
    tell(database, run_id, values, steps=1999, slope=0.01)

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert found["best_step"] == 1500
    assert found["gauges"][0]["value"] == pytest.approx(values[-1])
    assert found["gauges"][0]["beside"] == "2 prompts, was 0.100 at step 0"


def test_parts_of_a_breakdown_are_not_read() -> None:
    assert is_looked_at("eval/pass@1", Method.POLICY_GRADIENT)
    assert not is_looked_at("eval/pass@1/people.3", Method.POLICY_GRADIENT)


def test_what_happened_tells_of_resumes(api: TestClient, database: Database, run_id: str) -> None:
    tell(database, run_id, [0.1, 0.8, 0.26], steps=100)
    with database.write() as session:
        told = [
            NewEvent("start", {"attempt": n, "step": s, "environment": {}})
            for n, s in ((1, 0), (2, 40), (3, 0))
        ]
        events.append(session, run_id, told, at=AT)
        session.execute(update(Run).where(Run.id == run_id).values(attempt=3))

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    resumed = [
        (one["step"], one["sentence"])
        for one in found["happened"]
        if one["sentence"].startswith("Attempt")
    ]
    assert resumed == [
        (0, "Attempt 3 began again at step 0."),
        (40, "Attempt 2 resumed after step 40."),
    ]


def test_gold_that_is_attached_decides_at_once(
    api: TestClient, database: Database, run_id: str
) -> None:
    tell(database, run_id, [0.1, 0.5, 0.8], steps=100, slope=0.1)
    gold = [(0, 0.5), (50, 0.6), (100, 0.1)]
    points = [
        {"step": step, "values": {"gold/win_rate": v, "gold/win_rate_low": v - 0.05,
                                  "gold/win_rate_high": v + 0.05}}
        for step, v in gold
    ]  # fmt: skip
    api.post(f"/runs/{run_id}/metrics", json={"points": points}).raise_for_status()

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert (found["kind"], found["judged_by"]) == ("over_optimized", "gold/win_rate")


def test_a_win_rate_by_people_is_named_with_them(
    api: TestClient, database: Database, run_id: str
) -> None:
    tell(database, run_id, [0.1, 0.5, 0.8], steps=100, slope=0.1)
    values = {"gold/win_rate": 0.64, "gold/win_rate_low": 0.55, "gold/win_rate_high": 0.72}
    body = {"points": [{"step": 100, "values": values}], "judge": "people, 45 pairs against sft"}
    api.post(f"/runs/{run_id}/metrics", json=body).raise_for_status()

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert found["judged_by"] == "eval/reward"
    assert found["reason"].endswith(
        "the win rate of the weights of step 100 was 64 % [55, 72], a tie counting half (judged "
        "by people, 45 pairs against sft)."
    )


def attach(
    api: TestClient, run_id: str, judge: str, points: Mapping[int, Mapping[str, float | None]]
) -> None:
    """Attach values by step, and say who judged them; "" leaves that out."""
    body: dict[str, Any] = {"points": [{"step": s, "values": v} for s, v in points.items()]}
    if judge:
        body["judge"] = judge
    api.post(f"/runs/{run_id}/metrics", json=body).raise_for_status()


def said_of_the_win_rate(api: TestClient, run_id: str) -> str:
    """What the verdict says behind the share of pairs that the run won."""
    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]
    return str(found["reason"].rpartition(", a tie counting half")[2])


def test_a_win_rate_among_many_metrics_is_named_with_its_judge(
    api: TestClient, database: Database, run_id: str
) -> None:
    tell(database, run_id, [0.1, 0.5, 0.8], steps=100, slope=0.1)
    values = {f"gold/a{n}": 0.5 for n in range(10)} | {"gold/win_rate": 0.61}

    attach(api, run_id, "three annotators", {100: values})

    assert said_of_the_win_rate(api, run_id) == " (judged by three annotators)."


def test_a_win_rate_that_nobody_is_named_for_has_no_judge(
    api: TestClient, database: Database, run_id: str
) -> None:
    tell(database, run_id, [0.1, 0.5, 0.8], steps=100, slope=0.1)
    attach(api, run_id, "three annotators", {100: {"gold/win_rate": 0.61}})

    attach(api, run_id, "", {100: {"gold/win_rate": 0.48}})

    assert said_of_the_win_rate(api, run_id) == "."


def test_a_judge_has_judged_what_was_attached_and_nothing_between(
    api: TestClient, database: Database, run_id: str
) -> None:
    tell(database, run_id, [0.1, 0.5, 0.8], steps=1000, slope=0.01)
    rate, score = {"gold/win_rate": 0.61}, {"gold/score": 0.5}
    attach(api, run_id, "A", {800: rate})

    # Another metric at the same step, and the same metric before and behind.
    attach(api, run_id, "B", {100: rate, 800: score})
    assert said_of_the_win_rate(api, run_id) == " (judged by A)."

    attach(api, run_id, "C", {100: rate, 900: rate})
    assert said_of_the_win_rate(api, run_id) == " (judged by C)."
    attach(api, run_id, "", {900: {"gold/win_rate": None}})
    assert said_of_the_win_rate(api, run_id) == " (judged by A)."


def test_several_runs_are_judged_in_the_order_they_are_named(
    api: TestClient, database: Database, seed: Seed, run_id: str
) -> None:
    other = str(api.post("/runs", json=seed.body(seed.policy_gradient())).json()["id"])
    tell(database, run_id, [0.1, 0.5, 0.8], steps=100)

    answer = api.get("/verdicts", params={"runs": f"{other},{run_id}"}).json()["items"]

    assert [(one["run"], one["kind"]) for one in answer] == [
        (other, "waiting"),
        (run_id, "improved"),
    ]


def test_many_long_runs_are_read_in_several_answers(
    api: TestClient, database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three runs of 250 means and nine evaluations each, where an answer may hold 600."""
    run_ids = [
        str(api.post("/runs", json=seed.body(seed.policy_gradient())).json()["id"])
        for _ in range(3)
    ]
    for run_id in run_ids:
        tell(database, run_id, [0.1, 0.5, 0.8], steps=600)
    for module in (curves, verdicts):
        monkeypatch.setattr(module, "MOST_BUCKETS", 600)

    answer = api.get("/verdicts", params={"runs": ",".join(run_ids)}).json()["items"]

    assert [(one["run"], one["kind"]) for one in answer] == [(id_, "improved") for id_ in run_ids]


def test_an_unknown_run_is_not_found(api: TestClient, run_id: str) -> None:
    assert api.get("/verdicts", params={"runs": f"{run_id},run_nowhere"}).status_code == 404


def test_a_step_that_the_run_does_not_have_is_refused_and_a_value_can_be_taken_back(
    api: TestClient, database: Database, run_id: str
) -> None:
    """A typing error at step 1000 would be the newest value, and decide, for ever."""
    tell(database, run_id, [0.1, 0.5, 0.8], steps=100, slope=0.1)
    with database.write() as session:
        run = runs.locked(session, run_id)
        run.state, run.step, run.steps = "succeeded", 100, 200

    def attach(step: int, value: float | None) -> int:
        ends = {f"gold/win{end}": None if value is None else value + by for end, by in ENDS.items()}
        points = [{"step": step, "values": {"gold/win": value, **ends}}]
        return api.post(f"/runs/{run_id}/metrics", json={"points": points}).status_code

    def judged() -> tuple[str, str]:
        (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]
        return found["kind"], found["judged_by"]

    assert (attach(0, 0.8), attach(101, 0.2)) == (201, 422)
    assert judged() == ("improved", "eval/reward")
    assert attach(100, 0.2) == 201
    assert judged() == ("over_optimized", "gold/win")
    assert attach(100, None) == 201
    assert judged() == ("improved", "eval/reward")


ENDS = {"_low": -0.05, "_high": 0.05}


def test_while_a_run_goes_on_its_planned_steps_may_be_named(
    api: TestClient, database: Database, run_id: str
) -> None:
    with database.write() as session:
        run = runs.locked(session, run_id)
        run.state, run.step, run.steps = "running", 100, 200

    def attach(step: int) -> Any:
        points = [{"step": step, "values": {"gold/win": 0.5}}]
        return api.post(f"/runs/{run_id}/metrics", json={"points": points})

    assert attach(200).status_code == 201
    refused = attach(201)
    assert refused.status_code == 422
    assert "a point is at step 201, but the run goes up to step 200" in refused.json()["detail"]


def _evaluated(api: TestClient, database: Database, seed: Seed, model: str = "model_policy") -> str:
    """The sentence on an evaluation of all prompts of the snapshot."""
    config = {
        "method": "evaluate",
        "model": {"id": model},
        "prompts": {"id": seed.prompts},
        "reward": {"terms": [{"kind": "finished"}]},
    }
    with database.write() as session:
        new = NewRun(seed.project, seed.user, "a run", "evaluate", config, schema_version=1)
        run_id = runs.create(session, new, at=AT).id
        values = {"eval/reward": 0.5}
        metrics.append(session, run_id, 1, [MetricLine(step=1, time=1.0, values=values)], at=AT)
    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]
    return str(found["sentence"])


def test_an_evaluation_of_all_prompts_counts_the_training_prompts(
    api: TestClient, database: Database, seed: Seed
) -> None:
    sentence = _evaluated(api, database, seed)
    assert sentence == "The mean reward on all 10 prompts, 8 of them training prompts, is 0.500."


def test_prompts_that_were_never_split_are_training_prompts_of_who_learned_them(
    api: TestClient, database: Database, seed: Seed, run_id: str
) -> None:
    """Also of a model that began with the one that learned them."""
    with database.write() as session:
        session.execute(update(Snapshot).values(counts={"train": {"records": 8}}))
        for model_id, made_by in (("m1", run_id), ("m2", run_id)):
            session.add(
                Model(
                    id=model_id, created_at=AT, name=model_id, kind="causal_lm", run_id=made_by,
                    source={"hub_id": "owner/name"}, facts={"vocab_size": 512},
                    project_id=seed.project,
                )
            )  # fmt: skip
    with database.write() as session:
        config = seed.sft(model={"id": "m1"})
        new = NewRun(seed.project, seed.user, "a run", "sft", config, schema_version=1)
        later = runs.create(session, new, at=AT).id
        session.execute(update(Model).where(Model.id == "m2").values(run_id=later))
    assert _evaluated(api, database, seed) == "The mean reward is 0.500."
    for learned in ("m1", "m2"):
        sentence = _evaluated(api, database, seed, learned)
        assert sentence == "The mean reward on training prompts is 0.500."


def _started(database: Database, seed: Seed, config: dict[str, Any]) -> str:
    with database.write() as session:
        new = NewRun(seed.project, seed.user, "a run", config["method"], config, schema_version=1)
        return runs.create(session, new, at=AT).id


@pytest.mark.parametrize(("kind", "is_known"), [("preferences", True), ("demonstrations", False)])
def test_a_continued_run_is_known_to_hold_nothing_out_by_its_snapshot(
    api: TestClient, database: Database, seed: Seed, kind: str, is_known: bool
) -> None:
    """The seed holds out two demonstrations and no preference."""
    method = {"preferences": "dpo", "demonstrations": "sft"}[kind]
    config = {"method": method, "model": {"id": seed.policy}, kind: {"id": f"snapshot_{kind}"}}
    run_id = _started(database, seed, config)
    with database.write() as session:
        line = MetricLine(step=41, time=1.0, values={"loss": 0.5})
        metrics.append(session, run_id, 1, [line], at=AT)

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert (found["sentence"] == "Too early to say.") == (not is_known)
    assert found["sentence"].endswith("there are no held-out records.") == is_known


def test_a_loss_that_is_not_finite_is_known_to_have_been_measured(
    api: TestClient, database: Database, seed: Seed
) -> None:
    run_id = _started(database, seed, seed.sft())
    values: dict[int, dict[str, float | None]] = {
        0: {"eval/loss": None, "eval/prompts": 2.0},
        1: {"loss": 0.5, "grad_norm": None},
    }
    with database.write() as session:
        lines = [MetricLine(step=s, time=1.0, values=told) for s, told in values.items()]
        metrics.append(session, run_id, 1, lines, at=AT)

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    missing = [gauge["missing"] for gauge in found["gauges"]]
    assert missing == ["None of its values is finite.", "", "None of its values is finite."]


@pytest.mark.parametrize(
    ("began_with", "data"),
    [
        ("nothing", "the same"),
        ("model", "other"),
        ("model", "the same"),
        ("model", "a copy"),
        ("checkpoint", "the same"),
        ("clone", "the same"),
    ],
)
def test_a_named_set_decides_unless_what_the_policy_began_with_has_learned_it(
    api: TestClient, database: Database, seed: Seed, began_with: str, data: str
) -> None:
    """A clone that begins with its config alone has learned nothing of the run it is of."""
    has_learned = began_with in ("model", "checkpoint") and data != "other"
    before = _started(database, seed, seed.policy_gradient())
    with database.write() as session:
        session.execute(update(Snapshot).values(counts={"train": {"records": 8}}))
        fresh = Snapshot(
            id="snapshot_other", created_at=AT, project_id=seed.project, name="other",
            kind="prompts", sha256="f" * 64, heldout_fraction=0, seed=0, filter={},
            counts={"train": {"records": 8}},
        )  # fmt: skip
        session.add(fresh)
        session.flush()
        if began_with == "model":
            session.execute(update(Model).where(Model.id == seed.policy).values(run_id=before))
        sha256 = session.scalar(select(Snapshot.sha256).where(Snapshot.id == seed.prompts))
        config = {"prompts": {"id": seed.prompts, "sha256": sha256}}
        changed = {**seed.policy_gradient(), **config}
        session.execute(update(Run).where(Run.id == before).values(config=changed))
    prompts = {
        "the same": {"id": seed.prompts},
        "a copy": {"id": "snapshot_copy", "sha256": sha256},
        "other": {"id": "snapshot_far"},
    }[data]
    sets = [{"name": "ood", "prompts": prompts, "split": "all"}]
    config = seed.policy_gradient(prompts={"id": "snapshot_other"}, evaluation_sets=sets)
    run_id = _started(database, seed, config)
    with database.write() as session:
        if began_with in ("checkpoint", "clone"):
            step = 5 if began_with == "checkpoint" else None
            values = {"parent_id": before, "parent_step": step}
            session.execute(update(Run).where(Run.id == run_id).values(values))
    ends = {"": 0.0, "_low": -0.05, "_high": 0.05}
    lines = [
        MetricLine(
            step=step,
            time=1.0,
            values={f"eval/ood/reward{end}": step / 10 + by for end, by in ends.items()}
            | {"eval/ood/coverage": 1.0, "length/mean": 20.0},
        )
        for step in (0, 10)
    ]
    with database.write() as session:
        metrics.append(session, run_id, 1, lines, at=AT)

    (found,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]

    assert found["judged_by"] == (None if has_learned else "eval/ood/reward")
    assert found["kind"] == ("unjudged" if has_learned else "improved")


def test_a_run_with_very_many_curves_is_judged_by_those_that_rules_know(
    api: TestClient, database: Database, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(database, run_id, [0.1, 0.8, 0.9], steps=100)
    (before,) = api.get("/verdicts", params={"runs": run_id}).json()["items"]
    many = {f"gold/item/{number:04}": 1.0 for number in range(600)}
    lines = [MetricLine(step=step, time=float(step), values=many) for step in range(1, 4)]
    with database.write() as session:
        metrics.append(session, run_id, 1, lines, at=AT)
    # As if each curve were long: an answer holds fewer buckets than the run has curves.
    monkeypatch.setattr(curves, "MOST_BUCKETS", 1_000)
    monkeypatch.setattr(verdicts, "MOST_BUCKETS", 1_000)

    with database.read() as session:
        (found,) = verdicts.of_runs(session, [run_id])

    assert (found.kind, found.sentence) == (before["kind"], before["sentence"])
