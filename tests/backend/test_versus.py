"""The win rate by people: pairs of two runs put up for ranking, and what was said of them."""

import random
from datetime import UTC, datetime
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, event, select

from backend.domain.ranking import Ranking
from backend.domain.versus import Pair, Vote, not_alike, outcome, win_rate
from backend.schemas.compared.versus import VersusBody
from backend.schemas.models import ModelFacts
from backend.schemas.records import GeneratedRecord
from backend.schemas.vocabulary import FinishReason, ModelKind, Verdict
from backend.store import versus
from backend.store.data import comparisons, responses
from backend.store.db import Database
from backend.store.models import registry
from backend.store.runs import runs
from backend.store.tables.data import Prompt, Response
from backend.store.tables.runs import Run
from backend.store.versus import PairsTaken
from tests.backend.conftest import Service
from tests.backend.test_assignments import take
from tests.backend.test_loop import upload
from tests.backend.test_own_judgments import NewUser
from tests.plans import sent_to

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
# By prompt what each run answered, index by index: of the eight pairs one is one text twice.
OURS = {"p": ["good p", "good p2"], "q": ["good q", "good q2"], "r": ["same", "good r"],
        "s": ["good s", "good s2"]}  # fmt: skip
THEIRS = {"p": ["bad p", "bad p2"], "q": ["bad q", "bad q2"], "r": ["same", "bad r"],
          "s": ["bad s", "bad s2"]}  # fmt: skip


class Place(NamedTuple):
    """A project in which two runs have answered the same four prompts twice each."""

    api: TestClient
    database: Database
    project: str
    runs: tuple[str, str]


@pytest.fixture
def place(database: Database, api: TestClient) -> Place:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, project, "prompts", *({"prompt": name} for name in OURS))
    user = api.get("/me").json()["id"]
    for name, said in (("ours", OURS), ("theirs", THEIRS)):
        _answered(database, project, user, name, said)
    return Place(api, database, project, ("run_ours", "run_theirs"))


def _answered(
    database: Database, project: str, user: str, name: str, said: dict[str, list[str]]
) -> None:
    with database.write() as session:
        ids = {
            str(prompt.messages[-1]["content"]): prompt.id
            for prompt in session.scalars(select(Prompt).where(Prompt.project_id == project))
        }
        temperature = 0.7 if name == "ours" else 1.0
        run = Run(
            id=f"run_{name}", project_id=project, user_id=user, name=name, method="generate",
            config={
                "method": "generate", "model": {"hub_id": name}, "seed": 0,
                "rollout": {"temperature": temperature}, "samples_per_prompt": 2,
            },
            schema_version=1, tags=[], state="succeeded", environment={}, summary={},
            created_at=NOW,
        )  # fmt: skip
        session.add(run)
        session.flush()
        records = [
            GeneratedRecord(
                prompt_id=ids[prompt], index=index, content=content,
                finish_reason=FinishReason.STOP, n_tokens=3, logp_sum=-1.5,
            )
            for prompt, contents in said.items()
            for index, content in enumerate(contents)
        ]  # fmt: skip
        responses.insert_generated(session, run, records, at=NOW)


def put_up(place: Place, **more: Any) -> Any:
    ours, theirs = place.runs
    answer = place.api.post(f"/runs/{ours}/versus", json={"other_run_id": theirs} | more)
    assert answer.status_code == 201, answer.text
    return answer.json()


def read(place: Place, ours: str, theirs: str) -> dict[str, Any]:
    answer = place.api.get(f"/runs/{ours}/versus", params={"other_run_id": theirs})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def say(client: TestClient, project: str, verdict: str = "ranked", *, best: str = "good") -> None:
    """Rank the next pair: the response first that begins so."""
    lease = take(client, project)
    texts = {one["id"]: one["content"] for one in lease["comparison"]["responses"]}
    order = sorted(texts, key=lambda one: not texts[one].startswith(best))
    is_ranked = verdict == "ranked"
    body = {
        "verdict": verdict,
        "tiers": [[one] for one in order] if is_ranked else [],
        "unranked": [] if is_ranked else order,
    }
    answer = client.post(f"/assignments/{lease['id']}/judgment", json=body)
    assert answer.status_code == 201, answer.text


def test_pairs_that_differ_are_put_up_once_and_first_one_of_each_prompt(place: Place) -> None:
    assert put_up(place, pairs=3) == {"created": 3, "left": 4}
    listed = place.api.get(f"/projects/{place.project}/comparisons").json()["items"]
    assert len({one["prompt_id"] for one in listed}) == 3
    assert all(len(one["response_ids"]) == 2 for one in listed)
    # Whichever of the two runs is named first, no pair is put up twice.
    ours, theirs = place.runs
    place = place._replace(runs=(theirs, ours))
    assert put_up(place, pairs=100) == {"created": 4, "left": 0}
    assert put_up(place) == {"created": 0, "left": 0}


def test_nobody_waits_while_the_responses_of_both_runs_are_read(
    place: Place, service: Service
) -> None:
    written: list[str] = []

    @event.listens_for(service.app.state.database.engine, "before_cursor_execute")
    def note(connection: Connection, _: Any, statement: str, *more: Any) -> None:
        begin = connection.get_execution_options().get("podium_begin")
        if begin is not None and "READ ONLY" not in begin:
            written.append(statement)

    assert put_up(place, pairs=3)["created"] == 3

    assert any(one.startswith("INSERT INTO comparisons") for one in written)
    of_runs = [one for one in written if "responses" in one and "run_id = " in one]
    assert of_runs == []


def test_pairs_are_put_up_in_one_message(place: Place, service: Service) -> None:
    """SQLite, for which a row is no message, takes rows one by one."""
    with sent_to(service.app.state.database) as sent:
        assert put_up(place, pairs=5)["created"] == 5

    (inserted,) = [one for one in sent if one.statement.startswith("INSERT INTO comparisons")]
    assert inserted.times == (5 if place.database.is_sqlite else 1)


def test_pairs_that_somebody_else_put_up_meanwhile_are_chosen_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two requests choose the same three pairs of seven; the later one finds out and goes on."""
    ours, theirs = place.runs
    body = VersusBody(other_run_id=theirs, pairs=3)
    with place.database.read() as session:
        stale = versus.choose(session, ours, body)
    assert put_up(place, pairs=3) == {"created": 3, "left": 4}
    with pytest.raises(PairsTaken), place.database.write() as session:
        versus.put_up(session, ours, body, stale, at=NOW)
    choose, first = versus.choose, [stale]
    monkeypatch.setattr(versus, "choose", lambda *asked: first.pop() if first else choose(*asked))

    assert put_up(place, pairs=3) == {"created": 3, "left": 1}

    listed = place.api.get(f"/projects/{place.project}/comparisons").json()["items"]
    assert len({tuple(one["response_ids"]) for one in listed}) == len(listed) == 6


def test_people_say_which_run_answers_better(place: Place, new_user: NewUser) -> None:
    put_up(place, pairs=5)
    annotator, _ = new_user("annotator", place.project)
    for verdict, best in (("ranked", "good"), ("ranked", "good"), ("ranked", "bad"),
                          ("all_bad", ""), ("cannot_judge", "")):  # fmt: skip
        say(annotator, place.project, verdict, best=best)

    found = read(place, *place.runs)
    other_way = read(place, *reversed(place.runs))

    counts = ("pairs", "identical", "put_up", "judged", "won", "tied", "lost", "left_out")
    assert [found[name] for name in counts] == [8, 1, 5, 4, 2, 1, 1, 1]
    assert found["win_rate"] == (1 + 1 + 0 + 0.5) / 4
    assert other_way["win_rate"] == 1 - found["win_rate"]
    assert 0 <= found["interval"]["low"] < found["win_rate"] < found["interval"]["high"] <= 1
    assert found["not_alike"] == ["rollout.temperature"]
    # All responses have three tokens.
    assert found["win_rate_at_equal_length"] == found["win_rate"]
    assert found["interval_at_equal_length"] == found["interval"]


def test_a_length_that_is_not_known_leaves_the_win_rate_at_equal_length_open(
    place: Place, new_user: NewUser
) -> None:
    put_up(place, pairs=2)
    annotator, _ = new_user("annotator", place.project)
    say(annotator, place.project)
    say(annotator, place.project)
    with place.database.write() as session:
        for one in session.scalars(select(Response).where(Response.run_id == "run_ours")):
            one.n_tokens = None

    found = read(place, *place.runs)

    assert found["win_rate"] == 1
    assert found["win_rate_at_equal_length"] is None
    assert found["interval_at_equal_length"] is None


def test_nothing_is_said_before_the_first_judgment(place: Place) -> None:
    put_up(place)
    found = read(place, *place.runs)
    assert (found["win_rate"], found["interval"], found["judged"]) == (None, None, 0)


def test_a_revision_and_a_judgment_under_review_do_not_count_twice(
    place: Place, new_user: NewUser
) -> None:
    put_up(place, pairs=1)
    annotator, _ = new_user("annotator", place.project)
    lease = take(annotator, place.project)
    order = lease["presented_order"]
    for tiers, more in (([[order[0]], [order[1]]], {}), ([order], {"revise": True})):
        body = {"verdict": "ranked", "tiers": tiers, "unranked": [], **more}
        annotator.post(f"/assignments/{lease['id']}/judgment", json=body).raise_for_status()

    found = read(place, *place.runs)

    assert [found[name] for name in ("won", "tied", "lost")] == [0, 1, 0]


def test_what_is_said_of_one_runs_own_responses_is_not_counted(
    place: Place, new_user: NewUser
) -> None:
    put_up(place, pairs=1)
    with place.database.write() as session:
        run = runs.get(session, "run_ours")
        own = list(comparisons.choices(session, run))
        comparisons.create_chosen(session, run, own, at=NOW)
    assert len(own) == 4
    annotator, _ = new_user("annotator", place.project)
    for _ in range(1 + len(own)):
        say(annotator, place.project)

    found = read(place, *place.runs)

    counts = ("put_up", "judged", "won", "tied", "lost", "left_out")
    assert [found[name] for name in counts] == [1, 1, 1, 0, 0, 0]


def test_a_judgment_under_criteria_counts_as_it_ranks_by_the_first(
    place: Place, new_user: NewUser
) -> None:
    criteria = [{"name": name, "question": "Which?"} for name in ("helpful", "harmless")]
    changed = place.api.patch(f"/projects/{place.project}", json={"criteria": criteria})
    changed.raise_for_status()
    put_up(place, pairs=1)
    annotator, _ = new_user("annotator", place.project)
    lease = take(annotator, place.project)
    texts = {one["content"][:4]: one["id"] for one in lease["comparison"]["responses"]}
    good, bad = texts["good"], texts["bad "]
    rankings = [
        {"criterion": "harmless", "verdict": "ranked", "tiers": [[bad], [good]]},
        {"criterion": "helpful", "verdict": "ranked", "tiers": [[good], [bad]]},
    ]
    said = annotator.post(f"/assignments/{lease['id']}/judgment", json={"rankings": rankings})
    said.raise_for_status()

    found = read(place, *place.runs)

    assert [found[name] for name in ("won", "tied", "lost")] == [1, 0, 0]


def sample_from(place: Place, model: str) -> None:
    """Let the run be one that sampled from this model."""
    with place.database.write() as session:
        run = runs.get(session, "run_ours")
        run.config = run.config | {"model": {"id": model}}


def left_by(place: Place, project: str, name: str, *, step: int | None) -> str:
    """The model that a policy run of a project has left at a step."""
    _answered(place.database, project, place.api.get("/me").json()["id"], name, {})
    with place.database.write() as session:
        run = runs.get(session, f"run_{name}")
        run.method = "policy_gradient"
        return registry.register_output(
            session, run, name=name, kind=ModelKind.CAUSAL_LM, artifact=f"models/{name}",
            facts=ModelFacts(), sha256="0" * 64, step=step, at=NOW,
        ).id  # fmt: skip


def test_the_run_that_trained_the_model_is_named_with_the_step_of_its_weights(
    place: Place, new_user: NewUser
) -> None:
    sample_from(place, left_by(place, place.project, "policy", step=8))
    viewer, _ = new_user("viewer", place.project)

    for client in (place.api, viewer):
        seen = place._replace(api=client)
        assert read(seen, *place.runs)["trained_by"] == {"run": "run_policy", "step": 8}
        # The other run sampled from a model of a hub.
        assert read(seen, *reversed(place.runs))["trained_by"] is None


def test_none_is_named_unless_a_run_of_the_project_trained_the_model(
    place: Place, new_user: NewUser
) -> None:
    foreign = str(place.api.post("/projects", json={"name": "F"}).json()["id"])
    with place.database.write() as session:
        base = registry.register(
            session, name="base", kind=ModelKind.CAUSAL_LM, source={"hub_id": "x"},
            facts=ModelFacts(), sha256=None, project_id=place.project, at=NOW,
        ).id  # fmt: skip
    elsewhere = left_by(place, foreign, "elsewhere", step=8)
    stepless = left_by(place, place.project, "stepless", step=None)
    member, _ = new_user("researcher", place.project)

    for model in (base, elsewhere, stepless, "model_nothing"):
        sample_from(place, model)
        for client in (place.api, member):
            assert read(place._replace(api=client), *place.runs)["trained_by"] is None, model


def test_a_win_rate_that_is_attached_again_replaces_the_one_at_its_step(place: Place) -> None:
    sample_from(place, left_by(place, place.project, "policy", step=8))
    trained = read(place, *place.runs)["trained_by"]
    for rate in (0.5, 0.75):
        values = {
            "gold/win_rate": rate, "gold/win_rate_low": rate - 0.1, "gold/win_rate_high": rate + 0.1
        }  # fmt: skip
        body = {"points": [{"step": trained["step"], "values": values}], "judge": "people, 4 pairs"}
        place.api.post(f"/runs/{trained['run']}/metrics", json=body).raise_for_status()

    found = place.api.get("/metrics", params={"runs": trained["run"], "exact": True})

    series = found.raise_for_status().json()["series"]
    assert {one["name"]: (one["x"], one["y"]["last"]) for one in series} == {
        "gold/win_rate": ([8], [0.75]),
        "gold/win_rate_low": ([8], [0.65]),
        "gold/win_rate_high": ([8], [0.85]),
    }


@pytest.mark.parametrize(
    ("other", "status", "said"),
    [
        ("run_nothing", 404, "there is no run run_nothing"),
        ("run_foreign", 404, "there is no run run_foreign"),
        ("run_ours", 422, "a run cannot be judged against itself"),
        ("run_trained", 422, "expected a generate run that succeeded"),
        ("run_elsewhere", 422, "no prompt in common"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(
    place: Place, other: str, status: int, said: str
) -> None:
    user = place.api.get("/me").json()["id"]
    foreign = str(place.api.post("/projects", json={"name": "F"}).json()["id"])
    upload(place.api, foreign, "prompts", {"prompt": "p"})
    _answered(place.database, foreign, user, "foreign", {"p": ["x"]})
    upload(place.api, place.project, "prompts", {"prompt": "elsewhere"})
    _answered(place.database, place.project, user, "elsewhere", {"elsewhere": ["x"]})
    _answered(place.database, place.project, user, "trained", {})
    with place.database.write() as session:
        runs.get(session, "run_trained").method = "sft"

    answer = place.api.post("/runs/run_ours/versus", json={"other_run_id": other})

    assert answer.status_code == status
    assert said in answer.json()["detail"]


def test_the_rate_equals_a_slow_count_and_turns_with_the_runs() -> None:
    draw = random.Random(0)
    votes = [_random_vote(draw) for _ in range(400)]
    by_pair: dict[tuple[str, str], list[float]] = {}
    for vote in votes:
        value = outcome(vote)
        if value is not None:
            by_pair.setdefault((vote.pair.prompt_id, vote.pair.ours), []).append(value)
    turned = [Vote(Pair(p.prompt_id, p.theirs, p.ours), ranking) for p, ranking in votes]

    found, other_way = win_rate(votes, {}), win_rate(turned, {})

    assert found.rate == pytest.approx(fmean(fmean(one) for one in by_pair.values()))
    assert (found.won, found.tied, found.lost) == (other_way.lost, other_way.tied, other_way.won)
    assert found.rate + other_way.rate == pytest.approx(1) if other_way.rate else False
    assert found.interval is not None
    assert other_way.interval == pytest.approx((1 - found.interval[1], 1 - found.interval[0]))
    assert found.won + found.tied + found.lost + found.left_out == 400


def test_one_prompt_has_no_win_rate_at_equal_length() -> None:
    pairs = [Pair("p", f"a{n}", f"b{n}") for n in (1, 2)]
    orders = [((pairs[0].ours,), (pairs[0].theirs,)), ((pairs[1].theirs,), (pairs[1].ours,))]
    votes = [
        Vote(pair, Ranking(order, (), Verdict.RANKED))
        for pair, order in zip(pairs, orders, strict=True)
    ]
    tokens = {"a1": 11, "b1": 10, "a2": 12, "b2": 10}

    assert win_rate(votes, tokens).at_equal_length is None


def test_who_prefers_the_longer_response_alone_prefers_neither_at_equal_length() -> None:
    """One run writes longer in two of three pairs, and its longer responses win four of five."""
    draw, votes, tokens = random.Random(1), [], {}
    for pair in range(1000):
        ours, theirs = f"a{pair}", f"b{pair}"
        longer = draw.randint(1, 60) * draw.choice([1, 1, -1])
        tokens |= {ours: 100 + longer, theirs: 100}
        first, second = (ours, theirs) if longer > 0 else (theirs, ours)
        order = ((first,), (second,)) if draw.random() < 0.8 else ((second,), (first,))
        votes.append(Vote(Pair(f"p{pair}", ours, theirs), Ranking(order, (), Verdict.RANKED)))

    found = win_rate(votes, tokens)

    assert found.interval is not None
    assert found.interval[0] > 0.5
    rate, interval = found.at_equal_length or (0.0, None)
    assert rate == pytest.approx(0.5, abs=0.05)
    assert interval is not None
    assert interval[0] < 0.5 < interval[1]
    del tokens["a0"]
    assert win_rate(votes, tokens).at_equal_length is None
    assert win_rate([], {}).at_equal_length is None


def _random_vote(draw: random.Random) -> Vote:
    pair = draw.randrange(120)
    ours, theirs = f"a{pair}", f"b{pair}"
    tiers = draw.choice(
        [((ours,), (theirs,)), ((theirs,), (ours,)), ((ours, theirs),), ((ours,),), ()]
    )
    verdict = Verdict.RANKED if tiers else draw.choice([Verdict.RANKED, Verdict.ALL_BAD])
    unranked = tuple(sorted({ours, theirs}.difference(*tiers)))
    return Vote(Pair(f"p{pair // 2}", ours, theirs), Ranking(tiers, unranked, verdict))


def test_seeds_and_sampling_that_differ_are_named_but_models_are_not() -> None:
    one = {"model": {"id": "a"}, "seed": 1, "rollout": {"temperature": 1.0, "top_p": 1.0}}
    other = {"model": {"id": "b"}, "seed": 2, "rollout": {"temperature": 1.0, "top_p": 0.9}}
    assert not_alike(one, other) == ["rollout.top_p", "seed"]
    assert not_alike(one, one | {"model": {"id": "c"}}) == []
