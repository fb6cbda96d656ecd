"""Alpha and W by worked examples, by plain definitions, and by the laws that simulation broke."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import inf, sqrt
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.agreement.alpha import Ranks, alpha_moves, coincidences, ordinal_alpha
from backend.domain.agreement.pairwise import meetings, pairwise, tie_rates
from backend.domain.agreement.ranks import RankAgreement, kendalls_w, rank_agreement, ranks
from tests.raters import Task, ranked, simulated

_: float | None = None
# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve
# units, values missing; ordinal alpha 0.815.
OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def units(rows: Sequence[Sequence[float | None]]) -> list[list[float]]:
    """Values by unit, the missing ones left out."""
    return [[value for value in column if value is not None] for column in zip(*rows, strict=True)]


def slow_alpha(values: list[list[float]]) -> float:
    """Alpha from every pair of values, straight from the definition."""
    paired = [unit for unit in values if len(unit) > 1]
    every = [value for unit in paired for value in unit]

    def distance(a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        between = sum(1.0 for value in every if low <= value <= high)
        ends = sum(0.5 for value in every if value == low) + sum(
            0.5 for value in every if value == high
        )
        return (between - ends) ** 2 if a != b else 0.0

    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in paired
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    ) / len(every)
    expected = sum(
        distance(a, b) for i, a in enumerate(every) for j, b in enumerate(every) if i != j
    ) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def test_alpha_of_krippendorffs_example_is_his() -> None:
    alpha = ordinal_alpha(coincidences(units(OBSERVERS)))
    assert alpha == pytest.approx(0.815, abs=5e-4)
    assert alpha == pytest.approx(slow_alpha(units(OBSERVERS)), abs=1e-12)


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=2, max_size=12))
def test_alpha_agrees_with_the_plain_loop(values: list[list[float]]) -> None:
    alpha = ordinal_alpha(coincidences(values))
    distinct = {value for unit in values if len(unit) > 1 for value in unit}
    if len(distinct) < 2:
        assert alpha is None
    else:
        assert alpha == pytest.approx(slow_alpha(values), abs=1e-9)


def test_tied_responses_share_the_mean_of_their_ranks_among_those_that_count() -> None:
    ranking = ranked("c", "x", "a", "bc", "d").ranking
    assert ranks(ranking, "abcd") == {"a": 1, "b": 2.5, "c": 2.5, "d": 4}
    assert ranks(ranking, "bd") == {"b": 1, "d": 2}


def drawn(comparisons: Sequence[Sequence[Ranks]], times: Sequence[float]) -> float:
    """Alpha if each comparison had been drawn so many times."""
    found: Counter[tuple[float, float]] = Counter()
    for rankings, weight in zip(comparisons, times, strict=True):
        for pair, count in coincidences(zip(*rankings, strict=True)).items():
            found[pair] += weight * count  # type: ignore[assignment]
    alpha = ordinal_alpha(found)
    assert alpha is not None
    return alpha


def test_alpha_moves_with_each_comparison_as_its_derivative_says() -> None:
    """Against alpha itself, each comparison drawn a little more often; ties and 2 to 4 judges."""
    draw = Random(1)
    kept = [[(1.5, 1.5, 3.0), (1.0, 2.0, 3.0)]]
    for _ in range(2000):
        judges = [tuple(map(float, draw.sample((1, 2, 3), 3))) for _ in range(draw.randint(2, 4))]
        kept.append(judges if draw.random() < 0.7 else [*judges, (1.0, 2.5, 2.5)])
    moves = alpha_moves(coincidences(u for one in kept for u in zip(*one, strict=True)), kept)

    assert sum(moves) == pytest.approx(0, abs=1e-9)
    for place in range(5):
        times = [1 + 1e-3 * (n == place) for n in range(len(kept))]
        less = [1 - 1e-3 * (n == place) for n in range(len(kept))]
        slope = (drawn(kept, times) - drawn(kept, less)) / 2e-3
        # alpha divides by n - 1, the moves by n, which is 15,000 here.
        assert moves[place] == pytest.approx(slope, abs=2e-7)


def test_ranks_have_intervals_from_twenty_comparisons_on() -> None:
    def found(comparisons: int) -> RankAgreement:
        return rank_agreement(
            ranked(f"c{n}", user, "a", "b", "c") for n in range(comparisons) for user in "xy"
        )[0]

    one = found(1)
    assert (one.alpha, one.alpha_interval) == (1, None)
    assert (one.kendalls_w, one.kendalls_w_interval) == (1, None)
    assert found(19).alpha_interval is found(19).kendalls_w_interval is None
    # Wilson's interval of 20 in 20 with t = 2.09; alpha's scale is twice as long.
    assert found(20).kendalls_w_interval == (pytest.approx(0.820, abs=2e-3), 1)
    assert found(20).alpha_interval == (pytest.approx(2 * 0.820 - 1, abs=4e-3), 1)


def test_the_interval_of_alpha_between_two_responses_is_that_of_the_headline() -> None:
    """Without ties alpha is agreement on the one pair, but for 1 / n."""
    judged = list(simulated([Task(2, 0.7)], 400, seed=3))
    met = meetings(judged)
    ranked_alike, headline = rank_agreement(judged)[0], pairwise(met, tie_rates(met))
    assert ranked_alike.alpha == pytest.approx(headline.value, abs=3e-3)
    assert ranked_alike.alpha_interval == pytest.approx(headline.interval, abs=3e-3)


def test_coins_are_within_the_intervals_of_chance() -> None:
    for one in rank_agreement(simulated([Task(2, inf), Task(8, inf, 0.9)], 1500, seed=2)):
        assert one.alpha_interval is not None
        assert one.kendalls_w_interval is not None
        assert one.alpha_interval[0] < 0 < one.alpha_interval[1]
        low, high = one.kendalls_w_interval
        assert one.kendalls_w_by_chance is not None
        assert low < one.kendalls_w_by_chance < high


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation of two rankings without ties."""
    mean = (len(one) + 1) / 2
    return sum((x - mean) * (y - mean) for x, y in zip(one, other, strict=True)) / sqrt(
        sum((x - mean) ** 2 for x in one) * sum((y - mean) ** 2 for y in other)
    )


def test_kendalls_w_of_three_judges_worked_by_hand() -> None:
    """Sums of ranks 4, 5.5, 8.5: S = 4 + 0.25 + 6.25 = 10.5; T = 6; W = 126 / (9 x 24 - 3 x 6)."""
    assert kendalls_w([(1, 2, 3), (1.5, 1.5, 3), (1.5, 2, 2.5)][:1] * 3) == 1
    judges = [(1, 2, 3), (2, 1, 3), (1, 2.5, 2.5)]
    assert kendalls_w(judges) == pytest.approx(126 / 198)


@given(st.integers(2, 6), st.integers(2, 5), st.randoms(use_true_random=False))
def test_without_ties_w_is_the_mean_spearman_correlation(m, r, draw) -> None:  # type: ignore[no-untyped-def]
    judges = [tuple(float(one) for one in draw.sample(range(1, m + 1), m)) for _ in range(r)]
    mean = fmean(spearman(one, other) for one, other in combinations(judges, 2))
    assert kendalls_w(judges) == pytest.approx((1 + (r - 1) * mean) / r)


def test_all_tied_gives_no_number() -> None:
    assert kendalls_w([(1.5, 1.5), (1.5, 1.5)]) is None
    only = rank_agreement(ranked("c", user, "abc") for user in "xy")[0]
    assert (only.alpha, only.kendalls_w, only.kendalls_w_by_chance) == (None, None, None)


def test_each_size_stands_alone_and_coins_give_zero_in_each() -> None:
    """One alpha over both sizes is 0.27 here: small ranks meet small ranks by the size alone."""
    tasks = [Task(2, inf), Task(8, inf)]
    found = rank_agreement(simulated(tasks, 1500, seed=2))
    assert [one.responses for one in found] == [2, 8]
    for one in found:
        assert one.alpha == pytest.approx(0, abs=0.05)
        assert one.kendalls_w == pytest.approx(one.kendalls_w_by_chance, abs=0.03)


@given(st.integers(0, 50))
def test_partial_rankings_that_never_contradict_give_one(seed: int) -> None:
    judged = simulated([Task(6, 0.0, dropped=0.4)], 40, seed=seed)
    found = rank_agreement(judged)
    assert found
    for one in found:
        assert (one.alpha, one.kendalls_w) == (pytest.approx(1), pytest.approx(1))


def test_what_nobody_ranked_twice_is_left_out() -> None:
    apart = [ranked("c", "x", "a", "b", unranked="c"), ranked("c", "y", "c", unranked="ab")]
    assert rank_agreement([*apart, ranked("d", "x", "a", "b")]) == []
