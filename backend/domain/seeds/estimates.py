"""What several seeds say of a number: a mean with its interval from three, an IQM from ten.

Fewer than three seeds are shown as they are: two points say nothing of their spread.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from intervals.student import quantile

FEWEST_FOR_INTERVAL = 3
FEWEST_FOR_IQM = 10
_SHARE = 0.975
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Summary:
    """Of n seeds: their mean, or from ten on their interquartile mean, and its 95 % interval."""

    n: int
    value: float
    low: float | None = None
    high: float | None = None
    is_iqm: bool = False


@dataclass(frozen=True)
class Difference:
    """How much larger one group of seeds is than another, with its 95 % interval.

    `more_seeds`: how many more each group would need for an interval without 0, if the difference
    and the spread stayed as they are; 0 = it is decided, None = not known or more than a thousand.
    """

    value: float
    low: float | None
    high: float | None
    more_seeds: int | None

    @property
    def is_decided(self) -> bool:
        """Whether 0 is not within the interval."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def summarised(values: Sequence[float]) -> Summary:
    """What these seeds say together. Raises ValueError for none."""
    n = len(values)
    if n >= FEWEST_FOR_IQM:
        middle, half = interquartile_mean(values), _half_width_of_middle(values)
        return Summary(n, middle, middle - half, middle + half, is_iqm=True)
    mean = fmean(values)
    if n < FEWEST_FOR_INTERVAL:
        return Summary(n, mean)
    half = quantile(_SHARE, n - 1) * math.sqrt(_variance(values)) / math.sqrt(n)
    return Summary(n, mean, mean - half, mean + half)


def interquartile_mean(values: Sequence[float]) -> float:
    """The mean of the middle half, quarters of a value counting in part.

    Less moved by a single seed that failed than the mean, and less wasteful than the median
    (Agarwal et al. 2021, arXiv 2108.13264).
    """
    ordered, n = sorted(values), len(values)
    cut = n / 4
    weights = [min(1.0, max(0.0, i + 1 - cut)) * min(1.0, max(0.0, n - cut - i)) for i in range(n)]
    return math.fsum(w * v for w, v in zip(weights, ordered, strict=True)) / math.fsum(weights)


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Mean of ours less mean of theirs, by Welch's t interval (Welch 1947)."""
    value = fmean(ours) - fmean(theirs)
    if min(len(ours), len(theirs)) < FEWEST_FOR_INTERVAL:
        return Difference(value, None, None, None)
    parts = [_variance(group) / len(group) for group in (ours, theirs)]
    error = math.sqrt(sum(parts))
    half = quantile(_SHARE, _welch_freedom(parts, len(ours), len(theirs))) * error
    is_decided = abs(value) > half
    spread = _variance(ours) + _variance(theirs)
    more = 0 if is_decided else _more_seeds(value, spread, min(len(ours), len(theirs)))
    return Difference(value, value - half, value + half, more)


def _welch_freedom(parts: Sequence[float], n: int, m: int) -> int:
    """Welch-Satterthwaite, rounded down, which widens the interval a little."""
    if sum(parts) == 0:
        return n + m - 2
    whole = sum(parts) ** 2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
    return max(1, math.floor(whole))


def _more_seeds(value: float, spread: float, n: int) -> int | None:
    """`spread`: the sum of both variances; both groups grow to the same size."""
    if value == 0:
        return None
    for wanted in range(n + 1, MOST_SEEDS):
        if quantile(_SHARE, 2 * wanted - 2) * math.sqrt(spread / wanted) < abs(value):
            return wanted - n
    return None


def _half_width_of_middle(values: Sequence[float]) -> float:
    """Of the interval of a mean whose quarters are cut off, by the winsorised deviation.

    Tukey & McLaughlin 1963; it has no noise and no seed, unlike a bootstrap.
    """
    ordered, n = sorted(values), len(values)
    cut = n // 4
    winsorised = [min(max(one, ordered[cut]), ordered[n - cut - 1]) for one in ordered]
    error = math.sqrt(_variance(winsorised)) / ((1 - 2 * cut / n) * math.sqrt(n))
    return quantile(_SHARE, n - 2 * cut - 1) * error


def _variance(values: Sequence[float]) -> float:
    # Not by `statistics`, whose exact fractions take a hundred times as long: bands have many bins.
    mean = fmean(values)
    return math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)
