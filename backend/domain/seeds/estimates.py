"""What several seeds say of a number: a mean with its interval from three, an IQM from ten.

Fewer than three seeds are shown as they are: two points say nothing of their spread.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from intervals.student import quantile

FEWEST_FOR_INTERVAL = 3
FEWEST_FOR_IQM = 10
_SHARE_OUTSIDE = 0.05
_CUT = 4  # An IQM leaves out a quarter of the seeds at each end.
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Summary:
    """The mean of n seeds, from ten on their interquartile mean, and its 95 % interval."""

    n: int
    value: float
    low: float | None = None
    high: float | None = None
    is_iqm: bool = False


@dataclass(frozen=True)
class Difference:
    """How much larger one group of seeds is than another, with its interval.

    `is_iqm`: of IQMs, not of means. `more_seeds`: how many more each group would need for an
    interval without 0, if the difference and the spread stayed as they are; 0 = it is decided,
    None = not known or more than a thousand.
    """

    value: float
    low: float | None
    high: float | None
    more_seeds: int | None
    is_iqm: bool = False

    @property
    def has_spread(self) -> bool:
        """Whether the seeds differ, so that the interval has a width."""
        return self.low != self.high

    @property
    def is_decided(self) -> bool:
        """Whether 0 is not within the interval; never where the seeds show no spread."""
        if self.low is None or self.high is None:
            return False
        return self.has_spread and not self.low <= 0 <= self.high


def summarised(values: Sequence[float], *, is_iqm: bool | None = None) -> Summary:
    """What these seeds say together; `is_iqm`: by default from ten on. Raises ValueError for none.

    The interval of an IQM is Yuen's (1974, Biometrika 61): by the winsorised deviation, without
    noise or a seed of its own, unlike a bootstrap.
    """
    n = len(values)
    is_iqm = n >= FEWEST_FOR_IQM if is_iqm is None else is_iqm
    middle = centre(values, is_iqm=is_iqm)
    if n < FEWEST_FOR_INTERVAL:
        return Summary(n, middle, is_iqm=is_iqm)
    freedom = _kept(n, is_iqm=is_iqm) - 1
    half = _t(freedom) * math.sqrt(_squared_error(values, is_iqm=is_iqm))
    return Summary(n, middle, middle - half, middle + half, is_iqm)


def centre(values: Sequence[float], *, is_iqm: bool) -> float:
    """The IQM or the mean. Raises ValueError for none."""
    found = interquartile_mean(values) if is_iqm else fmean(values)
    # Of values that are all the same, rounding may give one beside them.
    return min(max(found, min(values)), max(values))


def interquartile_mean(values: Sequence[float]) -> float:
    """The mean of the middle half, quarters of a value counting in part.

    Less moved by a single seed that failed than the mean, and less wasteful than the median
    (Agarwal et al. 2021, arXiv 2108.13264).
    """
    ordered, n = sorted(values), len(values)
    cut = n / 4
    weights = [min(1.0, max(0.0, i + 1 - cut)) * min(1.0, max(0.0, n - cut - i)) for i in range(n)]
    return math.fsum(w * v for w, v in zip(weights, ordered, strict=True)) / math.fsum(weights)


def difference(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    is_iqm: bool = False,
    n_comparisons: int = 1,
) -> Difference:
    """Mean of ours less mean of theirs by Welch's interval (1947), or IQMs by Yuen's (1974).

    `n_comparisons`: of that many intervals 95 % hold together (Bonferroni).
    """
    value = centre(ours, is_iqm=is_iqm) - centre(theirs, is_iqm=is_iqm)
    n, m = len(ours), len(theirs)
    if min(n, m) < FEWEST_FOR_INTERVAL:
        return Difference(value, None, None, None, is_iqm)
    errors = [_squared_error(group, is_iqm=is_iqm) for group in (ours, theirs)]
    freedom = _welch_freedom(errors, _kept(n, is_iqm=is_iqm), _kept(m, is_iqm=is_iqm))
    half = _t(freedom, n_comparisons) * math.sqrt(sum(errors))
    found = Difference(value, value - half, value + half, 0, is_iqm)
    if found.is_decided:
        return found
    spread = errors[0] * n + errors[1] * m
    more = _more_seeds(value, spread, min(n, m), n_comparisons, is_iqm=is_iqm)
    return Difference(value, found.low, found.high, more, is_iqm)


def _t(freedom: int, n_comparisons: int = 1) -> float:
    return quantile(1 - _SHARE_OUTSIDE / 2 / n_comparisons, freedom)


def _kept(n: int, *, is_iqm: bool) -> int:
    """How many seeds are whole within a mean or an IQM."""
    return n - 2 * (n // _CUT) if is_iqm else n


def _squared_error(values: Sequence[float], *, is_iqm: bool) -> float:
    """Compute the squared standard error of a mean or an IQM, which its interval is made of."""
    n = len(values)
    if not is_iqm:
        return _variance(values) / n
    ordered, cut, kept = sorted(values), n // _CUT, _kept(n, is_iqm=True)
    winsorised = [min(max(one, ordered[cut]), ordered[n - cut - 1]) for one in ordered]
    return (n - 1) * _variance(winsorised) / (kept * (kept - 1))


def _welch_freedom(parts: Sequence[float], n: int, m: int) -> int:
    """Welch-Satterthwaite, rounded down, which widens the interval a little."""
    if sum(parts) == 0:
        return n + m - 2
    whole = sum(parts) ** 2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
    return max(1, math.floor(whole))


def _more_seeds(
    value: float, spread: float, n: int, n_comparisons: int, *, is_iqm: bool
) -> int | None:
    """Find how many more seeds would decide; None if those are too many, or nothing differs.

    `spread`: the sum of both squared errors of a single seed; both groups grow to one size.
    """
    if value == 0 or spread == 0:
        return None

    def decides(wanted: int) -> bool:
        # An IQM keeps half of the seeds.
        freedom = 2 * (wanted // 2 if is_iqm else wanted) - 2
        return _t(freedom, n_comparisons) * math.sqrt(spread / wanted) < abs(value)

    sizes = range(n + 1, MOST_SEEDS)
    place = bisect_left(sizes, True, key=decides)
    return sizes[place] - n if place < len(sizes) else None


def _variance(values: Sequence[float]) -> float:
    # Not by `statistics`, whose exact fractions take a hundred times as long: a band has many
    # buckets.
    if min(values) == max(values):
        return 0.0
    mean = fmean(values)
    return math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)
