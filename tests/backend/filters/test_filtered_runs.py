"""GET /runs with filters, orders and columns, against a slow reference over the same runs."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from backend.domain.filters.parser import parsed
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import RunState, VerdictKind
from backend.store.db import Database
from backend.store.metrics import extremes, points
from backend.store.paging import Page
from backend.store.runs.runs import NewRun, create
from backend.store.runs.table import facts, keys
from backend.store.runs.table.pages import RunFilter, find
from backend.store.tables.data import Project
from backend.store.tables.runs import Experiment, Run, RunFact
from tests.backend.conftest import Service
from tests.backend.filters.reference import Known, holds
from tests.backend.runs.conftest import Seed, plant

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
N_RUNS = 40
NAMES = ("baseline", "KL sweep", "ÉTÉ 100%_a", 'a "b" \\', "kl")
TAGS = ("Good", "kl", "a%", "two words", "kl sweep")


@dataclass
class Site:
    """A client, and what was written down of each run."""

    api: TestClient
    known: list[Known]

    def found(self, text: str, **query: Any) -> list[str]:
        """Ids of the runs that a filter lets through, page by page."""
        ids: list[str] = []
        cursor = ""
        while cursor is not None:
            asked = {"filter": text, "limit": 17, "cursor": cursor, **query}
            answer = self.api.get("/runs", params=asked)
            assert answer.status_code == 200, answer.text
            ids += [run["id"] for run in answer.json()["items"]]
            cursor = answer.json()["next_cursor"]
        return ids

    def expected(self, text: str) -> list[str]:
        """The same by the reference, newest first."""
        tree = parsed(text)
        shown = [one for one in self.known if "archived" in text or not one.run["archived_at"]]
        return [str(one.run["id"]) for one in shown if holds(tree, one)][::-1]


@pytest.fixture
def site(api: TestClient, database: Database) -> Site:
    """Runs of all kinds; drawn, and the same each time."""
    seed, rng = plant(database), random.Random(7)
    metrics: dict[str, dict[str, list[float | None]]] = {}
    with database.write() as session:
        for number, name in enumerate(("KL Sweep", "other")):
            session.add(
                Experiment(id=f"exp_{number}", created_at=AT, project_id=seed.project, name=name)
            )
        session.flush()
        for number in range(N_RUNS):
            run = create(session, drawn(seed, rng), at=AT + timedelta(hours=7 * number))
            metrics[run.id] = curves(rng)
            lines = [
                MetricLine(step=step, time=float(step), values={name: value})
                for name, values in metrics[run.id].items()
                for step, value in enumerate(values)
            ]
            points.append(session, run.id, 1, lines, at=AT)
            settle(session, run, rng)
    runs = [*every(api, archived=False), *every(api, archived=True)]
    runs.sort(key=lambda run: run["created_at"])
    names = {"exp_0": "KL Sweep", "exp_1": "other", None: None}
    return Site(api, [Known(run, names[run["experiment_id"]], metrics[run["id"]]) for run in runs])


def every(api: TestClient, *, archived: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(
        "/runs", params={"archived": archived, "limit": 500}
    ).json()["items"]
    return found


def drawn(seed: Seed, rng: random.Random) -> NewRun:
    config: dict[str, Any] = {
        "method": rng.choice(["sft", "policy_gradient"]),
        "kl": {"coef": rng.choice([0, 0.01, 0.1, 1, None]), "estimator": rng.choice(["K1", "k2"])},
        "flag": rng.choice([True, False]),
        "mixed": rng.choice([1, 1.0, "1", "one", True, None, 2]),
        "terms": [{"weight": rng.choice([1, 2])} for _ in range(rng.randrange(3))],
    }
    if rng.random() < 0.5:
        config["estimator"] = rng.choice(["grpo", "ppo"])
    return NewRun(
        project_id=seed.project,
        user_id=seed.user,
        name=rng.choice(NAMES),
        method=config["method"],
        config=config,
        schema_version=1,
        tags=rng.sample(TAGS, rng.randrange(3)),
        experiment_id=rng.choice([None, "exp_0", "exp_1"]),
    )


def curves(rng: random.Random) -> dict[str, list[float | None]]:
    def values() -> list[float | None]:
        drawn = [rng.choice([-1.0, 0.0, 0.25, 0.5, 0.5, 2.0, None]) for _ in range(5)]
        return drawn[: rng.randrange(6)]

    found = {name: values() for name in ("eval/reward", "eval/loss")}
    return {name: said for name, said in found.items() if said}


def settle(session: Any, run: Run, rng: random.Random) -> None:
    run.state = rng.choice(list(RunState))
    run.step = rng.choice([0, 5, 100])
    run.started_at = rng.choice([None, AT, AT + timedelta(days=3)])
    run.archived_at = rng.choice([None, None, None, AT])
    if rng.random() < 0.5:
        run.verdict = rng.choice(list(VerdictKind))
        run.verdict_level, run.verdict_sentence = "good", "It is."
    session.flush()


VALUES = st.sampled_from(["0", "0.01", "1e-2", "1", "1.0", "-1", "0.5", "2", "none", "any"])
WORDS = st.sampled_from(
    ["baseline", "kl", "KL", "é", "É", "%", "_", '"a%"', r'"\\"', '"kl sweep"', "true", "one", "k1",
     "sweep", "exp_0", "grpo", "none", "any", "nothing"]
)  # fmt: skip
EQUALS = st.sampled_from([":", "=", "!="])
ORDERS = st.sampled_from([":", "!=", "<", "<=", ">", ">="])
CHOICES = {
    "state": ["running", "failed,queued"],
    "method": ["sft", "grpo", "policy_gradient,ppo"],
    "verdict": ["improved", "hacked", "worse,stalled", "none", "any"],
    "archived": ["yes", "no", "any", "none"],
}
TERMS = st.one_of(
    st.sampled_from(
        [f"{k}{op}{v}" for k, values in CHOICES.items() for v in values for op in (":", "!=")]
    ),
    st.tuples(st.sampled_from(["name", "tag", "experiment"]), EQUALS | st.just("~"), WORDS),
    st.tuples(st.sampled_from(["config.kl.coef", "config.mixed", "config.terms.1.weight",
                               "config.kl.estimator", "config.flag", "config.kl", "config.no"]),
              EQUALS | st.just("~"), WORDS | VALUES),
    st.tuples(st.sampled_from(["config.kl.coef", "config.mixed", "step",
                               "metric.eval/reward", "best.eval/reward", "min.eval/reward",
                               "max.eval/loss", "best.eval/loss", "metric.no"]),
              ORDERS, st.sampled_from(["0", "0.01", "1e-2", "1", "-1", "0.5", "2", "100"])),
    st.tuples(st.sampled_from(["created", "started", "finished"]), ORDERS,
              st.sampled_from(["2026-11-01", "2026-11-03", "2026-11-05T13:00", "2026-11-01T12"])),
    st.sampled_from(["metric.eval/reward:none", "best.eval/loss:any", "started:none", "tag:none",
                     "config.kl.coef:none", "experiment:none", "parent:none", "kl", '"KL s"']),
).map("".join)  # fmt: skip


def joined(parts: Sequence[str], word: str) -> str:
    return "(" + word.join(parts) + ")"


FILTERS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        inner.map(lambda text: f"-{text}"),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: joined(parts, " ")),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: joined(parts, " OR ")),
    ),
    max_leaves=5,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=FILTERS)
def test_a_filter_lets_through_what_the_reference_does(
    site: Site, database: Database, text: str
) -> None:
    with database.read() as session:
        runs, _ = find(session, RunFilter(tree=parsed(text)), Page(limit=500))
        assert [run.id for run in runs] == site.expected(text)


def test_the_api_filters_page_by_page(site: Site) -> None:
    for text in ("", "archived:any", "-state:running step>=5", "best.eval/loss<1 OR tag:kl"):
        assert site.found(text) == site.expected(text)


ORDERS_OF_RUNS = (
    "created", "name", "state", "method", "verdict", "experiment", "step", "attempt", "started",
    "finished", "config.kl.coef", "config.mixed", "metric.eval/reward", "best.eval/loss",
    "max.eval/reward",
)  # fmt: skip


def test_an_order_has_each_run_once_and_those_without_a_value_last(site: Site) -> None:
    for sort in ORDERS_OF_RUNS:
        of_run = {str(one.run["id"]): sorted_by(one, sort) for one in site.known}
        for order, is_down in ((sort, False), (f"-{sort}", True)):
            ids = site.found("", sort=order)
            assert sorted(ids) == sorted(site.expected("")), order
            values = [of_run[one] for one in ids]
            there = [value for value in values if value is not None]
            assert values == there + [None] * (len(values) - len(there)), order
            assert there == sorted(there, reverse=is_down), order


def sorted_by(known: Known, sort: str) -> Any:
    """What the reference sorts by: numbers before texts."""
    run, (field, _, name) = known.run, sort.partition(".")
    if field == "config":
        value = run["config"].get(name, run["config"]["kl"].get(name.removeprefix("kl.")))
        if value is None:
            return None
        is_number = not isinstance(value, bool | str)
        # Behind all numbers in either direction stands what is none: compared apart.
        return (float(value), str(value).lower()) if is_number else None
    if field in ("metric", "max", "best"):
        values = known.metrics.get(name, [None])
        finite = [value for value in values if value is not None]
        if field == "metric":
            return values[-1]
        return (min if field == "best" else max)(finite, default=None)
    if field == "experiment":
        return known.experiment and known.experiment.lower()
    if field == "verdict":
        return run["verdict"] and run["verdict"]["kind"]
    if field == "step":
        return run["progress"]["step"]
    value = run[f"{field}_at" if field in ("created", "started", "finished") else field]
    return value.lower() if isinstance(value, str) else value


def test_columns_are_answered_by_name(site: Site) -> None:
    columns = "config.kl.coef,config.flag,config.no,best.eval/loss,metric.eval/reward,min.no"

    items = site.api.get("/runs", params={"columns": columns, "limit": 500}).json()["items"]

    by_id = {str(one.run["id"]): one for one in site.known}
    for run in items:
        known = by_id[run["id"]]
        losses = [v for v in known.metrics.get("eval/loss", []) if v is not None]
        rewards = known.metrics.get("eval/reward", [None])
        assert run["values"] == {
            "config.kl.coef": run["config"]["kl"]["coef"],
            "config.flag": run["config"]["flag"],
            "config.no": None,
            "best.eval/loss": min(losses, default=None),
            "metric.eval/reward": rewards[-1],
            "min.no": None,
        }


def test_a_run_that_is_older_than_its_facts_is_found_once_they_are_filled_in(
    site: Site, database: Database
) -> None:
    text = "tag:kl OR config.kl.coef>0 OR min.eval/loss<0"
    with database.write() as session:
        before = stored(session)
        session.query(RunFact).delete()
    assert site.found(text) == []

    with database.write() as session:
        old = facts.missing(session, 0, limit=100)
        assert len(old) == N_RUNS
        for _, run_id in old:
            extremes.fill(session, run_id)

    with database.read() as session:
        assert facts.missing(session, 0, limit=100) == []
        assert stored(session) == before
    assert site.found(text) == site.expected(text)


def stored(session: Any) -> list[Any]:
    columns = (RunFact.key, RunFact.run, RunFact.text, RunFact.number, RunFact.least)
    return sorted(map(tuple, session.query(*columns, RunFact.greatest)), key=lambda row: row[:2])


def test_what_is_told_again_or_taken_back_changes_the_extremes(
    database: Database, seed: Seed
) -> None:
    with database.write() as session:
        run = create(session, replace(drawn(seed, random.Random(1)), experiment_id=None), at=AT)

        def tell(step: int, value: float | None) -> Any:
            line = MetricLine(step=step, time=float(step), values={"eval/reward": value})
            points.append(session, run.id, 1, [line], at=AT)
            session.expire_all()
            return extremes_of(session, run.number)

        assert tell(10, 1.0) == (1.0, 1.0, 1.0)
        assert tell(20, 5.0) == (5.0, 1.0, 5.0)
        assert tell(30, None) == (None, 1.0, 5.0)
        assert tell(20, 2.0) == (None, 1.0, 2.0)
        assert tell(15, -1.0) == (None, -1.0, 2.0)
        points.rewind(session, run.id, 12, at=AT)
        assert extremes_of(session, run.number) == (1.0, 1.0, 1.0)
        points.rewind(session, run.id, -1, at=AT)
        assert extremes_of(session, run.number) is None


def extremes_of(session: Any, number: int) -> Any:
    columns = (RunFact.number, RunFact.least, RunFact.greatest)
    of_metric = session.query(*columns).filter_by(key="metric.eval/reward", run=number)
    row = of_metric.one_or_none()
    return None if row is None else tuple(row)


def test_filters_by_tag_follow_a_change(site: Site) -> None:
    run_id = site.found("")[0]
    site.api.patch(f"/runs/{run_id}", json={"tags": ["Fresh", "a\\b"]})

    assert site.found("tag:fresh") == site.found('tag:"a\\\\b"') == [run_id]
    site.api.patch("/runs", json={"run_ids": [run_id], "remove_tags": ["Fresh", "a\\b"]})
    assert site.found("tag:fresh OR tag~b") == []


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"filter": "state:happy"}, "`happy`"),
    ({"filter": "x" * 1001}, "the filter has 1001"),
    ({"sort": "nothing"}, "'nothing'"),
    ({"sort": "tag"}, "`tag`"),
    ({"columns": "name"}, "`name`"),
    ({"columns": ",".join(f"config.k{n}" for n in range(21))}, "21 keys"),
    ({"cursor": "n17"}, "cursor"),
    ({"cursor": "WzFd", "sort": "name"}, "cursor"),
    ({"cursor": "WyJhIl0"}, "cursor"),
    ({"cursor": "WzFlOTk5XQ"}, "cursor"),
    ({"cursor": "W1tbW1tbW1tb" * 16}, "cursor"),
    ({"cursor": "é"}, "cursor"),
]


def test_what_cannot_be_read_is_refused(light_service: Service) -> None:
    for query, said in REFUSED:
        answer = light_service.client().get("/runs", params=query)
        assert answer.status_code == 422, query
        assert said in answer.json()["detail"]


def test_a_wrong_filter_says_where(light_service: Service) -> None:
    answer = light_service.client().get("/runs", params={"filter": "kl state:happy"}).json()

    assert (answer["position"], answer["length"]) == (9, 5)
    assert answer["found"] == "`happy`"


def test_no_cursor_of_huge_numbers_is_an_error_of_ours(api: TestClient) -> None:
    # [1e300], [-10**40], [10**20]
    for cursor in (
        "WzFlMzAwXQ",
        "Wy0xMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMF0",
        "WzEwMDAwMDAwMDAwMDAwMDAwMDAwMF0",
    ):
        assert api.get("/runs", params={"cursor": cursor}).status_code in (200, 422)


def test_the_keys_of_a_project_are_its_own(site: Site) -> None:
    other = site.api.post("/projects", json={"name": "other"}).json()["id"]
    mine = site.known[0].run["project_id"]

    answer = site.api.get(f"/projects/{mine}/run-keys").json()
    empty = site.api.get(f"/projects/{other}/run-keys").json()

    assert answer["metrics"] == ["eval/loss", "eval/reward"]
    assert "config.kl.coef" in answer["config"]
    assert set(answer["tags"]) == set(TAGS)
    assert (empty["config"], empty["metrics"], empty["tags"]) == ([], [], [])
    state = next(field for field in answer["fields"] if field["name"] == "state")
    assert state["operators"] == [":", "!="]
    assert "running" in state["choices"]


def test_many_keys_of_configs_leave_room_for_those_of_metrics(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_MOST_KEYS", 2)

    answer = site.api.get(f"/projects/{site.known[0].run['project_id']}/run-keys").json()

    assert len(answer["config"]) == 2
    assert answer["metrics"] == ["eval/loss", "eval/reward"]


def test_the_keys_of_old_runs_are_told_and_none_of_another_project(
    site: Site, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "_LOOKED_THROUGH", 5)
    project = site.known[0].run["project_id"]
    with database.write() as session:
        of_id = {run.id: run.number for run in session.execute(select(Run.id, Run.number))}
        places = (0, 1, 2, 3, -1)
        oldest, first, between, old, newest = (of_id[site.known[n].run["id"]] for n in places)
        session.add(Project(id="project_other", created_at=AT, name="other"))
        session.flush()
        theirs = update(Run).where(Run.number.in_([first, old]))
        session.execute(theirs.values(project_id="project_other"))
        told = {
            "config.once": [oldest],
            "config.theirs": [first, old],
            # Both ends of it are of the other project.
            "config.within": [first, between, old],
            "metric.new": [newest],
        }
        session.add_all(
            RunFact(key=key, run=run, number=1.0) for key, runs in told.items() for run in runs
        )

    answer = site.api.get(f"/projects/{project}/run-keys").json()
    with database.read() as session:
        mine = select(RunFact.key).join(Run, Run.number == RunFact.run)
        mine = mine.where(Run.project_id == project, RunFact.key != facts.TAGS).distinct()
        every = sorted(session.scalars(mine))

    metrics = [f"metric.{name}" for name in answer["metrics"]]
    assert sorted(answer["config"] + metrics) == every
    assert {"config.once", "config.within", "metric.new"} <= set(every)
    assert "config.theirs" not in every
