"""95 % intervals of means and rates whose values come in clusters: responses of one prompt.

Values of one cluster depend on each other, so a cluster is the unit that was drawn. Both intervals
have no noise and no seed. `tests/intervals/test_clustered.py` simulates how often they cover the
truth.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

from intervals import beta
from intervals.interval import Interval
from intervals.student import quantile

SHARE = 0.975
# A rate's variance is estimated from n clusters and this / n more in which all values agree.
AGREEING = 100
# With a smaller rate x (1 - rate) x clusters, the clusters say too little of their variance.
FEWEST = 5


@dataclass(frozen=True)
class Clusters:
    """Sums of values and of their weights by cluster: a mean is one sum over the other."""

    sums: Sequence[float]
    weights: Sequence[float]

    @classmethod
    def of(
        cls,
        value_N: Sequence[float],
        cluster_N: Sequence[Hashable],
        weight_N: Sequence[float] | None = None,
    ) -> Self:
        """Values by the cluster that each belongs to; `value_N` is times its weight already."""
        weights = [1.0] * len(value_N) if weight_N is None else weight_N
        sums: dict[Hashable, list[float]] = {}
        for value, weight, cluster in zip(value_N, weights, cluster_N, strict=True):
            one = sums.setdefault(cluster, [0.0, 0.0])
            one[0] += value
            one[1] += weight
        return cls([one[0] for one in sums.values()], [one[1] for one in sums.values()])

    @property
    def mean(self) -> float:
        """Sum over weight. Raises ValueError without any value."""
        weight = math.fsum(self.weights)
        if weight == 0:
            raise ValueError("found no values; expected at least one to compute a mean")
        return math.fsum(self.sums) / weight

    @property
    def variance(self) -> float:
        """The variance of the mean, from two clusters on.

        That of a ratio to first order (Cochran 1977, Sampling Techniques, eq. 6.9).
        """
        mean, n = self.mean, len(self.sums)
        moves = (s - mean * w for s, w in zip(self.sums, self.weights, strict=True))
        squares = math.fsum(move * move for move in moves)
        return squares * n / (n - 1) / math.fsum(self.weights) ** 2


def interval_of_mean(clusters: Clusters) -> Interval | None:
    """Student's t interval of the mean; None with fewer than two clusters, which show no spread."""
    n = len(clusters.sums)
    if n < 2:
        return None
    half = quantile(SHARE, n - 1) * math.sqrt(clusters.variance)
    return clusters.mean - half, clusters.mean + half


def interval_of_positive_mean(clusters: Clusters) -> Interval | None:
    """The interval of a mean of positive values where few clusters hold most of the weight.

    Student's t interval on the scale of the square root, because such means are skewed. Each
    cluster is compared with the mean of the others (HC3; MacKinnon and White 1985, Journal of
    Econometrics 29), because a heavy one pulls the common mean to itself; and they count as their
    effective number (Kish 1965, Survey Sampling). None with fewer than two clusters.
    """
    n, mean, weight = len(clusters.sums), clusters.mean, math.fsum(clusters.weights)
    if n < 2 or mean <= 0:
        return None if n < 2 else (mean, mean)
    moves = (
        (s - mean * w) * weight / (weight - w)
        for s, w in zip(clusters.sums, clusters.weights, strict=True)
    )
    error = math.sqrt(math.fsum(move * move for move in moves)) / weight
    half = quantile(SHARE, max(1, int(_effective(clusters.weights)) - 1)) * error / (2 * mean)
    return mean * max(0.0, 1 - half) ** 2, mean * (1 + half) ** 2


def _effective(weights: Sequence[float]) -> float:
    """How many clusters of equal weight would say as much."""
    # The least above a whole number that rounding has put below it.
    return math.fsum(weights) ** 2 / math.fsum(w * w for w in weights) + 1e-9


def interval_of_rate(clusters: Clusters) -> Interval | None:
    """The interval of a mean of values in [0, 1]; None with fewer than two clusters.

    Wilson's, for as many observations as the variance is that of (Wilson 1927; Korn and Graubard
    1998): the t interval of a rate near 0 or 1 is too short, and where all values are the same it
    is a point. Where the rate is so near 0 or 1 that the clusters show no variance, each counts as
    one observation and the interval is exact.
    """
    n, rate = len(clusters.sums), clusters.mean
    if n < 2:
        return None
    spread = max(0.0, rate * (1 - rate))
    if n * spread < FEWEST:
        return exact_interval(rate * n, n)
    z2 = quantile(SHARE, n - 1) ** 2 / _observations(clusters.variance, spread, n)
    middle = (rate + z2 / 2) / (1 + z2)
    reach = math.sqrt(z2 * (spread + z2 / 4)) / (1 + z2)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def interval_of_gain(gained: Clusters, lost: Clusters) -> Interval | None:
    """The interval of the rate gained less the rate lost, of the same values with equal weights.

    From the intervals of both rates and their correlation over clusters (Zou and Donner 2008,
    Statistics in Medicine 27, eq. 5): that of the mean difference is a point where nothing changed.
    None with fewer than two clusters.
    """
    up, down = interval_of_rate(gained), interval_of_rate(lost)
    if up is None or down is None:
        return None
    gain, alike = gained.mean - lost.mean, _correlation(gained, lost)
    return (
        max(-1.0, gain - _reach(gained.mean - up[0], down[1] - lost.mean, alike)),
        min(1.0, gain + _reach(up[1] - gained.mean, lost.mean - down[0], alike)),
    )


def _reach(ours: float, theirs: float, alike: float) -> float:
    return math.sqrt(max(0.0, ours * ours - 2 * alike * ours * theirs + theirs * theirs))


def _correlation(ours: Clusters, theirs: Clusters) -> float:
    """Correlate the moves of two rates over the same clusters; 0 if one does not vary."""
    pairs = [
        (a - ours.mean * w, b - theirs.mean * w)
        for a, b, w in zip(ours.sums, theirs.sums, ours.weights, strict=True)
    ]
    scale = math.fsum(a * a for a, _ in pairs) * math.fsum(b * b for _, b in pairs)
    return math.fsum(a * b for a, b in pairs) / math.sqrt(scale) if scale > 0 else 0.0


def _observations(variance: float, spread: float, n: int) -> float:
    """Count the observations that give this variance, at least one for each of the `n` clusters:
    values cannot depend on each other more than fully.
    """
    more = AGREEING / n
    steadied = (variance * n * (n - 1) + spread * more) / (n - 1 + more)
    return max(float(n), n * spread / steadied)


def exact_interval(hits: float, n: int) -> Interval:
    """Clopper and Pearson's interval of a rate; it covers the truth in 95 % or more of all cases.

    Hits need not be whole: a prompt may pass in part (Korn and Graubard 1998).
    """
    low = 0.0 if hits <= 0 else beta.quantile(1 - SHARE, hits, n - hits + 1)
    high = 1.0 if hits >= n else beta.quantile(SHARE, hits + 1, n - hits)
    return low, high
