"""Two requests that lock the same rows lock them in one order, so that neither is undone."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, update

from backend import auth
from backend.domain.access import Caller
from backend.domain.assignment import Quota
from backend.schemas.comparisons import AssignmentAnswer, JudgmentBody
from backend.schemas.projects.practice import PracticeBody
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role, Verdict
from backend.store.data import (
    assignments,
    comparisons,
    judgments,
    places,
    practice,
    projects,
    tallies,
)
from backend.store.db import Database
from backend.store.people import invitations, users
from backend.store.people.invitations import Link, Offer
from backend.store.runs import experiments, runs
from backend.store.tables.data import Assignment, Project, ProjectTally
from backend.store.tables.runs import Checkpoint, Run
from tests.backend.at_once.beside import Beside
from tests.backend.conftest import Service
from tests.backend.imports.work import Place
from tests.backend.runs.conftest import AT, plant
from tests.backend.test_assignments import NOW, Crowd
from tests.backend.test_loop import comparison, ndjson
from tests.backend.test_next_comparison import check_counts

LATER = datetime(2027, 1, 2, 3, 4, tzinfo=UTC)


def begin_to_rank(place: Place) -> tuple[AssignmentAnswer, JudgmentBody]:
    """The lease of the only comparison, and a ranking as it is shown."""
    place.take(ndjson(comparison(1)), "comparisons")
    with place.database.write() as session:
        lease = assignments.lease(session, place.project, place.user, held=None, at=AT)
    assert lease is not None
    tiers = [[one] for one in lease.presented_order]
    return lease, JudgmentBody(verdict=Verdict.RANKED, tiers=tiers)


def test_a_judgment_and_a_comparison_that_becomes_one_for_practice(
    postgres: Database, tmp_path: Path
) -> None:
    place = Place(postgres, tmp_path)
    lease, body = begin_to_rank(place)
    with postgres.write() as session:
        assignments.get_own(session, lease.id, place.user)
        other = Beside(
            postgres,
            lambda beside: practice.mark(
                beside,
                place.project,
                lease.comparison.id,
                PracticeBody(expected=body),
                user_id=place.user,
                at=AT,
            ),
        )
        judgments.submit(session, lease.id, place.user, body, at=AT)

    assert other.result().comparison.id == lease.comparison.id


def test_a_judgment_and_its_comparison_that_is_asked_for_one_more(
    postgres: Database, tmp_path: Path
) -> None:
    place = Place(postgres, tmp_path)
    lease, body = begin_to_rank(place)
    quotas = {lease.comparison.id: Quota(2)}
    with postgres.write() as session:
        assignments.get_own(session, lease.id, place.user)
        other = Beside(
            postgres, lambda beside: comparisons.ask_for_more(beside, place.project, quotas)
        )
        judgments.submit(session, lease.id, place.user, body, at=AT)

    assert other.result().judgments == 1
    # The judgment has finished the comparison, so it is open again, and its annotator is done.
    check_counts(postgres, place.project)
    with postgres.read() as session:
        assert session.scalar(select(Assignment.passed)) is not None


def test_a_judgment_and_a_place_of_its_annotator_that_is_noted(
    postgres: Database, tmp_path: Path
) -> None:
    """As two tabs do: one ranks, and the other asks for more after hundreds were passed."""
    place = Place(postgres, tmp_path)
    lease, body = begin_to_rank(place)
    with postgres.write() as session:
        alone = select(Project.id).where(Project.id == place.project)
        assert session.scalar(alone.with_for_update(skip_locked=True)) == place.project
        other = Beside(
            postgres,
            lambda beside: judgments.submit(beside, lease.id, place.user, body, at=AT),
        )
        tallies.add(session, place.project, place.user, judged=0)

    assert other.result().revision == 1
    with postgres.read() as session:
        assert tallies.judged_by(session, place.project, place.user) == 1


def test_a_judgment_and_a_lease_of_the_last_free_comparison_that_notes_a_place(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "WORTH_NOTING", 2)
    crowd = Crowd(postgres, n=3, required=3, annotators=2)
    *_, last = (crowd.lease(1) for _ in range(3))
    for _ in range(2):
        crowd.judge(0, crowd.lease(0))
    look = crowd.look(0)
    with postgres.write() as session:
        assignments.get_own(session, last.id, crowd.people[1])
        other = Beside(
            postgres,
            lambda beside: assignments.lease(
                beside, crowd.project, crowd.people[0], held=None, seen=look, at=NOW
            ),
        )
        body = JudgmentBody(verdict=Verdict.ALL_BAD, unranked=last.presented_order)
        judgments.submit(session, last.id, crowd.people[1], body, at=NOW)

    taken = other.result()
    assert taken is not None
    assert taken.comparison.id == last.comparison.id
    with postgres.read() as session:
        assert session.get_one(ProjectTally, (crowd.project, crowd.people[0])).passed_up_to


def test_runs_that_are_changed_and_added_to_an_experiment(postgres_service: Service) -> None:
    api, database = postgres_service.client(), postgres_service.app.state.database
    seed = plant(database)
    first, second = (
        str(api.post("/runs", json=seed.body(seed.sft())).raise_for_status().json()["id"])
        for _ in range(2)
    )
    body = {"project_id": seed.project, "name": "e"}
    experiment = api.post("/experiments", json=body).raise_for_status().json()["id"]
    with database.write() as session:
        # Its row now lies behind the other, in table and indexes: an UPDATE comes to it last.
        session.execute(update(Run).where(Run.id == first).values(priority=7))
    with database.write() as session:
        runs.locked(session, first)
        other = Beside(
            database, lambda beside: experiments.add_runs(beside, experiment, [first, second])
        )
        runs.locked(session, second)

    assert other.result().run_count == 2


def test_a_pruned_clone_that_is_retried_and_its_parent(postgres_service: Service) -> None:
    api, database = postgres_service.client(), postgres_service.app.state.database
    seed = plant(database)
    parent = api.post("/runs", json=seed.body(seed.sft())).raise_for_status().json()["id"]
    with database.write() as session:
        path = "checkpoints/step-10"
        session.add(Checkpoint(run_id=parent, step=10, attempt=1, path=path, created_at=AT))
    clone = api.post(f"/runs/{parent}/clone", json={"from_checkpoint": 10})
    child = clone.raise_for_status().json()["id"]
    api.post(f"/runs/{child}/cancel").raise_for_status()
    with database.write() as session:
        session.execute(update(Run).where(Run.id == child).values(pruned_at=AT))
    with database.write() as session:
        runs.locked(session, parent)
        other = Beside(
            database, lambda beside: runs.retry(beside, child, at=AT, from_start=True).state
        )
        runs.locked(session, child)

    assert other.result() == "queued"


def test_an_administrator_who_joins_and_a_change_of_the_sender(postgres: Database) -> None:
    with postgres.write() as session:
        ada = users.create(session, name="Ada", role=Role.ADMIN, at=AT)
        sender = Caller(id=ada.id, name=ada.name, role=Role.ADMIN)
        joins = users.create(session, name="Grace", role=Role.RESEARCHER, at=AT)
        project = projects.create(session, ProjectBody(name="P"), at=AT).id
    with postgres.write() as session:
        offer = Offer("Grace", None, Link("t", LATER))
        invitations.add(session, sender, project, [offer], role=Role.ADMIN, at=AT)
    caller = Caller(id=joins.id, name=joins.name, role=Role.RESEARCHER)
    with postgres.write() as session:
        users.change(session, sender.id, name="Ada L.")
        other = Beside(postgres, lambda beside: invitations.join(beside, caller, "t", at=AT))
        invitations.revoke_beyond(session, sender.id, at=AT)

    assert other.result().role is Role.ADMIN


def test_a_key_that_an_administrator_makes_and_a_change_of_its_owner(postgres: Database) -> None:
    with postgres.write() as session:
        ada = users.create(session, name="Ada", role=Role.ADMIN, at=AT)
        owner = users.create(session, name="Grace", role=Role.ANNOTATOR, at=AT)
    maker = Caller(id=ada.id, name=ada.name, role=Role.ADMIN)
    with postgres.write() as session:
        users.hold(session, ada.id)
        other = Beside(
            postgres,
            lambda beside: auth.add_key(
                beside, user_id=owner.id, name="k", expires_in_s=None, maker=maker, at=AT
            ),
        )
        users.change(session, owner.id, name="Grace H.")

    assert other.result().name == "k"
