"""Bradley-Terry and Davidson: closed forms, and a maximum that nothing near it exceeds.

test_peers.py in tests/backend/agreement compares them with choix and crowd-kit.
"""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.aggregation.strengths import Strengths, bradley_terry, fit
from tests.backend.aggregation.test_laws import only, ranking

Counts = Mapping[tuple[str, str], int]
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


def objective(at: Mapping[str, float], tie: float | None, wins: Counts, ties: Counts) -> float:
    """The penalized log-likelihood from its definition, prior 0.5."""
    value = -0.25 * (sum(x * x for x in at.values()) + (tie or 0.0) ** 2)
    nu = 0.0 if tie is None else math.exp(tie)
    for (a, b), n in wins.items():
        p, q = math.exp(at[a]), math.exp(at[b])
        value += n * math.log(p / (p + q + nu * math.sqrt(p * q)))
    for (a, b), n in ties.items():
        p, q = math.exp(at[a]), math.exp(at[b])
        value += n * math.log(nu * math.sqrt(p * q) / (p + q + nu * math.sqrt(p * q)))
    return value


def test_two_responses_without_ties_are_as_far_apart_as_the_odds() -> None:
    found = fit("ab", {("a", "b"): 3, ("b", "a"): 1}, {}, prior=1e-9)
    assert found.of["a"] - found.of["b"] == pytest.approx(math.log(3), abs=1e-6)
    assert found.tie is None


def test_two_responses_with_ties_are_fitted_exactly() -> None:
    """Davidson's model has as many parameters as two responses have outcomes: nu = 2 / sqrt(3)."""
    found = fit("ab", {("a", "b"): 3, ("b", "a"): 1}, {("a", "b"): 2}, prior=1e-9)
    assert found.of["a"] - found.of["b"] == pytest.approx(math.log(3), abs=1e-6)
    assert found.tie == pytest.approx(math.log(2 / math.sqrt(3)), abs=1e-6)


@given(
    st.lists(st.integers(0, 6), min_size=6, max_size=6),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
)
def test_nothing_near_the_maximum_is_higher(won: list[int], tied: list[int]) -> None:
    wins = dict(zip(PAIRS + [(b, a) for a, b in PAIRS], won, strict=True))
    wins = {pair: n for pair, n in wins.items() if n}
    ties = {pair: n for pair, n in zip(PAIRS, tied, strict=True) if n}
    found = fit("abc", wins, ties, prior=0.5)
    best = objective(found.of, found.tie, wins, ties)
    for one in "abc":
        for by in (-1e-3, 1e-3):
            moved = {**found.of, one: found.of[one] + by}
            assert objective(moved, found.tie, wins, ties) < best
    if found.tie is not None:
        for by in (-1e-3, 1e-3):
            assert objective(found.of, found.tie + by, wins, ties) < best


def test_a_response_that_won_every_time_has_a_finite_strength() -> None:
    found = fit("ab", {("a", "b"): 1000}, {}, prior=1.0)
    assert 3 < found.of["a"] - found.of["b"] < 20


def test_without_votes_all_are_equal() -> None:
    assert fit("ab", {}, {}, prior=1.0) == Strengths({"a": 0, "b": 0}, None)


def test_more_wins_stand_above_fewer() -> None:
    rankings = [ranking("a", "b", "c"), ranking("b", "a", "c"), ranking("a", "c", "b")]
    assert only(bradley_terry(rankings, prior=1.0)) == ranking("a", "b", "c")
