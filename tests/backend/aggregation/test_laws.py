"""What every way of making one ranking out of several must keep."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.aggregation.crowd import crowd_bradley_terry
from backend.domain.aggregation.ranked_pairs import ranked_pairs
from backend.domain.aggregation.strengths import bradley_terry
from backend.domain.aggregation.votes import Merged
from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict

Way = Callable[[Sequence[Ranking]], Merged]
WAYS: dict[str, Way] = {
    "ranked_pairs": ranked_pairs,
    "bradley_terry": lambda rankings: bradley_terry(rankings, prior=1.0),
    "crowd": lambda rankings: crowd_bradley_terry(
        {"c": {str(n): one for n, one in enumerate(rankings)}}, prior=1.0
    ).merged["c"],
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


def only(found: Merged) -> Ranking:
    """The one ranking of a comparison that votes join."""
    (one,) = found.rankings
    return one


Plain = tuple[tuple[frozenset[str], ...], frozenset[str]]


def plain(one: Ranking) -> Plain:
    """A ranking without the order inside of tiers."""
    return tuple(frozenset(tier) for tier in one.tiers), frozenset(one.unranked)


def parts(found: Merged) -> set[Plain]:
    """All rankings, without their order."""
    return {plain(one) for one in found.rankings}


@every_way
@given(profiles(), st.randoms(use_true_random=False))
def test_who_judged_and_in_which_order_does_not_matter(
    way: Way, profile: list[Ranking], draw: Random
) -> None:
    mixed = draw.sample(profile, len(profile))
    assert parts(way(mixed)) == parts(way(profile))


@every_way
@given(profiles(), st.permutations(IDS))
def test_names_of_responses_do_not_matter(
    way: Way, profile: list[Ranking], names: list[str]
) -> None:
    new = dict(zip(IDS, names, strict=True))
    turned = way([renamed(one, new) for one in profile])
    assert parts(turned) == {plain(renamed(one, new)) for one in way(profile).rankings}


@every_way
@given(profiles())
def test_reversing_every_ranking_reverses_the_result(way: Way, profile: list[Ranking]) -> None:
    turned = way([ranking(*one.tiers[::-1], unranked=one.unranked) for one in profile])
    assert parts(turned) == {(tiers[::-1], rest) for tiers, rest in parts(way(profile))}


@every_way
@given(profiles(), st.integers(1, 4))
def test_one_ranking_however_often_is_itself(way: Way, profile: list[Ranking], times: int) -> None:
    assert plain(only(way(profile[:1] * times))) == plain(profile[0])


@every_way
@given(profiles())
def test_each_response_that_somebody_placed_has_one_place(way: Way, profile: list[Ranking]) -> None:
    found = way(profile).rankings
    placed = {one for each in profile for tier in each.tiers for one in tier}
    assert sorted(one for each in found for tier in each.tiers for one in tier) == sorted(placed)
    for each in found:
        tiers, unranked = plain(each)
        assert unranked == set(IDS).difference(*tiers)


def joined(profile: Sequence[Ranking]) -> set[tuple[str, str]]:
    """Each two responses that a chain of votes joins, by Warshall's closure."""
    votes = [pair for one in profile for pair in (*one.wins, *one.ties)]
    found = {*votes, *((b, a) for a, b in votes)}
    for middle in IDS:
        found |= {(a, b) for a in IDS for b in IDS if {(a, middle), (middle, b)} <= found}
    return found


@every_way
@given(profiles())
def test_two_responses_have_an_order_only_where_a_chain_of_votes_joins_them(
    way: Way, profile: list[Ranking]
) -> None:
    said = [pair for one in way(profile).rankings for pair in (*one.wins, *one.ties)]
    assert len(said) == len({frozenset(pair) for pair in said})
    both = {*said, *((b, a) for a, b in said)}
    assert both == {(a, b) for a, b in joined(profile) if a != b}


@every_way
def test_rankings_that_share_no_response_stay_apart(way: Way) -> None:
    found = way([ranking("a", "b", "c", unranked="de"), ranking("d", "e", unranked="abc")])
    assert found.is_apart
    assert found.rankings == [
        ranking("a", "b", "c", unranked="de"),
        ranking("d", "e", unranked="abc"),
    ]


@every_way
def test_one_vote_between_parts_joins_them(way: Way) -> None:
    apart = [ranking("a", "b", unranked="cd"), ranking("c", "d", unranked="ab")]
    assert len(way(apart).rankings) == 2
    assert len(way([*apart, ranking("bc", unranked="ad")]).rankings) == 1


@every_way
def test_judgments_that_rank_nothing_leave_nothing_ranked(way: Way) -> None:
    found = way([verdict(Verdict.ALL_BAD)] * 2)
    assert found == Merged([Ranking((), ("a", "b"), Verdict.ALL_BAD)])


def verdict(one: Verdict) -> Ranking:
    """A judgment of two responses with this verdict; a before b where it ranks."""
    if one is Verdict.RANKED:
        return ranking("a", "b")
    return Ranking((), ("a", "b"), one)


R, B, C = Verdict.RANKED, Verdict.ALL_BAD, Verdict.CANNOT_JUDGE


@every_way
@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ([R, B], R), ([R, C], R), ([R, B, C], R), ([R, R, B], R), ([R, R, B, B], R),
        ([R, B, B], B), ([R, C, C], C), ([R, R, B, B, B], B), ([R, R, B, B, C], R),
        ([B, C], C), ([B, B, C], B), ([B, C, C], C), ([R, B, B, C, C], C),
    ],
)  # fmt: skip
def test_the_verdict_is_what_most_say(way: Way, said: list[Verdict], stands: Verdict) -> None:
    """Of equally many the ranking is kept; without it nobody can judge."""
    found = way([verdict(one) for one in said])
    assert only(found) == verdict(stands)
    assert found.is_outvoted == (stands is not R and R in said)
