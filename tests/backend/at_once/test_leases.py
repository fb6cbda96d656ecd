"""Leases that are taken, given back and judged at the same moment."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.schemas.comparisons import AssignmentAnswer, JudgmentBody, LeaseEnd
from backend.schemas.vocabulary import ReviewReason, Role, Verdict
from backend.store.data import assignments, judgments, tallies
from backend.store.db import Database
from backend.store.people import users
from backend.store.tables.data import Assignment, Comparison, Judgment
from backend.store.tables.people import User
from tests.backend.at_once.beside import Beside
from tests.backend.imports.work import Place
from tests.backend.test_loop import comparison, ndjson

AT = datetime(2026, 11, 22, 13, 0, tzinfo=UTC)


@pytest.mark.parametrize(("comparisons", "others"), [(1, 0), (2, 0), (2, 1)])
def test_a_judged_comparison_is_not_leased_again(
    postgres: Database, tmp_path: Path, comparisons: int, others: int
) -> None:
    """The next lease that the client has lost comes instead, else a new one, else none."""
    place = Place(postgres, tmp_path)
    place.take(ndjson(*(comparison(number) for number in range(comparisons))), "comparisons")
    judged, *_ = [lease(place) for _ in range(1 + others)]
    assert judged is not None
    body = JudgmentBody(verdict=Verdict.ALL_BAD, unranked=judged.presented_order)
    with postgres.write() as session:
        judgments.submit(session, judged.id, place.user, body, at=AT)
        other = Beside(
            postgres,
            lambda beside: assignments.lease(
                beside, place.project, place.user, held=[], is_offline=True, at=AT
            ),
        )
    taken = other.result()

    with postgres.read() as session:
        rows = {row.id: row for row in session.query(Assignment)}
    assert rows[judged.id].state == assignments.SUBMITTED
    assert (taken is None) == (comparisons == 1)
    if taken is not None:
        assert taken.id != judged.id
        assert rows[taken.id].is_offline


def test_a_lease_that_is_given_back_while_it_is_judged_is_judged(
    postgres: Database, tmp_path: Path
) -> None:
    place = Place(postgres, tmp_path)
    place.take(ndjson(comparison(1)), "comparisons")
    taken = lease(place)
    assert taken is not None
    body = JudgmentBody(verdict=Verdict.ALL_BAD, unranked=taken.presented_order)
    back = [LeaseEnd(assignment_id=taken.id, expires_at=taken.expires_at)]
    with postgres.write() as session:
        assignments.release(session, place.project, place.user, back, at=AT)
        other = Beside(
            postgres,
            lambda beside: judgments.submit(beside, taken.id, place.user, body, at=AT),
        )
    assert other.result().review_reason is None

    with postgres.read() as session:
        assert session.query(Assignment).one().state == assignments.SUBMITTED
        assert session.query(Comparison).one().judged == 1
        assert session.query(Judgment).one().assignment_id == taken.id
        assert tallies.of_project(session, place.project)["judged"] == 1


@pytest.mark.parametrize("comment", ["", "in another tab"])
def test_of_two_judgments_at_once_the_first_counts(
    postgres: Database, tmp_path: Path, comment: str
) -> None:
    place = Place(postgres, tmp_path)
    place.take(ndjson(comparison(1)), "comparisons")
    taken = lease(place)
    assert taken is not None
    bodies = [
        JudgmentBody(verdict=Verdict.ALL_BAD, unranked=taken.presented_order, comment=one)
        for one in ("", comment)
    ]
    with postgres.write() as session:
        first = judgments.submit(session, taken.id, place.user, bodies[0], at=AT)
        other = Beside(
            postgres,
            lambda beside: judgments.submit(beside, taken.id, place.user, bodies[1], at=AT),
        )
    second = other.result()

    is_same = comment == ""
    assert (second.id == first.id) == is_same
    assert second.review_reason == (None if is_same else ReviewReason.DIFFERS)
    with postgres.read() as session:
        assert session.query(Comparison).one().judged == 1
        assert session.query(Judgment).count() == (1 if is_same else 2)


def test_the_last_place_of_a_comparison_is_given_to_one_of_two(
    postgres: Database, tmp_path: Path
) -> None:
    place = Place(postgres, tmp_path)
    place.take(ndjson(comparison(1)), "comparisons")
    with postgres.write() as session:
        users.create(session, name="other", role=Role.ANNOTATOR, at=AT)
        other_id = session.query(User).filter_by(name="other").one().id
    with postgres.write() as session:
        first = assignments.lease(session, place.project, place.user, held=None, at=AT)
        other = Beside(
            postgres,
            lambda beside: assignments.lease(beside, place.project, other_id, held=None, at=AT),
        )
    assert first is not None
    assert other.result() is None


def lease(place: Place) -> AssignmentAnswer | None:
    """Take the next comparison online."""
    with place.database.write() as session:
        return assignments.lease(session, place.project, place.user, held=None, at=AT)
