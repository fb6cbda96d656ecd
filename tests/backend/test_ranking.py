"""Rankings and their pairs; the order on the screen; the split by prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.ranking import Ranking, checked
from backend.domain.records.split import position
from backend.errors import InvalidInput
from backend.schemas.vocabulary import Verdict
from tests.backend.splits import heldout

RANKED = Verdict.RANKED


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    """Any legal ranking of 2 to 9 responses."""
    ids = [f"r{i}" for i in range(draw(st.integers(2, 9)))]
    order = draw(st.permutations(ids))
    placed = draw(st.integers(1, len(ids)))
    tiers: list[list[str]] = [[order[0]]]
    for one in order[1:placed]:
        if draw(st.booleans()):
            tiers[-1].append(one)
        else:
            tiers.append([one])
    return Ranking(tuple(map(tuple, tiers)), tuple(order[placed:]), RANKED)


def test_a_partial_ranking_with_a_tie_gives_these_pairs() -> None:
    ranking = checked(
        ["a", "b", "c", "d"], tiers=[["b"], ["a", "d"]], unranked=["c"], verdict=RANKED
    )
    assert ranking.wins == [("b", "a"), ("b", "d")]
    assert ranking.ties == [("a", "d")]


@given(rankings())
def test_every_two_placed_responses_are_a_win_or_a_tie_once(ranking: Ranking) -> None:
    placed = [one for tier in ranking.tiers for one in tier]
    pairs = [frozenset(pair) for pair in ranking.wins + ranking.ties]
    assert len(set(pairs)) == len(pairs) == len(placed) * (len(placed) - 1) // 2
    assert not set(ranking.unranked) & {one for pair in pairs for one in pair}


@given(rankings())
def test_wins_are_transitive_and_never_mutual(ranking: Ranking) -> None:
    wins = set(ranking.wins)
    assert not any((worse, better) in wins for better, worse in wins)
    assert all((a, d) in wins for a, b in wins for c, d in wins if b == c)


@given(rankings())
def test_a_legal_ranking_passes_its_own_check_unchanged(ranking: Ranking) -> None:
    ids = [*(one for tier in ranking.tiers for one in tier), *ranking.unranked]
    again = checked(ids, tiers=ranking.tiers, unranked=ranking.unranked, verdict=RANKED)
    assert again == ranking


@pytest.mark.parametrize("verdict", [Verdict.ALL_BAD, Verdict.CANNOT_JUDGE])
def test_other_verdicts_leave_everything_unranked(verdict: Verdict) -> None:
    assert checked(["a", "b"], tiers=[], unranked=[], verdict=verdict).unranked == ("a", "b")
    with pytest.raises(InvalidInput, match="is in no tier and not in `unranked`"):
        checked(["a", "b"], tiers=[], unranked=["a"], verdict=verdict)


contents = st.sets(st.text("abcdef0123456789", min_size=4, max_size=4), min_size=2, max_size=60)
fractions = st.floats(0.01, 0.99)


@given(contents, fractions, st.integers(0, 2**31 - 1))
def test_neither_side_of_a_split_is_empty(every: set[str], fraction: float, seed: int) -> None:
    held = heldout(every, fraction=fraction, seed=seed)
    assert held < every
    assert held


@given(contents, contents, fractions, st.integers(0, 100))
def test_a_prompt_keeps_its_side_whatever_else_is_there(
    some: set[str], more: set[str], fraction: float, seed: int
) -> None:
    small = heldout(some, fraction=fraction, seed=seed)
    large = heldout(some | more, fraction=fraction, seed=seed)
    below = {one for one in some if position(one, seed) < fraction}
    if 0 < len(below) < len(some):
        assert large & some == small


def test_the_held_out_share_is_near_the_fraction_and_changes_with_the_seed() -> None:
    every = {f"{i:064x}" for i in range(2000)}
    held = heldout(every, fraction=0.25, seed=1)
    assert abs(len(held) - 500) < 80
    assert heldout(every, fraction=0.25, seed=2) != held
    assert heldout(every, fraction=0.25, seed=1) == held
    assert held < heldout(every, fraction=0.5, seed=1)


@pytest.mark.parametrize(("n", "fraction"), [(0, 0.5), (1, 0.5), (9, 0.0)])
def test_nothing_is_held_out_of_one_prompt_or_by_a_fraction_of_zero(n: int, fraction: Any) -> None:
    assert heldout({str(i) for i in range(n)}, fraction=fraction, seed=0) == set()
