"""Ranked pairs: the textbook's example, cycles, and Tideman's own procedure where no tie is met."""

from collections import Counter
from itertools import combinations, permutations
from random import Random

from hypothesis import given

from backend.domain.aggregation.ranked_pairs import ranked_pairs
from backend.domain.ranking import Ranking
from tests.backend.aggregation.test_laws import IDS, only, plain, profiles, ranking


def test_the_capital_of_tennessee() -> None:
    """Of 100 voters 42, 26, 15 and 17 live near Memphis, Nashville, Chattanooga and Knoxville."""
    voters = (
        [ranking("m", "n", "c", "k")] * 42
        + [ranking("n", "c", "k", "m")] * 26
        + [ranking("c", "k", "n", "m")] * 15
        + [ranking("k", "c", "n", "m")] * 17
    )
    assert only(ranked_pairs(voters)) == ranking("n", "c", "k", "m")


def test_the_weakest_majority_of_a_cycle_gives_way() -> None:
    """a beats b by 5, b beats c by 3, c beats a by 1."""
    voters = [ranking("a", "b", "c")] * 4 + [ranking("b", "c", "a")] * 2
    voters += [ranking("c", "a", "b")] * 3
    assert only(ranked_pairs(voters)) == ranking("a", "b", "c")


def test_a_cycle_of_equal_majorities_is_a_tie() -> None:
    voters = [ranking("a", "b", "c"), ranking("b", "c", "a"), ranking("c", "a", "b")]
    assert only(ranked_pairs(voters)) == ranking("abc")


def test_two_who_contradict_each_other_tie_what_they_contradict() -> None:
    assert only(ranked_pairs([ranking("a", "b", "c"), ranking("b", "a", "c")])) == ranking(
        "ab", "c"
    )


@given(profiles())
def test_who_beats_everybody_comes_first(profile: list[Ranking]) -> None:
    def margin(a: str, b: str) -> int:
        return sum(((a, b) in one.wins) - ((b, a) in one.wins) for one in profile)

    placed = {one for each in profile for tier in each.tiers for one in tier}
    for one in placed:
        if all(margin(one, other) > 0 for other in placed - {one}):
            assert only(ranked_pairs(profile)).tiers[0] == (one,)


def tideman(wins: Counter[tuple[str, str]]) -> list[str] | None:
    """One majority after another, and the order that fits all locked ones; None where some tie."""
    majorities = {(a, b): wins[a, b] - wins[b, a] for a, b in permutations(IDS, 2)}
    strengths = {abs(n) for n in majorities.values()} - {0}
    if len(strengths) < len(IDS) * (len(IDS) - 1) / 2:
        return None
    orders = list(permutations(IDS))
    for a, b in sorted(majorities, key=lambda pair: -majorities[pair]):
        if fitting := [order for order in orders if order.index(a) < order.index(b)]:
            orders = fitting
    return list(orders[0])


def test_it_is_tidemans_procedure_where_all_majorities_differ() -> None:
    """Nine groups of voters of random sizes, so that many majorities lie in cycles."""
    draw = Random(1)
    compared = cycles = 0
    for _ in range(150):
        voters: list[Ranking] = []
        for _ in range(9):
            voters += [ranking(*draw.sample(IDS, 5))] * draw.randint(1, 30)
        wins = Counter(pair for one in voters for pair in one.wins)
        expected = tideman(wins)
        if expected is not None:
            assert plain(only(ranked_pairs(voters)))[0] == tuple({one} for one in expected)
            compared += 1
            cycles += any(wins[a, b] < wins[b, a] for a, b in combinations(expected, 2))
    assert compared > cycles > 5
