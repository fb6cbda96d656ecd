"""A comparison that is made one for practice, and is none again, while an import judges it."""

import pytest
from sqlalchemy.orm import Session

from backend.jobs.withdrawal import settle
from backend.schemas.comparisons import ComparisonAnswer, JudgmentBody
from backend.schemas.projects.practice import PracticeBody
from backend.schemas.vocabulary import Verdict
from backend.store.data import comparisons, imports, practice
from backend.store.paging import Page
from tests.backend.imports.work import AT, Place, begin, keep
from tests.backend.test_loop import ndjson
from tests.backend.test_next_comparison import check_counts

# Mark and unmark: before the import is complete (0), before it is settled (1), afterwards (2).
MOMENTS = [(mark, unmark) for mark in range(3) for unmark in range(mark, 3)]
PAIR = {"prompt": "q", "chosen": "a", "rejected": "b"}


@pytest.mark.parametrize(("marked", "unmarked"), MOMENTS)
@pytest.mark.parametrize("judgments", [1, 2])
def test_the_sums_are_those_of_the_rows(
    light_place: Place, marked: int, unmarked: int, judgments: int
) -> None:
    place = light_place
    place.take(ndjson({"prompt": "q", "responses": ["a", "b"]}), "comparisons")
    people = [PAIR | {"annotator": f"p{number}"} for number in range(judgments)]
    new = begin(place, "preferences")
    outcome = keep(place, new, *people)

    def at(moment: int) -> None:
        with place.database.write() as session:
            if moment == marked:
                mark(session, place)
            if moment == unmarked:
                practice.unmark(session, place.project, only(session, place).id)

    at(0)
    with place.database.write() as session:
        imports.complete(session, new, outcome)
    at(1)
    settle(place.database, new.id)
    at(2)

    check_counts(place.database, place.project)


def only(session: Session, place: Place) -> ComparisonAnswer:
    """The project's comparison."""
    (found,) = comparisons.listing(session, place.project, Page(limit=2)).items
    return found


def mark(session: Session, place: Place) -> None:
    """Make it one for practice."""
    found = only(session, place)
    tiers = [[one] for one in found.response_ids]
    expected = JudgmentBody(verdict=Verdict.RANKED, tiers=tiers)
    body = PracticeBody(expected=expected, explanation="Because.")
    practice.mark(session, place.project, found.id, body, user_id=place.user, at=AT)
