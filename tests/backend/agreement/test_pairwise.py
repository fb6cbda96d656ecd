"""Agreement on pairs: a number worked by hand, the formula as plain loops, and its laws."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import comb, inf
from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import FEWEST, Pairwise, meetings, pairwise, tie_rates
from tests.raters import Task, ranked, simulated


def agreement(judged: Sequence[Judged]) -> Pairwise:
    """The headline of these judgments."""
    met = meetings(judged)
    return pairwise(met, tie_rates(met))


def opposite(tiers: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The ranking from the other end."""
    return list(reversed(tiers))


def plain(judged: Sequence[Judged]) -> float | None:
    """The formula, word by word: one loop over annotators, comparisons and pairs of responses."""
    seen = []
    for comparison in {one.comparison_id for one in judged}:
        here = [one for one in judged if one.comparison_id == comparison and one.ranking.tiers]
        for one, other in combinations(here, 2):
            k = sum(map(len, one.ranking.tiers)) + len(one.ranking.unranked)
            weight = 1 / comb(k, 2) / comb(len(here), 2)
            for a, b in combinations(sorted(one.texts), 2):
                said = [_said(each, a, b) for each in (one, other)]
                if None not in said:
                    seen.append((weight, (one.user_id, k), (other.user_id, k), *said))

    def ties(cell: tuple[str, int]) -> float:
        mine = [(w, x) for w, left, _, x, _ in seen if left == cell]
        mine += [(w, y) for w, _, right, _, y in seen if right == cell]
        return sum(w for w, said in mine if said == "=") / sum(w for w, _ in mine)

    total = sum(w for w, *_ in seen)
    if not total:
        return None
    observed = sum(w for w, _, _, x, y in seen if x == y) / total
    expected = 0.0
    for w, left, right, _, _ in seen:
        t, u = ties(left), ties(right)
        expected += w * (t * u + (1 - t) * (1 - u) / 2) / total
    return None if abs(1 - expected) < 1e-9 else (observed - expected) / (1 - expected)


def _said(one: Judged, a: str, b: str) -> str | None:
    place = {each: n for n, tier in enumerate(one.ranking.tiers) for each in tier}
    if a not in place or b not in place:
        return None
    return "=" if place[a] == place[b] else ">" if place[a] < place[b] else "<"


def test_a_number_worked_by_hand() -> None:
    """Three pairs in one comparison: x says a>b, a>c, b=c; y says a>b, a=c, b<c.

    They agree on 1 of 3. Each ties 1 of 3, so chance gives 1/9 + (4/9)/2 = 1/3, and nothing is
    left beyond it.
    """
    found = agreement([ranked("c", "x", "a", "bc"), ranked("c", "y", "ac", "b")])
    assert found.observed == pytest.approx(1 / 3)
    assert found.expected == pytest.approx(1 / 3)
    assert found.value == pytest.approx(0)
    assert (found.interval, found.comparisons) == (None, 1)


def test_a_comparison_weighs_the_same_with_two_responses_and_with_four() -> None:
    """Two comparisons without ties, one agreed and one turned round: 1/2 observed, 1/2 expected."""
    alike = [ranked("c", user, "a", "b", "c", "d") for user in "xy"]
    turned = [ranked("d", "x", "a", "b"), ranked("d", "y", "b", "a")]
    assert agreement(alike + turned).value == pytest.approx(0)


def test_a_comparison_weighs_the_same_with_two_judgments_and_with_five() -> None:
    alike = [ranked("c", user, "a", "b") for user in "uvwxy"]
    turned = [ranked("d", "x", "a", "b"), ranked("d", "y", "b", "a")]
    assert agreement(alike + turned).value == pytest.approx(0)


TASKS = st.lists(
    st.builds(
        Task,
        size=st.integers(2, 5),
        noise=st.sampled_from([0.3, 1.0, inf]),
        tie_width=st.sampled_from([0.0, 0.8]),
        dropped=st.sampled_from([0.0, 0.3]),
    ),
    min_size=1,
    max_size=3,
)


@given(TASKS, st.integers(0, 100))
def test_the_value_is_that_of_plain_loops(tasks: list[Task], seed: int) -> None:
    judged = list(simulated(tasks, 8, seed=seed, users="wxyz"))
    found = agreement(judged).value
    assert found == (None if found is None else pytest.approx(plain(judged), abs=1e-12))
    assert (found is None) == (plain(judged) is None)


MIXES = {
    "two": [Task(2, inf)],
    "two, ties": [Task(2, inf, tie_width=1.0)],
    "two and eight, ties": [Task(2, inf, tie_width=1.0), Task(8, inf, tie_width=1.0)],
    "two without ties, eight with": [Task(2, inf), Task(8, inf, tie_width=2.0)],
    "two with ties, eight without": [Task(2, inf, tie_width=2.0), Task(8, inf)],
    "the best three of eight, and two": [Task(8, inf, top=3), Task(2, inf)],
    "in part": [Task(5, inf, tie_width=0.7, dropped=0.4), Task(3, inf, dropped=0.3)],
    "all": [Task(k, inf, tie_width=0.3 * (k % 4), dropped=0.1 * (k % 3)) for k in range(2, 9)],
}


@pytest.mark.parametrize("tasks", MIXES.values(), ids=MIXES)
def test_annotators_who_rank_at_random_agree_as_by_chance(tasks: list[Task]) -> None:
    """Over twenty projects of 200 comparisons; the same seeds always, so no luck is needed."""
    found = [agreement(list(simulated(tasks, 200, seed=seed))).value for seed in range(20)]
    assert fmean(one for one in found if one is not None) == pytest.approx(0, abs=0.04)


@given(TASKS, st.integers(0, 100), st.sampled_from(["xy", "vwxyz"]))
def test_who_never_contradicts_agrees_fully_or_is_not_a_number(
    tasks: list[Task], seed: int, users: str
) -> None:
    """Everybody has the same ranking in mind and places a part of it."""
    exact = [Task(one.size, 0.0, one.tie_width, one.top, one.dropped) for one in tasks]
    found = agreement(list(simulated(exact, 30, seed=seed, users=users)))
    assert found.value is None or found.value == pytest.approx(1, abs=1e-12)
    if found.interval is not None:
        assert found.interval[0] < found.interval[1] == pytest.approx(1)


def test_opposite_rankings_agree_less_than_chance() -> None:
    judged = list(simulated([Task(4, 0.0)], 30, seed=1))
    turned = [
        ranked(one.comparison_id, "z", *opposite(one.ranking.tiers))
        for one in judged
        if one.user_id == "x"
    ]
    found = agreement([one for one in judged if one.user_id == "x"] + turned)
    assert found.value == pytest.approx(-1)


def test_what_is_not_defined_is_no_number() -> None:
    nothing = Pairwise(None, None, None, None, 0)
    assert agreement([]) == nothing
    assert agreement([ranked(f"c{n}", "x", "a", "b") for n in range(30)]) == nothing
    apart = [ranked("c", "x", "a", "b", unranked="c"), ranked("c", "y", "c", unranked="ab")]
    assert agreement(apart) == nothing

    all_tied = agreement([ranked(f"c{n}", user, "ab") for n in range(30) for user in "xy"])
    assert (all_tied.value, all_tied.interval, all_tied.comparisons) == (None, None, 30)


def test_there_is_no_interval_below_twenty_comparisons() -> None:
    judged = list(simulated([Task(4, 0.5)], FEWEST, seed=3))
    few = [one for one in judged if one.comparison_id != "c0"]
    assert agreement(few).interval is None
    found = agreement(judged)
    assert found.interval is not None
    assert found.value is not None
    assert found.interval[0] < found.value < found.interval[1]


@given(TASKS, st.integers(0, 100))
def test_names_and_the_order_of_judgments_do_not_matter(tasks: list[Task], seed: int) -> None:
    judged = list(simulated(tasks, 25, seed=seed, users="wxyz"))
    found, turned = agreement(judged), agreement(judged[::-1])
    assert turned.value == (None if found.value is None else pytest.approx(found.value, abs=1e-12))
    assert turned.comparisons == found.comparisons


def test_the_interval_is_as_wide_as_a_bootstrap_of_comparisons_makes_it() -> None:
    """The formula again for each of 300 resamples of whole comparisons, tie rates and all."""
    tasks = [Task(4, 0.7, tie_width=0.8), Task(2, 0.7, tie_width=0.8)]
    judged = list(simulated(tasks, 200, seed=7, users="xyz"))
    together: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        together[one.comparison_id].append(one)
    draw = Random(1)
    drawn = []
    for _ in range(300):
        again = draw.choices(list(together.values()), k=len(together))
        found = agreement(
            [replace(one, comparison_id=str(n)) for n, both in enumerate(again) for one in both]
        )
        drawn.append(found.value or 0.0)
    found = agreement(judged)

    assert found.interval is not None
    assert found.value is not None
    width = found.interval[1] - found.interval[0]
    assert width == pytest.approx(2 * 1.96 * stdev(drawn), rel=0.1)


def test_the_interval_narrows_with_the_root_of_the_comparisons() -> None:
    widths = []
    for comparisons in (100, 1600):
        interval = agreement(list(simulated([Task(4, 0.7)], comparisons, seed=5))).interval
        assert interval is not None
        widths.append(interval[1] - interval[0])
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.25)
