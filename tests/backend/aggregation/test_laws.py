"""What every way of making one ranking out of several must keep."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.aggregation.crowd import crowd_bradley_terry
from backend.domain.aggregation.ranked_pairs import ranked_pairs
from backend.domain.aggregation.strengths import bradley_terry
from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict

Way = Callable[[Sequence[Ranking]], Ranking]
WAYS: dict[str, Way] = {
    "ranked_pairs": ranked_pairs,
    "bradley_terry": lambda rankings: bradley_terry(rankings, prior=1.0),
    "crowd": lambda rankings: crowd_bradley_terry(
        {"c": {str(n): one for n, one in enumerate(rankings)}}, prior=1.0
    ).rankings["c"],
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
IDS = "abcde"


def ranking(*tiers: Sequence[str], unranked: Sequence[str] = "") -> Ranking:
    """A ranking whose ids are letters."""
    return Ranking(tuple(map(tuple, tiers)), tuple(unranked), Verdict.RANKED)


@st.composite
def profiles(draw: st.DrawFn) -> list[Ranking]:
    """One to six rankings of five responses, with ties, in full or in part."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        order = draw(st.permutations(IDS))
        placed = draw(st.integers(1, len(IDS)))
        tiers: list[list[str]] = []
        for one in order[:placed]:
            if tiers and draw(st.booleans()):
                tiers[-1].append(one)
            else:
                tiers.append([one])
        found.append(ranking(*tiers, unranked=order[placed:]))
    return found


def renamed(one: Ranking, names: dict[str, str]) -> Ranking:
    """The same ranking of responses with other ids."""
    tiers = [[names[each] for each in tier] for tier in one.tiers]
    return ranking(*tiers, unranked=[names[each] for each in one.unranked])


def plain(one: Ranking) -> tuple[list[set[str]], set[str]]:
    """A ranking without the order inside of tiers."""
    return [set(tier) for tier in one.tiers], set(one.unranked)


@every_way
@given(profiles(), st.randoms(use_true_random=False))
def test_who_judged_and_in_which_order_does_not_matter(
    way: Way, profile: list[Ranking], draw: Random
) -> None:
    mixed = draw.sample(profile, len(profile))
    assert plain(way(mixed)) == plain(way(profile))


@every_way
@given(profiles(), st.permutations(IDS))
def test_names_of_responses_do_not_matter(
    way: Way, profile: list[Ranking], names: list[str]
) -> None:
    new = dict(zip(IDS, names, strict=True))
    turned = way([renamed(one, new) for one in profile])
    assert plain(turned) == plain(renamed(way(profile), new))


@every_way
@given(profiles())
def test_reversing_every_ranking_reverses_the_result(way: Way, profile: list[Ranking]) -> None:
    turned = way([ranking(*one.tiers[::-1], unranked=one.unranked) for one in profile])
    tiers, unranked = plain(way(profile))
    assert plain(turned) == (tiers[::-1], unranked)


@every_way
@given(profiles(), st.integers(1, 4))
def test_one_ranking_however_often_is_itself(way: Way, profile: list[Ranking], times: int) -> None:
    assert plain(way(profile[:1] * times)) == plain(profile[0])


@every_way
@given(profiles())
def test_each_response_that_somebody_placed_has_one_place(way: Way, profile: list[Ranking]) -> None:
    found = way(profile)
    placed = {one for each in profile for tier in each.tiers for one in tier}
    assert sorted(one for tier in found.tiers for one in tier) == sorted(placed)
    assert set(found.unranked) == set(IDS) - placed


@every_way
def test_judgments_that_rank_nothing_leave_nothing_ranked(way: Way) -> None:
    nothing = Ranking((), tuple("ab"), Verdict.ALL_BAD)
    assert way([nothing, nothing]) == Ranking((), ("a", "b"), Verdict.ALL_BAD)
    apart = Ranking((), tuple("ab"), Verdict.CANNOT_JUDGE)
    assert way([nothing, apart]).verdict is Verdict.CANNOT_JUDGE
    assert way([nothing, ranking("a", "b")]) == ranking("a", "b")
