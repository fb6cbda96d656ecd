"""GET /seed-groups: runs of the store by what they are seeds of, and whether one is better."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.domain.seeds.compared import deciding_metric
from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import points as metrics
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.backend.runs.conftest import AT, Seed

RULE = {"terms": [{"kind": "finished"}]}
OTHER_RULE = {"terms": [{"kind": "length", "high": 8}]}


def made(
    api: TestClient,
    database: Database,
    seed: Seed,
    number: int,
    rewards: Sequence[float],
    **more: Any,
) -> str:
    """A run that succeeded, with these held-out rewards at steps 0, 10, 20, ...

    Its reward is a rule by default.
    """
    state = more.pop("state", "succeeded")
    config = seed.policy_gradient(seed=number, **{"reward": RULE} | more)
    run_id = str(api.post("/runs", json=seed.body(config)).json()["id"])
    lines = [
        MetricLine(step=10 * i, time=float(i), values={"eval/reward": value})
        for i, value in enumerate(rewards)
    ]
    with database.write() as session:
        metrics.append(session, run_id, 1, lines, at=AT)
        changed(session, run_id, state=state)
    return run_id


def changed(session: Session, run_id: str, **values: Any) -> None:
    """The run as the worker would have left it."""
    session.execute(update(Run).where(Run.id == run_id).values(values))


def asked(api: TestClient, runs: Iterable[str], **query: str) -> dict[str, Any]:
    """The groups of these runs."""
    answer = api.get("/seed-groups", params={"runs": ",".join(runs), **query})
    found: dict[str, Any] = answer.raise_for_status().json()
    return found


def curves(api: TestClient, **query: Any) -> list[dict[str, Any]]:
    """The curves of groups, their values as they are."""
    answer = api.get("/seed-groups/curves", params={"exact": True} | query)
    items = answer.raise_for_status().json()["items"]
    for one in items:
        values = one.pop("y")
        assert all((column["low"], column["unit"]) == (0, 1) for column in values.values())
        names = {"value": "value", "low": "lower", "high": "upper"}
        one |= {own: values[name]["numbers"] for own, name in names.items()}
    return list(items)


@pytest.fixture
def groups(api: TestClient, database: Database, seed: Seed) -> list[list[str]]:
    """Three seeds that end at 4, 5, 6 and three with another learning rate at 1, 2, 3."""
    high = [made(api, database, seed, n, [0.0, 2.0, 4.0 + n]) for n in range(3)]
    low = [made(api, database, seed, n, [0.0, 1.0, 1.0 + n], optim={"lr": 0.5}) for n in range(3)]
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
    assert found["sentence"] == "The difference of means is 3.00 [0.73, 5.27]: more than chance."


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

    high, low = curves(api, runs=runs, names="eval/reward")

    assert (high["x"], high["n"], high["value"]) == ([0, 10, 20], [3, 3, 3], [0, 2, 5])
    assert (low["x"], low["value"]) == ([0, 10, 20], [0, 1, 2])
    assert not high["is_iqm"]
    assert high["high"] == [0, 2, pytest.approx(5 + 2.48414, abs=1e-4)]


def test_curves_are_sent_as_whole_numbers_and_compressed(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """A value is told to 1/8192 of the range of its column."""
    rng = Random(7)
    runs = [made(api, database, seed, n, [rng.gauss(5, 2) for _ in range(400)]) for n in range(4)]
    query = {"runs": ",".join(runs), "names": "eval/reward"}
    (exact,) = curves(api, **query)

    plain = api.get("/seed-groups/curves", params=query, headers={"Accept-Encoding": "identity"})
    packed = api.get("/seed-groups/curves", params=query)

    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == (
        "gzip",
        "Accept-Encoding",
    )
    assert "Content-Encoding" not in plain.headers
    assert packed.json() == plain.json()
    (sent,) = packed.json()["items"]
    y = sent["y"]
    assert (sent["x"], sent["n"], sent["n_nan"]) == (exact["x"], exact["n"], exact["n_nan"])
    for name, own in (("value", "value"), ("lower", "low"), ("upper", "high")):
        low, unit, numbers = y[name]["low"], y[name]["unit"], y[name]["numbers"]
        assert all(isinstance(one, int) and 0 <= one <= 8192 for one in numbers)
        assert unit / 2 <= (max(exact[own]) - min(exact[own])) / 8192
        for number, value in zip(numbers, exact[own], strict=True):
            assert low + unit * number == pytest.approx(value, abs=0.5001 * unit)


def test_a_mean_that_stays_and_a_zero_are_told_as_they_are(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """However wide the band around them is."""
    spreads = [[0.3] * 3, [0.1, 0.2, 0.6], [0.3, 0.05, 0.55], [0.31, 0.3, 0.29]]
    stays = [made(api, database, seed, n, [one[n] for one in spreads]) for n in range(3)]
    around_0 = [[-0.7, 0.0, 0.4], [-0.7, 0.0, 0.5], [-0.7, 0.0, 0.9]]
    crosses = [
        made(api, database, seed, n, values, reward=OTHER_RULE) for n, values in enumerate(around_0)
    ]

    query = {"runs": ",".join(stays + crosses), "names": "eval/reward"}
    answer = api.get("/seed-groups/curves", params=query).raise_for_status().json()

    constant, crossing = (told(one["y"]["value"]) for one in answer["items"])
    assert constant == pytest.approx([0.3] * 4, abs=1e-15)
    assert crossing == [pytest.approx(-0.7, abs=2e-4), 0.0, pytest.approx(0.6, abs=2e-4)]


def test_seeds_that_agree_show_no_spread(api: TestClient, database: Database, seed: Seed) -> None:
    """Each column has a range of its own, in which one value comes out as three."""
    spreads = [[0.3, 0.3, 0.3], [0.1, 0.27, 0.6], [0.0, 0.0, 0.0], [0.71, 0.3, 0.29]]
    runs = [made(api, database, seed, n, [one[n] for one in spreads]) for n in range(3)]
    query = {"runs": ",".join(runs), "names": "eval/reward"}
    (exact,) = curves(api, **query)

    (sent,) = api.get("/seed-groups/curves", params=query).raise_for_status().json()["items"]

    lower, upper = (told(sent["y"][end]) for end in ("lower", "upper"))
    assert [one is None for one in lower] == [True, False, True, False]
    assert [one is None for one in upper] == [True, False, True, False]
    assert exact["low"][0] == exact["value"][0] == exact["high"][0] == 0.3


def told(column: dict[str, Any]) -> list[float | None]:
    """The values of a packed column."""
    low, unit = column["low"], column["unit"]
    return [None if number is None else low + unit * number for number in column["numbers"]]


def test_values_that_are_not_finite_are_told_with_the_mean_of_the_others(
    api: TestClient, database: Database, seed: Seed
) -> None:
    runs = [made(api, database, seed, n, [0.0]) for n in range(4)]
    with database.write() as session:
        for place, run in enumerate(runs):
            lines = [
                MetricLine(
                    step=step, time=float(step), values={"loss": None if step == place else 1.0}
                )
                for step in range(1, 4000)
            ]
            metrics.append(session, run, 1, lines, at=AT)

    asked = {"runs": ",".join(runs), "names": "loss"}
    for more in ({"to": "9"}, {}, {"x": "time"}):
        (curve,) = curves(api, **(asked | more))
        assert len(curve["n_nan"]) == len(curve["x"])
        # The first run has none: its step is none that was logged.
        assert sum(curve["n_nan"]) == 3
        assert {one for one in curve["value"] if one is not None} == {1.0}
    (begun,) = curves(api, **(asked | {"to": "9"}))
    assert (begun["n"][:4], begun["n_nan"][:4]) == ([3, 3, 3, 4], [1, 1, 1, 0])


def test_by_tokens_a_seed_counts_between_its_evaluations(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Each seed was evaluated at other tokens; all rise by one every 100 tokens."""
    runs = [made(api, database, seed, n, [0.0]) for n in range(3)]
    with database.write() as session:
        for run, tokens in zip(runs, ([200, 400], [100, 400], [150, 300]), strict=True):
            lines = [
                MetricLine(step=10 * i, time=float(i), tokens=t, values={"eval/reward": t / 100})
                for i, t in enumerate(tokens, start=1)
            ]
            metrics.append(session, run, 1, lines, at=AT)

    query = {"runs": ",".join(runs), "names": "eval/reward", "x": "tokens"}
    (curve,) = curves(api, **query)

    assert curve["x"] == [0, 100, 150, 200, 300, 400]
    assert curve["n"] == [3, 3, 3, 3, 3, 2]
    assert curve["value"] == [*(pytest.approx(x / 100) for x in curve["x"][:-1]), None]

    # A part says the same of its places: beyond its borders the seeds have points, too.
    window = query | {"from": "140", "to": "260"}
    (part,) = curves(api, **window)
    assert (part["x"], part["n"]) == ([150, 200], [3, 3])
    assert part["value"] == [pytest.approx(1.5), pytest.approx(2.0)]
    nothing = query | {"from": "110", "to": "140"}
    assert curves(api, **nothing)[0]["x"] == []


def test_a_part_of_a_curve_has_the_estimator_of_the_whole(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Twelve seeds, of which four end before the part begins."""
    runs = [made(api, database, seed, n, [1.0] * (6 if n < 8 else 2)) for n in range(12)]

    for axis in ("step", "time"):
        query = {"runs": ",".join(runs), "names": "eval/reward", "x": axis, "points": 300}
        window = query | ({"from": "30"} if axis == "step" else {"from": "3"})
        (whole,) = curves(api, **query)
        (part,) = curves(api, **window)

        assert (whole["is_iqm"], part["is_iqm"]) == (True, True)
        assert set(part["n"]) == {8}


def test_long_curves_come_in_at_most_so_many_buckets(
    api: TestClient, database: Database, seed: Seed
) -> None:
    runs = [made(api, database, seed, n, [float(i) for i in range(500)]) for n in range(3)]

    query = {"runs": ",".join(runs), "names": "eval/reward", "points": 40}
    (curve,) = curves(api, **query)

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


def test_runs_that_have_measured_nothing_yet_leave_the_others_their_answer(
    api: TestClient, database: Database, seed: Seed, groups: list[list[str]]
) -> None:
    queued = [made(api, database, seed, n, [], state="queued", optim={"lr": 0.1}) for n in range(3)]
    # It trains, and was not evaluated yet.
    begun = made(api, database, seed, 3, [], state="running", optim={"lr": 0.1})
    with database.write() as session:
        metrics.append(
            session, begun, 1, [MetricLine(step=1, time=1.0, values={"reward/mean": 0.5})], at=AT
        )

    answer = asked(api, [*groups[0], *groups[1], *queued, begun])

    assert (answer["metric"], answer["why_none"]) == ("eval/reward", "")
    assert [(one["better"], one["worse"]) for one in answer["differences"]] == [(0, 1)]
    assert [one["why_open"] for one in answer["groups"]] == [
        "",
        "",
        "4 of 4 seeds have not succeeded (3 queued, 1 running)",
    ]


def test_what_was_attached_to_all_that_have_succeeded_decides(
    api: TestClient, database: Database, seed: Seed, groups: list[list[str]]
) -> None:
    """By the runs' own reward, which the one at work has, too, the first group would be better."""
    high, low = groups
    other = made(api, database, seed, 3, [0.0, 9.0], state="running", optim={"lr": 0.1})
    for place, run in enumerate([*high, *low]):
        body = {"points": [{"step": 20, "values": {"gold/reward": float(place)}}]}
        api.post(f"/runs/{run}/metrics", json=body).raise_for_status()

    answer = asked(api, [*high, *low, other])

    assert (answer["metric"], answer["attached"]) == ("gold/reward", "Gold reward")
    assert [(one["better"], one["worse"]) for one in answer["differences"]] == [(1, 0)]
    assert [group["why_open"] for group in answer["groups"]] == [
        "",
        "",
        "the only seed has not succeeded (1 running)",
    ]

    # Nothing is attached to what it has left.
    with database.write() as session:
        changed(session, other, state="succeeded")
    own = asked(api, [*high, *low, other])
    assert (own["metric"], own["attached"]) == ("eval/reward", None)


def test_why_no_metric_decides_is_said_of_the_runs_that_measured_something(
    api: TestClient, database: Database, seed: Seed
) -> None:
    queued = [made(api, database, seed, n, [], state="queued") for n in range(2)]
    assert asked(api, queued)["why_none"] == "Not decided yet: no run has measured anything."

    ended = made(api, database, seed, 2, [])
    with database.write() as session:
        metrics.append(
            session, ended, 1, [MetricLine(step=1, time=1.0, values={"reward/mean": 0.5})], at=AT
        )
    none_held_out = asked(api, [ended])["why_none"]
    assert none_held_out.startswith("These runs share no held-out metric")
    assert asked(api, [*queued, ended])["why_none"].startswith(
        "Not decided yet: 2 of 3 runs have measured nothing held out, and the other has no "
        "held-out metric and no evaluation from outside, so"
    )


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
    other = made(api, database, seed, 0, [0.0, 100.0], reward=OTHER_RULE)
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
    other = made(api, database, seed, 0, [0.0, 100.0], reward=OTHER_RULE)
    runs = ",".join([other, *groups[0], *groups[1]])

    answer = api.get("/seed-groups", params={"runs": runs}).json()

    assert answer["metric"] == "eval/reward"
    assert [group["apart"] for group in answer["groups"]] == [None, None, "reward"]
    assert answer["groups"][2]["value"] == 100.0
    assert [(one["better"], one["worse"]) for one in answer["differences"]] == [(0, 1)]
    assert answer["measured_apart"] == {"eval/reward": "reward"}


def test_a_rerun_of_a_seed_is_no_second_seed(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Of seed 1 the newest that succeeded counts: neither the first nor the one that failed."""
    first, second, failed, other = (
        made(api, database, seed, number, [value], state=state)
        for number, value, state in ((1, 0.1, "succeeded"), (1, 0.2, "succeeded"),
                                     (1, 0.9, "failed"), (2, 0.3, "succeeded"))
    )  # fmt: skip

    (group,) = asked(api, [first, second, failed, other])["groups"]

    assert group["runs"] == [first, second, failed, other]
    assert [(one["run"], one["value"]) for one in group["values"]] == [(second, 0.2), (other, 0.3)]
    assert group["left_out"] == [
        {"run": run, "counts": second, "why": "it repeats seed 1, which counts once"}
        for run in (first, failed)
    ]


def test_three_clones_of_one_seed_decide_nothing(
    api: TestClient, database: Database, seed: Seed
) -> None:
    runs = [made(api, database, seed, 1, [value], optim={"lr": rate})
            for value, rate in ((0.5, 1e-4), (0.6, 1e-3)) for _ in range(3)]  # fmt: skip

    (found,) = asked(api, runs)["differences"]

    assert (found["is_decided"], found["interval"]) == (False, None)


def test_a_run_that_continues_another_is_its_seed(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """With another seed in its config, too: it has most of its steps in common with the first."""
    first, second, third = (made(api, database, seed, n, [0.0, 1.0 + n]) for n in (1, 2, 3))
    with database.write() as session:
        changed(session, second, parent_id=first, parent_step=5)
        changed(session, third, parent_id=second, parent_step=7)

    def counted() -> list[str]:
        (group,) = asked(api, [third, second, first])["groups"]
        assert {one["run"] for one in group["left_out"]} | {one["run"] for one in group["values"]} \
            == {first, second, third}  # fmt: skip
        assert all("continues a run of seed 1" in one["why"] or one["run"] == first
                   for one in group["left_out"])  # fmt: skip
        return [one["run"] for one in group["values"]]

    assert counted() == [first]
    with database.write() as session:
        changed(session, first, state="crashed")
    assert counted() == [third]
    query = {"runs": f"{first},{second},{third}", "names": "eval/reward"}
    assert curves(api, **query)[0]["n"] == [1, 1]


@pytest.mark.parametrize(
    ("state", "rewards", "why"),
    [
        ("failed", [0.0], "1 of 3 seeds has not succeeded (1 failed)"),
        ("running", [0.0, 1.0, 9.0], "1 of 3 seeds has not succeeded (1 running)"),
        ("succeeded", [0.0, 1.0], "the seeds were measured at steps 10 and 20"),
    ],
)
def test_values_of_runs_that_came_to_different_ends_decide_nothing(
    api: TestClient, database: Database, seed: Seed, groups: list[list[str]],
    state: str, rewards: list[float], why: str,
) -> None:  # fmt: skip
    """The two other groups are compared all the same."""
    runs = [made(api, database, seed, n, [0.0, 1.0, 9.0], optim={"lr": 0.9}) for n in range(2)]
    runs.append(made(api, database, seed, 2, rewards, optim={"lr": 0.9}, state=state))

    answer = asked(api, [*groups[0], *groups[1], *runs])

    assert [group["why_open"] for group in answer["groups"]] == ["", "", why]
    value = answer["groups"][2]["values"][2]
    assert (value["state"], value["step"]) == (state, 10 * (len(rewards) - 1))
    assert [(one["better"], one["worse"]) for one in answer["differences"]] == [(0, 1)]


def test_groups_of_another_length_are_compared_where_that_was_the_plan(
    api: TestClient, database: Database, seed: Seed
) -> None:
    long = [made(api, database, seed, n, [0.0, 2.0, 4.0 + n]) for n in range(3)]
    short = [made(api, database, seed, n, [0.0, 1.0 + n], steps=10) for n in range(3)]

    answer = asked(api, [*long, *short])
    assert answer["groups"][1]["why_open"] == "measured at step 10, others at step 20"
    assert answer["differences"] == []

    with database.write() as session:
        for run in short:
            changed(session, run, steps=10)
    assert [group["why_open"] for group in asked(api, [*long, *short])["groups"]] == ["", ""]


def test_a_reward_model_that_trained_the_policies_is_doubted(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Until an evaluation from elsewhere is attached; a reward by rule is not doubted."""
    learned = seed.policy_gradient()["reward"]
    runs = [made(api, database, seed, 0, [1.0], optim={"lr": lr}, reward=learned)
            for lr in (0.1, 0.2)]  # fmt: skip
    rule = [made(api, database, seed, 0, [1.0], optim={"lr": lr}) for lr in (0.1, 0.2)]

    assert "also judges it here" in asked(api, runs)["doubt"]
    assert asked(api, runs)["doubted"] == [0, 1]
    assert asked(api, rule)["doubt"] == ""
    # A group whose reward differs is not compared, so its reward model judges nobody here.
    beside = asked(api, [*rule, runs[0]])
    assert (len(beside["differences"]), beside["doubt"], beside["doubted"]) == (1, "", [])
    for run in runs:
        body = {"points": [{"step": 0, "values": {"gold/reward": 1.0}}]}
        api.post(f"/runs/{run}/metrics", json=body).raise_for_status()
    assert asked(api, runs)["doubt"] == ""
    assert "also judges it here" in asked(api, runs, metric="eval/reward")["doubt"]
