"""The interval of a share at x = 0 against closed forms and against the truth of simulations."""

import math
import random

import pytest

from intervals.clustered import Clusters, interval_of_rate
from intervals.logistic import Profile
from intervals.student import quantile


def test_a_fit_of_two_places_is_that_of_the_counts_with_halves_added() -> None:
    """Firth's estimate of a saturated model adds half a hit and half a miss to each place.

    At x = 1 hit 7 of 10, at x = -1 hit 9 of 10: logits ln(7.5 / 3.5) and ln(9.5 / 1.5), and a is
    their mean.
    """
    shares = [1.0] * 7 + [0.0] * 3 + [1.0] * 9 + [0.0]
    profile = Profile.of(shares, [1.0] * 10 + [-1.0] * 10, range(20))
    a = (math.log(7.5 / 3.5) + math.log(9.5 / 1.5)) / 2
    assert profile.rate == pytest.approx(1 / (1 + math.exp(-a)), abs=1e-6)
    assert profile.rate == pytest.approx(0.786505, abs=1e-6)


def test_the_ends_are_where_the_profile_has_fallen_far_enough() -> None:
    """By a grid over b instead of an iteration, with the likelihood written out in full."""
    source = random.Random(3)
    x_N = [source.uniform(-1, 1) for _ in range(40)]
    share_N = [float(source.random() < 0.9) for _ in x_N]

    def height(a: float, b: float) -> float:
        rates = [1 / (1 + math.exp(-a - b * x)) for x in x_N]
        spread = [rate * (1 - rate) for rate in rates]
        aa = sum(spread)
        ab = sum(w * x for w, x in zip(spread, x_N, strict=True))
        bb = sum(w * x * x for w, x in zip(spread, x_N, strict=True))
        fit = sum(
            math.log(rate if share else 1 - rate)
            for share, rate in zip(share_N, rates, strict=True)
        )
        return fit + math.log(aa * bb - ab * ab) / 2

    def profiled(a: float) -> float:
        return max(height(a, step / 20) for step in range(-80, 81))

    profile = Profile.of(share_N, x_N, range(40))
    best = max(profiled(step / 20) for step in range(20, 80))
    low, high = profile.interval or (0.0, 0.0)
    for end in (low, high):
        fallen = math.sqrt(2 * (best - profiled(math.log(end / (1 - end)))))
        assert fallen == pytest.approx(quantile(0.975, 39), abs=5e-3)


def test_who_always_wins_is_not_certain_to() -> None:
    """64 of 64: the plain share has 0.944 to 1."""
    source = random.Random(1)
    x_N = [math.tanh(source.gauss(0, 1)) for _ in range(64)]
    won, lost = (Profile.of([share] * 64, x_N, range(64)) for share in (1.0, 0.0))
    assert won.rate == pytest.approx(1 - lost.rate, abs=1e-6)
    low, high = won.interval or (0.0, 0.0)
    assert (low, high) == pytest.approx((0.9333, 0.9999), abs=1e-4)
    assert lost.interval == pytest.approx((1 - high, 1 - low), abs=1e-5)


def test_copies_of_a_clusters_values_narrow_nothing() -> None:
    source = random.Random(4)
    x_N = [source.uniform(-1, 1) for _ in range(50)]
    share_N = [float(source.random() < 0.7) for _ in x_N]
    once = Profile.of(share_N, x_N, range(50))
    often = Profile.of(share_N * 8, x_N * 8, list(range(50)) * 8)
    assert often.rate == pytest.approx(once.rate, abs=1e-5)
    assert often.interval == pytest.approx(once.interval, abs=1e-5)


def test_where_x_says_nothing_it_is_as_wide_as_the_plain_interval() -> None:
    share_N = [1.0] * 300 + [0.0] * 100
    profile = Profile.of(share_N, [1.0, -1.0] * 200, range(400))
    plain = interval_of_rate(Clusters(share_N, [1.0] * 400))
    assert profile.interval == pytest.approx(plain, abs=0.002)


def test_one_cluster_has_no_interval() -> None:
    profile = Profile.of([1.0, 0.0, 1.0], [0.1, 0.2, 0.3], "ppp")
    assert profile.interval is None
    assert 0 < profile.rate < 1


def _covered(rate: float, n: int, per_x: float, of: int = 1, spread: float = 0.0) -> float:
    """The share of simulations whose interval holds the truth.

    n clusters with `of` values each; `spread`: the deviation of the clusters' own logits, with
    which the likeliest share is another than `rate`: it is that of 5,000 clusters.
    """
    source = random.Random(20261126)

    def draw(n: int) -> Profile:
        x_N, share_N = [], []
        for _ in range(n):
            own = math.log(rate / (1 - rate)) + (source.gauss(0, spread) if spread else 0.0)
            for _ in range(of):
                x_N.append(round(math.tanh(source.gauss(0.3, 1)), 2))
                chance = 1 / (1 + math.exp(-own - per_x * x_N[-1]))
                share_N.append(float(source.random() < chance))
        return Profile.of(share_N, x_N, [place // of for place in range(n * of)])

    truth, hits = draw(5000).rate if spread else rate, 0
    for _ in range(_DRAWS):
        profile = draw(n)
        hits += profile.deviations(truth) <= (profile.reach or math.nan)
    return hits / _DRAWS


# The draws are the same in every run of the test.
_DRAWS = 1000
_LEAST = 0.93


@pytest.mark.parametrize(
    ("rate", "n", "per_x"),
    [
        (0.5, 30, 1.5),
        (0.95, 64, 0.0),
        (0.97, 64, -1.5),
        (0.99, 30, 0.0),
        (0.99, 64, 1.5),
        pytest.param(0.99, 200, 0.0, marks=pytest.mark.slow),
    ],
)
def test_it_covers_the_truth_even_near_one(rate: float, n: int, per_x: float) -> None:
    assert _covered(rate, n, per_x) >= _LEAST


@pytest.mark.slow
def test_it_covers_the_truth_where_values_come_in_clusters() -> None:
    assert _covered(0.7, 64, 1.0, of=4, spread=2.0) >= _LEAST
