"""The parts of a project: annotators, weeks, disputes, and how long their lists become."""

from datetime import date, timedelta
from math import inf

import pytest

from backend.domain.agreement.overview import (
    MOST_ANNOTATORS,
    MOST_DISPUTES,
    MOST_WEEKS,
    overview,
)
from tests.raters import Task, ranked, simulated


def test_each_annotator_is_compared_with_those_who_judged_the_same() -> None:
    """x and y are of one mind, z flips coins."""
    judged = list(simulated([Task(4, 0.0)], 60, seed=1, users="xy"))
    judged += [
        one for one in simulated([Task(4, inf)], 60, seed=2, users="yz") if one.user_id == "z"
    ]
    found = overview(judged)

    of = {user: facts.agreement.value for user, facts in found.annotators.items()}
    assert of["z"] == pytest.approx(0, abs=0.15)
    assert of["x"] is not None
    assert of["y"] is not None
    assert of["x"] == of["y"] > 0.3
    assert found.judged_twice == 60
    assert {user: facts.habits.judgments for user, facts in found.annotators.items()} == {
        "x": 60, "y": 60, "z": 60,
    }  # fmt: skip


def test_an_agreement_counts_in_the_week_of_the_later_judgment() -> None:
    found = overview(
        [
            ranked("c", "x", "a", "b"),
            ranked("c", "y", "a", "b", day=6),
            ranked("d", "x", "a", "b", day=6),
            ranked("d", "y", "b", "a", day=7),
        ]
    )
    first, second = date(2026, 11, 2), date(2026, 11, 9)
    assert list(found.weeks) == [first, second]
    assert [one.habits.judgments for one in found.weeks.values()] == [3, 1]
    assert [one.agreement.value for one in found.weeks.values()] == [1, -1]


def test_disputes_come_worst_first_and_without_those_who_agree() -> None:
    judged = [ranked("alike", user, "a", "b", "c") for user in "xy"]
    judged += [ranked("turned", "x", "a", "b", "c"), ranked("turned", "y", "c", "b", "a")]
    judged += [ranked("half", "x", "a", "b", "c"), ranked("half", "y", "a", "c", "b")]
    found = overview(judged).disputes

    assert [one.comparison_id for one in found] == ["turned", "half"]
    assert [(one.contradicted, one.pairs) for one in found] == [(3, 3), (1, 3)]
    assert found[0].agreement == -1
    assert found[1].agreement == pytest.approx(1 / 3)


def test_the_lists_have_a_largest_length() -> None:
    judged = [
        ranked(f"c{n}", f"{user}{n}", *tiers, day=7 * n)
        for n in range(110)
        for user, tiers in (("x", "ab"), ("y", "ba"))
    ]
    found = overview(judged)

    assert len(found.annotators) == MOST_ANNOTATORS == 200
    assert len(found.disputes) == MOST_DISPUTES == 50
    assert len(found.weeks) == MOST_WEEKS == 53
    assert max(found.weeks) == date(2026, 11, 2) + timedelta(weeks=109)


def test_a_project_without_judgments_has_no_numbers() -> None:
    found = overview([])
    assert found.everybody.agreement.value is found.everybody.habits.tie_rate is None
    assert (found.annotators, found.weeks, found.ranks, found.disputes) == ({}, {}, [], [])
