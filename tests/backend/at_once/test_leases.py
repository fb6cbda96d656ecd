"""A lease that is judged while it is taken for hours stays judged."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.schemas.comparisons import AssignmentAnswer, JudgmentBody
from backend.schemas.vocabulary import Verdict
from backend.store.data import assignments, judgments
from backend.store.db import Database
from backend.store.tables.data import Assignment
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


def lease(place: Place) -> AssignmentAnswer | None:
    """Take the next comparison online."""
    with place.database.write() as session:
        return assignments.lease(session, place.project, place.user, held=None, at=AT)
