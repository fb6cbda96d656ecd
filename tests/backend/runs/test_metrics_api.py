"""Metrics and samples from the trainer's lines to the API's answers, nothing lost or invented."""

import random
from bisect import bisect
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import MetricLine, SampleKind, SampleLine
from backend.store.db import Database
from backend.store.metrics import points as metrics
from backend.store.runs import events, samples
from tests.backend.runs.conftest import AT, Seed


@pytest.fixture
def run_id(api: TestClient, seed: Seed) -> str:
    """A queued run."""
    return str(api.post("/runs", json=seed.body(seed.sft())).json()["id"])


def append(database: Database, run_id: str, lines: list[MetricLine], attempt: int = 1) -> int:
    """One batch of the relay."""
    with database.write() as session:
        return metrics.append(session, run_id, attempt, lines, at=AT)


def line(step: int, tokens: int | None = None, **values: float | None) -> MetricLine:
    """A metric line, a second and ten tokens after the one before."""
    tokens = step * 10 if tokens is None else tokens
    return MetricLine(step=step, time=1000.0 + step, tokens=tokens, values=values)


def curve(api: TestClient, run_id: str, name: str, **query: Any) -> dict[str, Any]:
    """The one series of a run and name, its values exact."""
    answer = api.get("/metrics", params={"runs": run_id, "names": name, "exact": True, **query})
    (series,) = answer.raise_for_status().json()["series"]
    values = series.pop("y")
    assert (values["low"], values["unit"]) == (0, 1)
    return {**series, **values}


def test_every_number_posted_comes_back(api: TestClient, database: Database, run_id: str) -> None:
    rng = random.Random(7)
    values = {step: rng.uniform(-1e6, 1e6) * 10 ** rng.randint(-9, 9) for step in range(1, 200)}

    for first in range(1, 200, 50):
        batch = [line(step, loss=values[step]) for step in range(first, min(first + 50, 200))]
        append(database, run_id, batch)

    series = curve(api, run_id, "loss")
    assert series["x"] == list(values)
    assert (
        series["mean"] == series["min"] == series["max"] == series["last"] == list(values.values())
    )
    assert series["n"] == 199
    assert api.get(f"/runs/{run_id}").json()["summary"] == {"loss": values[199]}
    history = api.get(f"/runs/{run_id}/events?limit=5000").json()["items"]
    told = [event["data"] for event in history]
    lines = [point for data in told for point in data.get("points", ())]
    assert [point["values"]["loss"] for point in lines] == list(values.values())
    assert [point["tokens"] for point in lines] == [step * 10 for step in values]


def test_the_same_lines_again_change_nothing(
    api: TestClient, database: Database, run_id: str
) -> None:
    lines = [line(step, loss=step / 3, lr=0.1) for step in range(20)]
    append(database, run_id, lines)
    before = api.get("/metrics", params={"runs": run_id}).json()

    append(database, run_id, lines[:12])
    append(database, run_id, [*lines, *lines])

    assert api.get("/metrics", params={"runs": run_id}).json() == before
    assert api.get(f"/runs/{run_id}").json()["summary"] == {"loss": 19 / 3, "lr": 0.1}


def test_a_rewind_voids_what_lies_beyond_and_keeps_what_came_from_outside(
    api: TestClient, database: Database, run_id: str
) -> None:
    append(database, run_id, [line(step, loss=float(step)) for step in range(1, 11)])
    append(database, run_id, [line(9, late=1.0)])
    body = {"points": [{"step": 10, "values": {"gold/score": 0.25}}]}
    api.post(f"/runs/{run_id}/metrics", json=body).raise_for_status()

    with database.write() as session:
        metrics.rewind(session, run_id, 4, at=AT)

    assert curve(api, run_id, "loss")["x"] == [1, 2, 3, 4]
    summary = api.get(f"/runs/{run_id}").json()["summary"]
    assert summary == {"loss": 4.0, "gold/score": 0.25}
    with database.read() as session:
        last = events.after(session, run_id, 0, limit=100)[-1]
    assert (last.type, last.data) == ("rewind", {"step": 4})


def test_numbers_that_are_none_become_gaps(
    api: TestClient, database: Database, run_id: str
) -> None:
    gaps = [1.0, float("nan"), None, float("inf"), 5.0]
    append(database, run_id, [line(step, loss=value) for step, value in enumerate(gaps)])

    assert curve(api, run_id, "loss")["last"] == [1.0, None, None, None, 5.0]
    assert curve(api, run_id, "loss", points=1)["mean"] == [3.0]


def test_names_of_a_strange_form_are_left_out_with_an_alert(
    api: TestClient, database: Database, run_id: str
) -> None:
    values: dict[str, float | None] = {
        "loss": 1.0,
        "a b": 2.0,
        "x" * 101: 3.0,
        "/etc": 4.0,
        "loss\n": 6.0,
        "n\0": 5.0,
    }

    stored = append(database, run_id, [MetricLine(step=1, time=1.0, values=values)])

    assert stored == 1
    assert api.get("/metrics", params={"runs": run_id}).json()["names"] == ["loss"]
    (alert,) = api.get(f"/runs/{run_id}/events", params={"type": "alert"}).json()["items"]
    assert (alert["type"], alert["data"]["rule"]) == ("alert", "metric_name")


def test_a_run_has_a_bounded_number_of_metrics(
    api: TestClient, database: Database, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "MOST_NAMES", 3)
    surplus = {"loss": 1.0, "a b": 0.0, **{f"item/{number}": 1.0 for number in range(4)}}

    append(database, run_id, [MetricLine(step=1, time=1.0, values=surplus)])
    stored = append(database, run_id, [MetricLine(step=2, time=2.0, values={"loss": 2.0})])

    assert stored == 1, "a metric that the run has goes on"
    summary = api.get(f"/runs/{run_id}").json()["summary"]
    assert summary == {"loss": 2.0, "item/0": 1.0, "item/1": 1.0}
    alerts = api.get(f"/runs/{run_id}/events", params={"type": "alert"}).json()["items"]
    assert [one["data"]["rule"] for one in alerts] == ["metric_name", "metric_count"]
    assert "3 metrics. 2 more were left out: item/2, item/3." in (alerts[1]["data"]["message"])


def test_a_result_is_at_a_step_that_a_run_can_have(api: TestClient, run_id: str) -> None:
    for step in (2**62 + 1, 2**63):
        body = {"points": [{"step": step, "values": {"gold/score": 1.0}}]}
        assert api.post(f"/runs/{run_id}/metrics", json=body).status_code == 422


def test_results_from_outside_beyond_the_most_metrics_are_refused_before_anything_is_stored(
    api: TestClient, database: Database, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "MOST_NAMES", 3)
    append(database, run_id, [line(1, loss=1.0)])
    many = {f"outside/v{number}": 1.0 for number in range(3)}
    fitting = {f"outside/v{number}": 1.0 for number in range(2)}

    refused = api.post(f"/runs/{run_id}/metrics", json={"points": [{"step": 1, "values": many}]})
    summary = api.get(f"/runs/{run_id}").json()["summary"]
    for _ in range(2):
        body = {"points": [{"step": 1, "values": fitting}]}
        api.post(f"/runs/{run_id}/metrics", json=body).raise_for_status()

    assert refused.status_code == 422
    assert refused.json()["detail"] == (
        "the run has 1 metric and the request names 3 new ones, 1 more than fit; a run may have 3"
    )
    assert summary == {"loss": 1.0}


@pytest.mark.parametrize("x", ["step", "time", "tokens"])
def test_a_long_curve_keeps_its_spikes(
    api: TestClient, database: Database, run_id: str, x: str
) -> None:
    rng = random.Random(3)
    values = [rng.gauss(0, 1) for _ in range(3000)]
    values[1234], values[2345] = 1e6, -1e6
    append(database, run_id, [line(step, loss=value) for step, value in enumerate(values)])

    series = curve(api, run_id, "loss", x=x, points=100)

    assert 25 <= len(series["x"]) <= 100
    assert series["x"] == sorted(set(series["x"]))
    assert (max(series["max"]), min(series["min"]), series["n"]) == (1e6, -1e6, 3000)
    offset, factor = {"step": (0, 1), "time": (1000, 1), "tokens": (0, 10)}[x]
    begin = 0
    for at, low, high, mean, last in zip(
        *(series[column] for column in ("x", "min", "max", "mean", "last")), strict=True
    ):
        end = int((at - offset) / factor) + 1
        inside = values[begin:end]
        assert (low, high, last) == (min(inside), max(inside), inside[-1])
        assert mean == pytest.approx(sum(inside) / len(inside))
        begin = end
    assert begin == 3000


def test_a_window_shows_its_part_alone(api: TestClient, database: Database, run_id: str) -> None:
    append(database, run_id, [line(step, loss=float(step)) for step in range(3000)])

    assert curve(api, run_id, "loss", **{"from": 10, "to": 12})["x"] == [10, 11, 12]
    by_time = curve(api, run_id, "loss", x="time", **{"from": 1010, "to": 1012})
    assert (by_time["x"], by_time["last"]) == ([1010, 1011, 1012], [10, 11, 12])
    wide = curve(api, run_id, "loss", points=10, **{"from": 1000, "to": 1999})
    assert (wide["n"], min(wide["min"]), max(wide["max"])) == (1000, 1000, 1999)


def test_tokens_that_stand_still_give_one_point(
    api: TestClient, database: Database, run_id: str
) -> None:
    append(database, run_id, [line(step, tokens=step // 2, loss=float(step)) for step in range(6)])

    series = curve(api, run_id, "loss", x="tokens")

    assert series["x"] == [0, 1, 2]
    assert (series["min"], series["max"], series["last"]) == ([0, 2, 4], [1, 3, 5], [1, 3, 5])


def test_several_runs_and_names_come_in_the_order_asked(
    api: TestClient, database: Database, seed: Seed
) -> None:
    a, b = (api.post("/runs", json=seed.body(seed.sft())).json()["id"] for _ in range(2))
    append(database, a, [line(1, loss=1.0, lr=2.0)])
    append(database, b, [line(1, loss=3.0)])

    answer = api.get("/metrics", params={"runs": f"{b},{a}", "names": "lr,loss,absent"}).json()

    assert [(s["run"], s["name"], s["y"]["last"]) for s in answer["series"]] == [
        (b, "loss", [3.0]),
        (a, "lr", [2.0]),
        (a, "loss", [1.0]),
    ]
    assert answer["names"] == ["loss", "lr"]


def test_a_long_curve_says_its_first_and_its_newest_value_and_how_many_each_bucket_has(
    api: TestClient, database: Database, run_id: str
) -> None:
    """A value at every other step: the last point of each bucket has none."""
    steps = range(10_000)
    append(database, run_id, [line(s, loss=None if s % 2 else s / 3) for s in steps])

    whole = curve(api, run_id, "loss", points=20)
    part = curve(api, run_id, "loss", points=20, **{"from": 101, "to": 8001})

    assert set(whole["last"]) == {None}, "which the buckets would call the newest"
    assert (whole["first"], whole["newest"]) == (0, 9998 / 3)
    assert (part["first"], part["newest"]) == (102 / 3, 8000 / 3)
    assert (whole["n_points"][0], sum(whole["n_points"]), whole["n"]) == (512, 10_000, 10_000)
    assert whole["mean"][0] == pytest.approx(sum(range(0, 512, 2)) / 256 / 3)


def test_results_from_outside_say_where_they_come_from(
    api: TestClient, database: Database, run_id: str
) -> None:
    append(database, run_id, [line(3, loss=1.0)])

    points = [{"step": 3, "values": {"gold/score": 0.5, "outside/mmlu": None}}]
    accepted = api.post(f"/runs/{run_id}/metrics", json={"points": points})
    refused = api.post(
        f"/runs/{run_id}/metrics", json={"points": [{"step": 3, "values": {"loss": 0.0}}]}
    )

    assert (accepted.status_code, accepted.json()) == (201, {"accepted": 2})
    assert refused.status_code == 422
    assert curve(api, run_id, "gold/score", x="tokens")["x"] == [30]
    assert curve(api, run_id, "loss")["last"] == [1.0]


@pytest.mark.parametrize(
    ("points", "values", "status"), [(500, 2, 201), (501, 1, 422), (1, 1000, 201), (2, 501, 422)]
)
def test_a_request_brings_no_more_results_than_are_stored_in_a_moment(
    api: TestClient, run_id: str, points: int, values: int, status: int
) -> None:
    said = {f"outside/v{n}": 1.0 for n in range(values)}
    body = {"points": [{"step": step, "values": said} for step in range(points)]}

    assert api.post(f"/runs/{run_id}/metrics", json=body).status_code == status


def test_samples_come_back_by_step_and_score(
    api: TestClient, database: Database, run_id: str
) -> None:
    lines = [
        SampleLine(
            step=step,
            prompt=f"p{index}",
            response="r\0é",
            index=index,
            scores={"reward": reward},
            tokens=["r", "é"],
            logp=[-0.5, float("-inf")],
        )
        for step in (2, 4)
        for index, reward in enumerate([0.5, None, -1.0, 2.0])
    ]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    newest = api.get(f"/runs/{run_id}/samples").json()
    best = api.get(f"/runs/{run_id}/samples?step=2&sort=-reward").json()
    worst = api.get(f"/runs/{run_id}/samples?step=2&sort=reward&limit=1").json()

    assert (newest["step"], newest["steps"], len(newest["items"])) == (4, [2, 4], 4)
    first = newest["items"][0]
    assert (first["response"], first["tokens"], first["logp"]) == (
        "r\ufffdé",
        ["r", "é"],
        [-0.5, None],
    )
    assert first["kl"] is None
    assert [item["scores"]["reward"] for item in best["items"]] == [2.0, 0.5, -1.0, None]
    assert [item["scores"]["reward"] for item in worst["items"]] == [-1.0]
    with database.write() as session:
        samples.rewind(session, run_id, 2)
    assert api.get(f"/runs/{run_id}/samples").json()["steps"] == [2]


def test_the_samples_nearest_to_a_step_are_found_where_it_has_none(
    api: TestClient, database: Database, run_id: str
) -> None:
    logged: dict[SampleKind, tuple[int, ...]] = {"rollout": (1, 11, 21), "probe": (0, 25, 50)}
    lines = [
        SampleLine(kind=kind, step=step, prompt="p", prompt_id=f"{kind}{step > 1}", response="r")
        for kind, steps in logged.items()
        for step in steps
    ]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    def found(**query: Any) -> tuple[str, int | None, set[int]]:
        answer = api.get(f"/runs/{run_id}/samples", params=query).raise_for_status().json()
        return answer["kind"], answer["step"], {item["step"] for item in answer["items"]}

    for step in range(60):
        for kind, steps in logged.items():
            # Of two that are as near the earlier one.
            nearest = min(steps, key=lambda one: (abs(one - step), one))
            assert found(kind=kind, step=step, nearest=True) == (kind, nearest, {nearest})
    assert found(step=25) == ("rollout", 25, set())
    assert found(nearest=True) == ("rollout", 21, {21})
    assert found(step=2, prompt_id="rolloutTrue", nearest=True) == ("rollout", 11, {11})
    assert found(step=2, prompt_id="unknown", nearest=True) == ("rollout", 2, set())


def test_a_text_is_found_in_the_samples_of_all_steps(
    api: TestClient, database: Database, run_id: str
) -> None:
    lines = [
        SampleLine(
            kind=kind, step=step, prompt="Ärger", prompt_id="p", response=f"{said} of {step}"
        )
        for step in (1, 11, 21)
        for kind, said in (("rollout", "yes"), ("rollout", "no"), ("probe", "yes"))
    ]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    def found(**query: Any) -> list[str]:
        query |= {"every_step": True}
        answer = api.get(f"/runs/{run_id}/samples", params=query).raise_for_status().json()
        assert (answer["step"], answer["steps"]) == (None, [1, 11, 21])
        return [item["response"] for item in answer["items"]]

    assert found(q="YES") == ["yes of 21", "yes of 11", "yes of 1"]
    assert found(q="yes", prompt_id="p") == ["yes of 21", "yes of 11", "yes of 1"]
    assert len(found(q="äRGER")) == 6
    assert found(q="yes", kind="probe", limit=2) == ["yes of 21", "yes of 11"]
    # What else is asked for says of which step, or by what it is sorted.
    assert found(q="of 1", step=21, sort="-reward") == [
        "yes of 11",
        "no of 11",
        "yes of 1",
        "no of 1",
    ]
    assert found(q="maybe") == []


def test_samples_of_the_other_kind_are_found_where_a_run_has_none_of_this(
    api: TestClient, database: Database, run_id: str
) -> None:
    def found(**query: Any) -> tuple[str, int | None, list[int]]:
        answer = api.get(f"/runs/{run_id}/samples", params=query).raise_for_status().json()
        return answer["kind"], answer["step"], answer["steps"]

    assert found(kind="probe", step=25, nearest=True) == ("probe", 25, [])
    lines = [SampleLine(step=step, prompt="p", response="r") for step in (1, 21)]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    assert found(kind="probe", step=25, nearest=True) == ("rollout", 21, [1, 21])
    assert found(kind="probe", nearest=True) == ("rollout", 21, [1, 21])
    assert found(kind="probe", step=25) == ("probe", 25, [])


@pytest.mark.parametrize("more", ["", "&prompt_id=p"])
def test_the_newest_steps_with_samples_are_listed_and_older_ones_are_read_by_number(
    api: TestClient, database: Database, run_id: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        SampleLine.model_validate({"step": step, "prompt_id": "p", "prompt": "p", "response": "r"})
        for step in range(0, 50, 10)
        for _ in range(3)
    ]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    def listed() -> tuple[list[int], bool]:
        found = api.get(f"/runs/{run_id}/samples?kind=rollout{more}").json()
        return found["steps"], found["has_earlier_steps"]

    assert listed() == ([0, 10, 20, 30, 40], False)
    monkeypatch.setattr(samples, "MOST_STEPS", 5)
    assert listed() == ([0, 10, 20, 30, 40], False)
    monkeypatch.setattr(samples, "MOST_STEPS", 2)
    assert listed() == ([30, 40], True)
    assert len(api.get(f"/runs/{run_id}/samples?step=10{more}").json()["items"]) == 3


def test_a_sample_says_what_is_known_of_its_prompt_and_whether_it_passed(
    api: TestClient, database: Database, run_id: str
) -> None:
    """Of a sample that was logged before anybody knew, nothing is said."""
    known = {"reference": "42", "tags": ["easy"], "metadata": {"level": 1}}
    judged = {"passed": False, "why": {"math": "41 is not the ground truth"}} | known
    lines = [
        SampleLine.model_validate({"step": 1, "prompt": "p", "response": "r"} | more)
        for more in (judged, {"passed": True}, {})
    ]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    items = api.get(f"/runs/{run_id}/samples").json()["items"]

    nothing = {"passed": None, "why": {}, "reference": None, "tags": [], "metadata": {}}
    for item, told in zip(items, (judged, {"passed": True}, {}), strict=True):
        assert {name: item[name] for name in nothing} == nothing | told


def test_probes_are_asked_by_prompt_through_training_and_samples_by_text(
    api: TestClient, database: Database, run_id: str
) -> None:
    lines = [
        SampleLine(kind=kind, step=step, prompt=f"Say {p}", response=response, prompt_id=p)
        for step, response in ((0, "Yes"), (2, "100% no_"), (4, "NO"))
        for p in ("prompt_a", "prompt_b")
        for kind in ("rollout", "probe")
    ]
    lines.append(SampleLine(step=9, prompt="p", response="r", chosen_for=["best", "longest"]))
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)

    def asked(**query: Any) -> dict[str, Any]:
        answer: dict[str, Any] = api.get(f"/runs/{run_id}/samples", params=query).json()
        return answer

    def told(**query: Any) -> list[tuple[int, str]]:
        return [(item["step"], item["response"]) for item in asked(**query)["items"]]

    probe = {"kind": "probe", "prompt_id": "prompt_a"}
    assert asked()["kinds"] == ["rollout", "probe"]
    assert (asked()["step"], asked(kind="probe")["step"]) == (9, 4)
    assert asked()["items"][0]["chosen_for"] == ["best", "longest"]
    assert told(**probe) == [(0, "Yes"), (2, "100% no_"), (4, "NO")]
    assert asked(**probe)["steps"] == [0, 2, 4]
    assert told(**probe, limit=2) == [(2, "100% no_"), (4, "NO")]
    assert told(**probe, step=2) == [(2, "100% no_")]
    assert told(**probe, q="no") == [(2, "100% no_"), (4, "NO")]
    # What a pattern would mean is text here.
    assert told(**probe, q="0% N") == [(2, "100% no_")]
    assert told(kind="probe", q="%") == told(kind="probe", q="say x") == []
    assert len(told(kind="probe", q="say")) == 2


@pytest.mark.parametrize("seed_number", range(3))
def test_any_window_of_any_curve_agrees_with_brute_force(
    api: TestClient, database: Database, run_id: str, seed_number: int
) -> None:
    rng = random.Random(seed_number)
    steps = sorted(rng.sample(range(20_000), 4000))
    values = {step: rng.choice([None, rng.gauss(0, 1)]) for step in steps}
    for first in range(0, len(steps), 700):
        append(
            database, run_id, [line(step, loss=values[step]) for step in steps[first : first + 700]]
        )
    cut = rng.randrange(15_000, 20_000)
    with database.write() as session:
        metrics.rewind(session, run_id, cut, at=AT)
    steps = [step for step in steps if step <= cut]

    for _ in range(12):
        low = rng.choice([None, rng.randrange(cut)])
        high = rng.choice([None, rng.randrange(cut)])
        points = rng.choice([1, 7, 100, 1000])
        window = {k: v for k, v in (("from", low), ("to", high)) if v is not None}
        inside = [s for s in steps if (low or 0) <= s <= (cut if high is None else high)]
        answer = api.get(
            "/metrics",
            params={"runs": run_id, "names": "loss", "points": points, "exact": True, **window},
        ).json()["series"]
        if not inside:
            assert answer == []
            continue
        (series,) = answer
        series |= series["y"]
        assert (series["n"], series["x"][-1]) == (len(inside), inside[-1])
        is_short = len(inside) <= 2 * points
        assert len(series["x"]) <= points or (is_short and series["x"] == inside)
        begin = 0
        for index, x in enumerate(series["x"]):
            end = bisect(inside, int(x))
            present = [v for s in inside[begin:end] if (v := values[s]) is not None]
            assert series["min"][index] == min(present, default=None)
            assert series["max"][index] == max(present, default=None)
            assert series["last"][index] == values[inside[end - 1]]
            mean = sum(present) / len(present) if present else None
            assert series["mean"][index] == (None if mean is None else pytest.approx(mean))
            begin = end
        assert begin == len(inside)


def test_who_judged_an_evaluation_from_outside_is_an_event(api: TestClient, run_id: str) -> None:
    points = [{"step": step, "values": {"gold/win_rate": 0.5}} for step in (8, 4)]
    elsewhere = [{"step": 6, "values": {"gold/win_rate": 0.5}}]
    for body in (
        {"points": points, "judge": "three annotators"},
        {"points": elsewhere},
        {"points": points},
        {"points": points},
    ):
        api.post(f"/runs/{run_id}/metrics", json=body).raise_for_status()

    history = api.get(f"/runs/{run_id}/events", params={"type": "judged"}).json()["items"]

    # Without a judge only what somebody had judged before is an event: they no longer have.
    of_both = {"names": ["gold/win_rate"], "steps": [4, 8], "at": [4, 8]}
    assert [event["data"] for event in history] == [
        {"judge": "three annotators"} | of_both,
        {"judge": ""} | of_both,
    ]


def test_metrics_of_other_steps_have_judged_events_of_their_own(
    api: TestClient, run_id: str
) -> None:
    body = {
        "judge": "B",
        "points": [
            {"step": 8, "values": {f"gold/a{n}": 0.5 for n in range(12)} | {"gold/win_rate": 0.5}},
            {"step": 4, "values": {"gold/score": 0.5, "gold/a0": None}},
        ],
    }
    api.post(f"/runs/{run_id}/metrics", json=body).raise_for_status()

    history = api.get(f"/runs/{run_id}/events", params={"type": "judged"}).json()["items"]

    found = {tuple(event["data"]["at"]): event["data"]["names"] for event in history}
    assert found[(4,)] == ["gold/score"]
    assert (found[(8,)][0], len(found[(8,)])) == ("gold/win_rate", 10)
