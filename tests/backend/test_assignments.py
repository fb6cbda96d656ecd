"""Leases and judgments: the quota, the lease, blindness, revising."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, event, select, text, update
from sqlalchemy.orm import Session

from backend.domain.assignment import (
    LEASE,
    MOST_LEASES,
    RENEWABLE,
    RENEWABLE_OFFLINE,
    presented_order,
)
from backend.domain.records.formats import read_row
from backend.errors import Conflict
from backend.schemas.comparisons import JudgmentBody
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import assignments, comparisons, judgments, places, practice, projects
from backend.store.data.places import FarBehind, Look
from backend.store.db import MOST_CONNECTIONS, Database
from backend.store.paging import Page
from backend.store.people import users
from backend.store.tables.data import Assignment, Comparison, ProjectTally
from tests.backend.conftest import Service
from tests.backend.test_loop import comparison, upload
from tests.plans import sent_to

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def project(api: TestClient) -> str:
    """A project with three comparisons that want one judgment each."""
    made = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, made, "comparisons", *(comparison(i) for i in range(3)))
    return str(made)


def take(client: TestClient, project: str, **body: Any) -> Any:
    """Lease a comparison; None when nothing is left."""
    answer = client.post(f"/projects/{project}/assignments", json=body or None)
    assert answer.status_code in (201, 204), answer.text
    return answer.json() if answer.status_code == 201 else None


def ranked(assignment: Any, **more: Any) -> dict[str, Any]:
    """The shown order as a ranking."""
    return {"verdict": "ranked", "tiers": [[one] for one in assignment["presented_order"]], **more}


class Crowd:
    """A project straight in the store, for what needs a clock or many annotators."""

    def __init__(self, database: Database, *, n: int, required: int, annotators: int) -> None:
        self.database = database
        with database.write() as session:
            body = ProjectBody(name="P", judgments_per_comparison=required)
            self.project = projects.create(session, body, at=NOW).id
            self.people = [
                users.create(session, name=f"a{i}", role=Role.ANNOTATOR, at=NOW).id
                for i in range(annotators)
            ]
            rows = [read_row("comparisons", "auto", comparison(i, 2)) for i in range(n)]
            comparisons.ensure(session, self.project, rows, at=NOW)

    def lease(self, person: int, at: datetime = NOW, *, is_offline: bool = False) -> Any:
        """Lease the next comparison to an annotator, as a request does."""
        try:
            return self.take(person, at, is_offline=is_offline)
        except FarBehind:
            return self.take(person, at, is_offline=is_offline, seen=self.look(person))

    def take(self, person: int, at: datetime = NOW, **more: Any) -> Any:
        """Lease the next comparison as one transaction does."""
        who = self.people[person]
        return self.database.written(
            lambda session: assignments.lease(
                session, self.project, who, held=None, gate=practice.READY, at=at, **more
            ),
            "Crowd.take",
        )

    def look(self, person: int) -> Look:
        """What an annotator has passed by now."""
        with self.database.read() as session:
            return places.look(session, self.project, self.people[person])

    def renew(self, person: int, assignment: Any, at: datetime) -> datetime:
        """Renew a lease; the answer is when it expires."""
        with self.database.write() as session:
            answer = assignments.renew(session, assignment.id, self.people[person], at=at)
            return answer.expires_at

    def judge(self, person: int, assignment: Any, at: datetime = NOW, **more: Any) -> Any:
        """Submit the shown order."""
        body = JudgmentBody.model_validate(
            {"verdict": "ranked", "tiers": [[one] for one in assignment.presented_order], **more}
        )
        with self.database.write() as session:
            return judgments.submit(session, assignment.id, self.people[person], body, at=at)


def in_turn(turns: threading.Semaphore, call: Callable[..., Any], *arguments: object) -> Any:
    """The answer of a call that uses one connection."""
    with turns:
        return call(*arguments)


def test_fifty_annotators_at_once_fill_every_quota_and_nobody_judges_twice(
    database: Database,
) -> None:
    crowd = Crowd(database, n=40, required=3, annotators=50)
    # As the service has it: beyond these, whoever comes waits without a connection.
    turns = threading.Semaphore(MOST_CONNECTIONS)

    def work(person: int) -> list[str]:
        done = []
        while (assignment := in_turn(turns, crowd.lease, person)) is not None:
            in_turn(turns, crowd.judge, person, assignment)
            done.append(assignment.comparison.id)
        return done

    with ThreadPoolExecutor(50) as pool:
        done = list(pool.map(work, range(50)))

    assert all(len(set(mine)) == len(mine) for mine in done)
    per_comparison = Counter(one for mine in done for one in mine)
    assert len(per_comparison) == 40
    assert set(per_comparison.values()) == {3}


def test_one_comparison_wanted_by_all_at_once_is_leased_to_as_many_as_it_wants(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=7, annotators=20)

    with ThreadPoolExecutor(20) as pool:
        leased = [one for one in pool.map(crowd.lease, range(20)) if one is not None]

    assert len(leased) == 7


def test_an_expired_lease_is_free_for_others_and_its_answer_counts_while_there_is_room(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    assert crowd.lease(1) is None

    later = NOW + LEASE + timedelta(seconds=1)
    with database.read() as session:
        progress = assignments.progress(session, crowd.project, crowd.people[1], at=later)
    assert progress.available == 1
    kept = crowd.judge(0, mine, at=later)
    assert kept.tiers == [[one] for one in mine.presented_order]
    assert crowd.lease(1, at=later) is None


def test_an_own_expired_lease_comes_back_with_the_same_order(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=1)
    first = crowd.lease(0)
    again = crowd.lease(0, at=NOW + LEASE + timedelta(seconds=1))

    assert again.id == first.id
    assert again.presented_order == first.presented_order


def test_comparisons_with_the_fewest_judgments_come_first(database: Database) -> None:
    crowd = Crowd(database, n=3, required=2, annotators=2)
    first = crowd.lease(0)
    crowd.judge(0, first)

    assert crowd.lease(1).comparison.id != first.comparison.id


def test_a_comparison_whose_rows_contradict_each_other_is_refused_and_logged(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Skipped, and yet not passed: it stays next for this annotator, and for nobody else."""
    crowd = Crowd(database, n=1, required=2, annotators=2)
    held = crowd.lease(0)
    of_it = update(Assignment).where(Assignment.id == held.id)
    with database.write() as session:
        session.execute(of_it.values(state=assignments.SKIPPED, passed=None))
    with pytest.raises(Conflict, match=f"{held.comparison.id} is next"):
        crowd.lease(0)

    (said,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert held.comparison.id in said.getMessage()
    assert crowd.lease(1).comparison.id == held.comparison.id


def test_one_who_has_passed_enough_has_a_place_noted_and_goes_on_behind_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "WORTH_NOTING", 3)
    crowd = Crowd(database, n=5, required=2, annotators=1)

    def noted() -> dict[str, int] | None:
        with database.read() as session:
            row = session.get_one(ProjectTally, (crowd.project, crowd.people[0]))
            return row.passed_up_to

    for _ in range(3):
        crowd.judge(0, crowd.lease(0))
        assert not noted()
    fourth = crowd.lease(0)

    with database.read() as session:
        numbers = session.scalars(select(Comparison.number).order_by(Comparison.number)).all()
        of_it = select(Comparison.number).where(Comparison.id == fourth.comparison.id)
        assert session.scalar(of_it) == numbers[3]
    assert noted() == {"0": numbers[2], "1": numbers[2]}


def put_first(session: Session, crowd: Crowd) -> str:
    """One comparison more, with a number before all others."""
    row = read_row("comparisons", "auto", comparison(9, 2))
    ((late, _),) = comparisons.ensure(session, crowd.project, [row], at=NOW).found.values()
    session.execute(update(Comparison).where(Comparison.id == late).values(number=1))
    return late


def test_what_was_committed_after_a_look_is_not_passed_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL numbers a comparison when it is stored, and shows it when that is committed."""
    monkeypatch.setattr(places, "WORTH_NOTING", 3)
    crowd = Crowd(database, n=5, required=2, annotators=1)
    with database.write() as session:
        session.execute(update(Comparison).where(Comparison.number == 1).values(number=100))
    for _ in range(3):
        crowd.judge(0, crowd.lease(0))
    look = crowd.look(0)
    with database.write() as session:
        late = put_first(session, crowd)

    assert crowd.take(0, seen=look).comparison.id == late


def test_places_that_are_forgotten_after_a_lease_has_begun_stay_forgotten(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import shows comparisons with lower numbers while a lease ends, which notes its places."""
    monkeypatch.setattr(places, "WORTH_NOTING", 3)
    database = Database(postgres_url)
    crowd = Crowd(database, n=9, required=2, annotators=1)
    with database.write() as session:
        session.execute(update(Comparison).where(Comparison.number == 1).values(number=100))
    for _ in range(6):
        crowd.judge(0, crowd.lease(0))
    look = crowd.look(0)
    late: list[str] = []

    @event.listens_for(database.engine, "before_cursor_execute")
    def show(_: Any, __: Any, statement: str, *more: Any) -> None:
        if "FROM projects" not in statement or "SKIP LOCKED" not in statement or late:
            return
        with database.write() as session:
            late.append(put_first(session, crowd))
            places.forget(session, crowd.project)

    crowd.take(0, seen=look)
    event.remove(database.engine, "before_cursor_execute", show)
    assert late == [crowd.lease(0).comparison.id]
    database.close()


def test_a_look_takes_no_place_back_that_was_noted_since(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two devices of one annotator: a skip changes no sums of the project."""
    monkeypatch.setattr(places, "WORTH_NOTING", 3)
    database = Database(postgres_url)
    crowd = Crowd(database, n=12, required=2, annotators=1)

    def skip_three() -> None:
        for _ in range(3):
            held = crowd.lease(0)
            with database.write() as session:
                assignments.skip(session, held.id, crowd.people[0], reason="unsure")

    skip_three()
    look = crowd.look(0)
    skip_three()
    crowd.lease(0)
    with database.read() as session:
        before = session.get_one(ProjectTally, (crowd.project, crowd.people[0])).passed_up_to
    skip_three()
    crowd.take(0, seen=look)

    with database.read() as session:
        after = session.get_one(ProjectTally, (crowd.project, crowd.people[0])).passed_up_to
    assert before is not None
    assert after is not None
    assert after["0"] >= before["0"] > look.places.of(0)
    database.close()


def test_a_request_looks_through_what_is_passed_before_its_write_turn(
    service: Service, new_user: NewUser, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL alone: SQLite sees it at a glance."""
    monkeypatch.setattr(places, "WORTH_NOTING", 2)
    database: Database = service.app.state.database
    annotator, _ = new_user("annotator", project)
    for _ in range(2):
        answer = take(annotator, project)
        annotator.post(f"/assignments/{answer['id']}/skip", json={"reason": "unsure"})
    looks: list[bool] = []

    @event.listens_for(database.engine, "before_cursor_execute")
    def note(connection: Connection, _: Any, statement: str, *more: Any) -> None:
        if statement.startswith("WITH wanted"):
            begin = connection.get_execution_options()["podium_begin"]
            looks.append("READ ONLY" not in begin)

    third = take(annotator, project)

    # A first look shows that it is worth another.
    assert looks == ([] if database.is_sqlite else [True, False])
    with database.read() as session:
        row = session.scalars(select(ProjectTally).where(ProjectTally.user_id != "")).one()
        numbers = session.scalars(select(Comparison.number).order_by(Comparison.number)).all()
        left = select(Comparison.number).where(Comparison.id == third["comparison"]["id"])
        assert session.scalar(left) == numbers[2]
    assert row.passed_up_to == {"0": numbers[1]}


def test_guidelines_that_are_new_since_a_lease_was_begun_are_read_before_it_is_granted(
    service: Service, new_user: NewUser, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request whose annotator is far behind asks twice: both times it has to be ready."""
    monkeypatch.setattr(places, "WORTH_NOTING", 2)
    admin, look = service.client(), places.look
    annotator, _ = new_user("annotator", project)

    def published(*arguments: Any, **named: Any) -> Look:
        admin.patch(f"/projects/{project}", json={"guidelines": "Be kind."}).raise_for_status()
        return look(*arguments, **named)

    for _ in range(2):
        annotator.post(
            f"/assignments/{take(annotator, project)['id']}/skip", json={"reason": "unsure"}
        ).raise_for_status()
    monkeypatch.setattr(places, "look", published)
    answer = annotator.post(f"/projects/{project}/assignments")

    # SQLite sees at a glance what is passed.
    is_sqlite = service.app.state.database.is_sqlite
    assert answer.status_code == (201 if is_sqlite else 409), answer.text
    if is_sqlite:
        return
    assert "acknowledged" in answer.json()["detail"]
    told = {"version": answer.json()["guidelines_version"]}
    path = f"/projects/{project}/guidelines/acknowledgement"
    annotator.post(path, json=told).raise_for_status()
    monkeypatch.setattr(places, "look", look)
    assert take(annotator, project) is not None
    with service.app.state.database.read() as session:
        row = session.scalars(select(ProjectTally).where(ProjectTally.user_id != "")).one()
    assert row.passed_up_to


def test_postgresql_plans_the_statements_of_a_round_trip_once(postgres_url: str) -> None:
    """To plan takes longer than to find the row; the first five times of each are planned anew."""
    database = Database(postgres_url)
    crowd = Crowd(database, n=20, required=1, annotators=1)
    for _ in range(20):
        crowd.judge(0, crowd.lease(0))

    with database.read() as session:
        kept = text("SELECT statement, custom_plans, generic_plans FROM pg_prepared_statements")
        plans = session.execute(kept).all()
    database.close()
    assert [statement for statement, anew, again in plans if anew > 5 or not again] == []
    assert len(plans) >= 6


def test_a_lease_and_a_judgment_ask_the_database_seldom(database: Database) -> None:
    """Each statement is a message to PostgreSQL and its answer, which an annotator waits for."""
    crowd = Crowd(database, n=2, required=1, annotators=1)
    with sent_to(database) as of_a_lease:
        held = crowd.lease(0)
    with sent_to(database) as of_a_judgment:
        crowd.judge(0, held)

    # SQLite, for which a statement is no message, reads the texts by themselves and changes each
    # table in turn.
    assert len(of_a_lease) == (4 if database.is_sqlite else 3), [
        one.statement for one in of_a_lease
    ]
    most = 6 if database.is_sqlite else 2
    assert len(of_a_judgment) == most, [one.statement for one in of_a_judgment]


def test_nobody_holds_more_than_twenty_comparisons_of_a_project(database: Database) -> None:
    crowd = Crowd(database, n=MOST_LEASES + 5, required=1, annotators=2)
    held = [crowd.lease(0) for _ in range(MOST_LEASES)]
    with pytest.raises(Conflict, match="you hold 20 comparisons") as refused:
        crowd.lease(0)
    assert "Rank or skip" in (refused.value.advice or "")
    assert crowd.lease(1) is not None

    crowd.judge(0, held[0])
    assert crowd.lease(0) is not None
    with pytest.raises(Conflict):
        crowd.lease(0)
    # What has expired counts no more.
    assert crowd.lease(0, NOW + LEASE) is not None


@pytest.mark.parametrize(
    ("is_offline", "length", "longest"),
    [(False, LEASE, RENEWABLE), (True, RENEWABLE_OFFLINE, RENEWABLE_OFFLINE)],
)
def test_a_lease_is_renewed_until_a_while_after_its_grant(
    database: Database, is_offline: bool, length: timedelta, longest: timedelta
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0, is_offline=is_offline)
    at = NOW
    while (expires_at := crowd.renew(0, mine, at)) < NOW + longest:
        assert expires_at == at + length
        at = expires_at - timedelta(minutes=1)
    assert expires_at == NOW + longest
    with pytest.raises(Conflict, match="can be renewed until"):
        crowd.renew(0, mine, NOW + longest)

    # It may be granted anew, to whoever asks first, and then its time begins again.
    again = crowd.lease(1, NOW + longest)
    assert crowd.renew(1, again, NOW + longest) == NOW + longest + LEASE


def test_a_judgment_is_taken_after_the_last_renewal_while_nobody_else_has_the_comparison(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=1)
    mine = crowd.lease(0)
    assert crowd.judge(0, mine, NOW + 2 * RENEWABLE).revision == 1


def test_a_lease_says_whether_it_was_taken_for_work_without_a_network(
    service: Service, api: TestClient, project: str
) -> None:
    taken = [take(api, project, offline=True), take(api, project, held=[], offline=False)]
    database: Database = service.app.state.database
    with database.read() as session:
        rows = session.execute(select(Assignment.id, Assignment.is_offline))
        found = {row[0]: row[1] for row in rows}
    assert found == {taken[0]["id"]: True, taken[1]["id"]: False}


def test_what_a_phone_took_offline_is_not_given_to_the_laptop(
    api: TestClient, project: str
) -> None:
    phone = take(api, project, held=[], offline=True)
    laptop = [take(api, project, held=[])]
    # A reload of the laptop gets back what the laptop had, and nothing of the phone.
    assert take(api, project, held=[])["id"] == laptop[0]["id"]
    laptop.append(take(api, project, held=[laptop[0]["id"]]))
    assert phone["id"] not in {one["id"] for one in laptop}
    assert take(api, project, held=[one["id"] for one in laptop]) is None

    # A browser that has lost its storage gets them back by asking for work offline.
    again = take(api, project, held=[one["id"] for one in laptop], offline=True)
    assert again["id"] == phone["id"]
    assert again["expires_at"] == phone["expires_at"]


def test_a_comparison_is_made_of_responses_to_its_own_prompt(api: TestClient, project: str) -> None:
    listed = api.get(f"/projects/{project}/comparisons").json()["items"]
    body = {"prompt_id": listed[0]["prompt_id"], "response_ids": listed[0]["response_ids"][:2]}

    made = api.post(f"/projects/{project}/comparisons", json=body)
    assert made.status_code == 201
    assert made.json()["judgments_required"] == 1
    foreign = {**body, "response_ids": listed[1]["response_ids"][:2]}
    refused = api.post(f"/projects/{project}/comparisons", json=foreign)
    assert refused.status_code == 422
    assert "does not answer the prompt" in refused.json()["detail"]


def test_the_same_judgment_again_is_the_same_answer_and_revise_replaces_it(
    api: TestClient, project: str
) -> None:
    assignment = take(api, project)
    address = f"/assignments/{assignment['id']}/judgment"
    body = ranked(assignment)
    first = api.post(address, json=body)
    again = api.post(address, json=body)
    other = {"verdict": "all_bad"}

    assert again.json() == first.json()
    revised = api.post(address, json={**other, "revise": True}).json()
    assert revised["revision"] == 2
    assert sorted(revised["unranked"]) == sorted(assignment["presented_order"])
    listed = api.get(f"/projects/{project}/judgments").json()["items"]
    assert [one["id"] for one in listed] == [revised["id"]]
    assert api.get(f"/projects/{project}/annotation").json()["done"] == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda ids: {"tiers": [ids[:2]]}, "is in no tier and not in `unranked`"),
        (lambda ids: {"tiers": [ids, ids[:1]]}, "is placed twice"),
        (lambda ids: {"tiers": [ids[:-1]], "unranked": ["response_x"]}, "not part of"),
        (lambda ids: {"tiers": [ids, []]}, "tier is empty"),
        (lambda ids: {"tiers": [], "unranked": ids}, "no response is in a tier"),
        (lambda ids: {"tiers": [ids], "verdict": "all_bad"}, "comes with tiers"),
        (lambda ids: {"tiers": [ids], "flags": ["response_x"]}, "`flags` names"),
        (lambda ids: {"tiers": [ids], "comment": "nul \x00"}, "NUL"),
    ],
)
def test_a_ranking_that_is_none_is_refused_with_its_reason(
    light_service: Service, change: Callable[[list[str]], dict[str, Any]], reason: str
) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", comparison(1))
    assignment = take(api, project)

    body = {"verdict": "ranked", **change(assignment["presented_order"])}
    refused = api.post(f"/assignments/{assignment['id']}/judgment", json=body)
    assert refused.status_code == 422
    assert reason in refused.json()["detail"]
    assert api.get(f"/projects/{project}/judgments").json()["items"] == []


def test_an_annotator_sees_texts_and_nothing_about_where_they_come_from(
    api: TestClient, project: str, new_user: NewUser
) -> None:
    client, _ = new_user("annotator", project)
    assignment = take(client, project)

    assert set(assignment) == {
        "id", "comparison", "criteria", "presented_order", "expires_at"
    }  # fmt: skip
    assert set(assignment["comparison"]["responses"][0]) == {"id", "content"}
    assert client.get(f"/projects/{project}/responses").status_code == 403
    client.post(f"/assignments/{assignment['id']}/judgment", json=ranked(assignment))
    mine = take(api, project)
    api.post(f"/assignments/{mine['id']}/judgment", json=ranked(mine))
    seen = client.get(f"/projects/{project}/judgments").json()["items"]
    assert [one["assignment_id"] for one in seen] == [assignment["id"]]


def test_every_text_comes_as_it_was_imported_and_a_lost_lease_is_the_same(
    api: TestClient,
) -> None:
    """A new lease may read texts in another way than a lost one that comes back."""
    texts = [
        '{"a", "b"}',
        "NULL",
        "back\\slash\\n",
        "line\n\tü 漢字 🙂",
        "it's",
        '"',
        "100 %s",
        ",",
        "{}",
    ]
    project = str(api.post("/projects", json={"name": "odd"}).json()["id"])
    upload(api, project, "comparisons", {"prompt": "%(x)s?", "responses": texts})

    new = take(api, project, held=[])
    shown = new["comparison"]
    assert shown["prompt"]["messages"] == [{"role": "user", "content": "%(x)s?"}]
    assert [one["id"] for one in shown["responses"]] == new["presented_order"]
    assert sorted(one["content"] for one in shown["responses"]) == sorted(texts)
    assert take(api, project, held=[]) == new


def test_nobody_can_judge_skip_or_renew_the_assignment_of_another(
    api: TestClient, project: str, new_user: NewUser
) -> None:
    client, _ = new_user("annotator", project)
    address = f"/assignments/{take(api, project)['id']}"

    assert client.post(f"{address}/judgment", json={"verdict": "all_bad"}).status_code == 404
    assert client.post(f"{address}/skip", json={"reason": "x"}).status_code == 404
    assert client.post(f"{address}/renew").status_code == 404


def test_a_skipped_comparison_goes_to_others_and_not_back(
    api: TestClient, project: str, new_user: NewUser
) -> None:
    client, _ = new_user("annotator", project)
    skipped = take(client, project)
    answer = client.post(f"/assignments/{skipped['id']}/skip", json={"reason": "unsure"})
    assert answer.status_code == 204
    assert answer.content == b""

    rest = [take(client, project), take(client, project)]
    assert take(client, project) is None
    taken = {one["comparison"]["id"] for one in rest}
    assert skipped["comparison"]["id"] not in taken
    assert take(api, project)["comparison"]["id"] == skipped["comparison"]["id"]


def test_a_skipped_comparison_can_still_be_judged_while_there_is_room(
    api: TestClient, project: str
) -> None:
    skipped = take(api, project)
    address = f"/assignments/{skipped['id']}"
    api.post(f"{address}/skip", json={"reason": "unsure"})
    assert api.post(f"{address}/renew").status_code == 409
    assert api.post(f"{address}/judgment", json=ranked(skipped)).status_code == 201
    assert api.post(f"{address}/skip", json={"reason": "late"}).status_code == 409


def test_each_call_leases_another_comparison_and_held_brings_lost_ones_back(
    api: TestClient, project: str
) -> None:
    first, second = take(api, project), take(api, project)
    assert first["comparison"]["id"] != second["comparison"]["id"]

    assert take(api, project, held=[second["id"]])["id"] == first["id"]
    third = take(api, project, held=[first["id"], second["id"]])
    assert third["id"] not in {first["id"], second["id"]}
    renewed = api.post(f"/assignments/{first['id']}/renew").json()
    assert renewed["expires_at"] >= first["expires_at"]


def test_progress_counts_what_is_left_for_this_annotator(
    api: TestClient, project: str, new_user: NewUser
) -> None:
    client, _ = new_user("annotator", project)
    mine = take(client, project)
    client.post(f"/assignments/{mine['id']}/judgment", json=ranked(mine))
    take(api, project)

    assert client.get(f"/projects/{project}/annotation").json() == {
        "mine": 1, "mine_today": 1, "done": 1, "wanted": 3, "available": 1,
        "open": 2, "passed": 0, "held": 0, "held_by_others": 1,
    }  # fmt: skip
    counts = api.get(f"/projects/{project}").json()["counts"]
    assert counts["judgments"] == 1
    assert counts["open_comparisons"] == 2


def test_progress_counts_the_day_of_the_annotator(
    api: TestClient, project: str, new_user: NewUser
) -> None:
    client, _ = new_user("annotator", project)
    mine = take(client, project)
    client.post(f"/assignments/{mine['id']}/judgment", json=ranked(mine))
    address = f"/projects/{project}/annotation"
    ahead = timezone(timedelta(hours=9))

    def today(since: datetime) -> Any:
        return client.get(address, params={"day_start": since.isoformat()}).json()["mine_today"]

    now = datetime.now(ahead)
    assert today(now - timedelta(hours=1)) == 1
    assert today(now + timedelta(hours=1)) == 0
    assert client.get(address, params={"day_start": "2026-11-26T00:00:00"}).status_code == 422
    # Year 1 begins before it in UTC.
    assert client.get(address, params={"day_start": "0001-01-01T00:00:00+10:00"}).status_code == 422


def test_presented_order_is_shuffled_per_annotator_without_favour() -> None:
    ids = ["r1", "r2", "r3"]
    first = Counter(
        presented_order(ids, comparison_id="c", user_id=f"u{i}")[0] for i in range(3000)
    )
    assert all(abs(first[one] - 1000) < 120 for one in ids)


def test_the_list_of_comparisons_tells_open_ones_from_done_ones(database: Database) -> None:
    crowd = Crowd(database, n=2, required=1, annotators=1)
    crowd.judge(0, crowd.lease(0))
    with database.read() as session:
        still = comparisons.listing(session, crowd.project, Page(), is_open=True)
        done = comparisons.listing(session, crowd.project, Page(), is_open=False)
    assert (len(still.items), len(done.items)) == (1, 1)
