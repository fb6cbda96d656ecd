"""Intervals against worked numbers and against the truth that a thousand simulations know."""

import math
import random
from collections.abc import Callable
from statistics import NormalDist

import pytest

from intervals import beta
from intervals.clustered import (
    Clusters,
    exact_interval,
    interval_of_gain,
    interval_of_mean,
    interval_of_positive_mean,
    interval_of_rate,
)
from intervals.interval import Interval
from worker.trainer.evaluation.pass_at_k import pass_at_k


def test_the_t_interval_of_three_values_worked_by_hand() -> None:
    """1, 2, 3: deviation 1, so half of the width is t(.975, 2) / sqrt(3) = 4.30265 / 1.73205."""
    low, high = interval_of_mean(Clusters([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])) or (0.0, 0.0)
    assert (low, high) == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-5)


def test_the_interval_of_a_positive_mean_worked_by_hand() -> None:
    """2, 4 and, twice as heavy, 3: the mean is 3 of weight 4.

    From the means of the others, 10 / 3, 8 / 3 and 3, they are away -4 / 3, 4 / 3 and 0, so the
    error is sqrt(32 / 9) / 4. They count as 16 / 6 clusters, two whole ones: t(.975, 1) = 12.7062.
    """
    clusters = Clusters([2.0, 4.0, 6.0], [1.0, 1.0, 2.0])
    half = 12.7062 * math.sqrt(32 / 9) / 4 / (2 * 3)
    expected = (0.0, 3 * (1 + half) ** 2)
    assert interval_of_positive_mean(clusters) == pytest.approx(expected, abs=1e-4)
    equal = interval_of_positive_mean(Clusters([1.0, 2.0, 3.0], [1.0] * 3))
    half = 4.30265 * math.sqrt(4.5) / 3 / (2 * 2)
    assert equal == pytest.approx((2 * (1 - half) ** 2, 2 * (1 + half) ** 2), abs=1e-5)


def test_copies_of_a_prompts_values_narrow_nothing() -> None:
    once = Clusters.of([0.0, 1.0, 1.0], ["a", "b", "c"])
    often = Clusters.of([0.0, 1.0, 1.0] * 50, ["a", "b", "c"] * 50)
    for interval in (interval_of_mean, interval_of_positive_mean, interval_of_rate):
        assert interval(often) == pytest.approx(interval(once))


def test_one_cluster_has_no_interval_and_none_no_mean() -> None:
    one = Clusters.of([0.5, 0.7], ["a", "a"])
    assert interval_of_mean(one) is None
    assert interval_of_positive_mean(one) is None
    assert interval_of_rate(one) is None
    with pytest.raises(ValueError, match="at least one"):
        _ = Clusters([], []).mean


@pytest.mark.parametrize(
    ("hits", "n", "expected"),
    [
        (0, 10, (0.0, 0.308497)),
        (10, 10, (0.691503, 1.0)),
        (1, 20, (0.001265, 0.248733)),
        (3, 10, (0.066740, 0.652453)),
    ],
)
def test_the_exact_interval_is_that_of_the_tables(hits: float, n: int, expected: Interval) -> None:
    assert exact_interval(hits, n) == pytest.approx(expected, abs=2e-6)


def test_half_a_hit_lies_between() -> None:
    (low, high), below, above = (exact_interval(hits, 10) for hits in (2.5, 2, 3))
    assert below[0] < low < above[0]
    assert below[1] < high < above[1]


def test_the_beta_distribution_is_that_of_order_statistics() -> None:
    """The 3rd of 7 uniform numbers is below x if at least 3 of them are; and in closed form."""
    for x in (0.05, 0.3, 0.5, 0.9):
        at_least = sum(math.comb(7, k) * x**k * (1 - x) ** (7 - k) for k in range(3, 8))
        assert beta.cdf(x, 3, 5) == pytest.approx(at_least, abs=1e-12)
        arcsine = 2 / math.pi * math.asin(math.sqrt(x))
        assert beta.cdf(x, 0.5, 0.5) == pytest.approx(arcsine, abs=1e-10)
        assert beta.cdf(x, 400.5, 1.0) == pytest.approx(x**400.5, abs=1e-12)
    assert beta.quantile(0.3, 2.5, 7) == pytest.approx(1 - beta.quantile(0.7, 7, 2.5), abs=1e-9)
    assert (beta.cdf(0, 2, 2), beta.cdf(1, 2, 2)) == (0.0, 1.0)


def test_a_rate_of_one_at_every_prompt_is_no_point() -> None:
    assert interval_of_rate(Clusters([1.0] * 10, [1.0] * 10)) == exact_interval(10, 10)


# How the values of one cluster are drawn, and what their mean truly is.
Draw = Callable[[random.Random], list[float]]


def _rate(rate: float, n: int, of: int, alike: float) -> Draw:
    """n prompts with `of` responses each; the prompts' own rates are beta distributed, the more
    like each other the larger `alike` is.
    """

    def draw(source: random.Random) -> list[float]:
        own = (source.betavariate(rate * alike, (1 - rate) * alike) for _ in range(n))
        return [sum(source.random() < p for _ in range(of)) / of for p in own]

    return draw


def _covered(draw: Draw, truth: float, interval: Callable[[Clusters], Interval | None]) -> float:
    source, hits = random.Random(20261123), 0
    for _ in range(1000):
        values = draw(source)
        low, high = interval(Clusters(values, [1.0] * len(values))) or (math.nan, math.nan)
        hits += low <= truth <= high
    return hits / 1000


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda source: [source.gauss(2, 3) for _ in range(100)], 2.0),
        (lambda source: [source.uniform(0, 1) for _ in range(100)], 0.5),
        (lambda source: [source.gammavariate(2, 1) for _ in range(100)], 2.0),
    ],
)
def test_intervals_of_means_cover_the_truth(draw: Draw, truth: float) -> None:
    assert 0.93 <= _covered(draw, truth, interval_of_mean) <= 0.97


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize(("of", "alike"), [(4, 3.0), (8, 0.5)])
def test_intervals_of_rates_cover_the_truth(rate: float, of: int, alike: float) -> None:
    covered = _covered(_rate(rate, 100, of, alike), rate, interval_of_rate)
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("rate", [0.03, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("alike", [3.0, 0.5])
def test_intervals_of_pass_at_4_of_8_cover_the_truth(rate: float, alike: float) -> None:
    """Truly 1 - E[(1 - p)^4] of prompts whose own rates p are beta distributed."""

    def draw(source: random.Random) -> list[float]:
        own = [source.betavariate(rate * alike, (1 - rate) * alike) for _ in range(100)]
        return [pass_at_k(8, sum(source.random() < p for _ in range(8)), 4) for p in own]

    truth = 1 - math.prod(((1 - rate) * alike + i) / (alike + i) for i in range(4))
    assert 0.93 <= _covered(draw, truth, interval_of_rate) <= (0.97 if truth >= 0.1 else 1)


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("n", [100, 150])
def test_with_one_response_a_prompt_every_outcome_can_be_counted(rate: float, n: int) -> None:
    """The chance of each number of hits, added up where its interval holds the rate."""
    covered = 0.0
    for hits in range(n + 1):
        outcome = Clusters([1.0] * hits + [0.0] * (n - hits), [1.0] * n)
        low, high = interval_of_rate(outcome) or (math.nan, math.nan)
        chance = math.comb(n, hits) * rate**hits * (1 - rate) ** (n - hits)
        covered += chance * (low <= rate <= high)
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("n", [5, 20, 50])
@pytest.mark.parametrize("rate", [0.02, 0.2, 0.9])
def test_intervals_of_few_prompts_cover_the_truth_at_least_as_often(rate: float, n: int) -> None:
    assert _covered(_rate(rate, n, 8, 0.5), rate, interval_of_rate) >= 0.93


def test_a_gain_is_one_rate_less_another_worked_by_hand() -> None:
    """Of 10, 2 gained and another 1 lost: each has its exact interval, and they go together with
    -.02 / sqrt(.16 x .09) = -1 / 6.
    """
    gained, lost = (Clusters([1.0] * n + [0.0] * m, [1.0] * 10) for n, m in ((2, 8), (1, 9)))
    lost = Clusters(lost.sums[::-1], lost.weights)
    low, high = interval_of_gain(gained, lost) or (0.0, 0.0)
    (up_low, up_high), (down_low, down_high) = exact_interval(2, 10), exact_interval(1, 10)
    for end, ours, theirs in (
        (low, 0.2 - up_low, down_high - 0.1), (high, up_high - 0.2, 0.1 - down_low)
    ):  # fmt: skip
        reach = math.sqrt(ours**2 + theirs**2 + 2 / 6 * ours * theirs)
        assert abs(end - 0.1) == pytest.approx(reach)
    assert interval_of_gain(Clusters([1.0], [1.0]), Clusters([0.0], [1.0])) is None


@pytest.mark.parametrize("n", [30, 64, 200])
@pytest.mark.parametrize(("gain", "loss"), [(0.01, 0.0), (0.05, 0.02), (0.1, 0.1), (0.4, 0.3)])
def test_intervals_of_gains_cover_the_truth_however_few_change(
    n: int, gain: float, loss: float
) -> None:
    """Where one in a hundred gains, the interval of the mean covers 3 to 9 of ten truths."""
    source, hits = random.Random(20261126), 0
    for _ in range(500):
        draws = [source.random() for _ in range(n)]
        gained = Clusters([float(draw < gain) for draw in draws], [1.0] * n)
        lost = Clusters([float(draw > 1 - loss) for draw in draws], [1.0] * n)
        low, high = interval_of_gain(gained, lost) or (math.nan, math.nan)
        hits += low <= gain - loss <= high
    assert hits / 500 >= 0.93


def test_with_many_prompts_the_interval_is_that_of_the_normal_distribution() -> None:
    n = 20_000
    low, high = interval_of_rate(Clusters([1.0, 0.0] * (n // 2), [1.0] * n)) or (0.0, 0.0)
    half = NormalDist().inv_cdf(0.975) * 0.5 / math.sqrt(n)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-4)
