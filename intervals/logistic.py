"""The 95 % interval of a share at x = 0, where the share moves with x; values come in clusters.

P(hit) = sigmoid(a + b x), fitted by Firth's penalised likelihood (1993, Biometrika 80), which is
finite even where every value is a hit. The interval of a is that of its profile (Heinze and
Schemper 2002, Statistics in Medicine 21): one by the residuals vanishes with them near 0 and 1.
`tests/intervals/test_logistic.py` simulates how often it covers the truth.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from intervals.clustered import AGREEING, FEWEST, SHARE
from intervals.interval import Interval
from intervals.student import quantile

_STEPS = 100
_HALVINGS = 20
_LONGEST_STEP = 4.0
_PRECISION = 1e-5
# sigmoid(40) is 1 as far as a float can say.
_FARTHEST = 40.0
_SMALLEST = 1e-300


class _Row(NamedTuple):
    """Equal values: what they are, where, and for how many observations they count."""

    share: float
    x: float
    weight: float


@dataclass(frozen=True)
class _Point:
    """The penalised log-likelihood at a and b, its slopes, and the information there."""

    a: float
    b: float
    height: float
    slope_a: float
    slope_b: float
    aa: float
    ab: float
    bb: float

    @property
    def determinant(self) -> float:
        return _positive(self.aa * self.bb - self.ab * self.ab)

    @classmethod
    def at(cls, rows: Sequence[_Row], a: float, b: float) -> Self:
        # Nearly all time of a fit is spent here, so nothing is called or calculated twice.
        rates, spreads, leaning, squares = [], [], [], []
        for _, x, weight in rows:
            value = a + b * x
            small = math.exp(-abs(value))
            near, far = 1 / (1 + small), small / (1 + small)
            p, q = (near, far) if value >= 0 else (far, near)
            spread = weight * p * q
            lean = spread * x
            rates.append((p, q))
            spreads.append(spread)
            leaning.append(lean)
            squares.append(lean * x)
        aa, ab, bb = math.fsum(spreads), math.fsum(leaning), math.fsum(squares)
        determinant = _positive(aa * bb - ab * ab)
        height, slope_a, slope_b = math.log(determinant) / 2, 0.0, 0.0
        for (share, x, weight), (p, q), spread in zip(rows, rates, spreads, strict=True):
            # The diagonal of the hat matrix: half of it is added as hits, half as misses.
            hat = spread * (bb - 2 * ab * x + aa * x * x) / determinant
            misses = 1 - share
            slope = weight * (share * q - misses * p) + hat * (q - p) / 2
            slope_a += slope
            slope_b += slope * x
            if share:
                height += weight * share * math.log(_positive(p))
            if misses:
                height += weight * misses * math.log(_positive(q))
        return cls(a, b, height, slope_a, slope_b, aa, ab, bb)


@dataclass(frozen=True)
class Profile:
    """How likely each share at x = 0 is.

    `reach`: how many deviations from the likeliest the 95 % interval reaches; None with fewer than
    two clusters, which show no spread.
    """

    rows: Sequence[_Row]
    best: _Point
    reach: float | None

    @classmethod
    def of(
        cls, share_N: Sequence[float], x_N: Sequence[float], cluster_N: Sequence[Hashable]
    ) -> Self:
        """Shares lie in [0, 1]; x has two values or more.

        Each share counts as the part of an observation that its dependence on the others of its
        cluster leaves, as in `interval_of_rate`.
        """
        sizes = Counter(cluster_N)
        n, most = len(sizes), sum(size * size for size in sizes.values()) / len(share_N)
        rows = _rows(share_N, x_N, 1 / most)
        best = _highest(rows)
        if n < 2:
            return cls(rows, best, None)
        dependence = _dependence(best, share_N, x_N, cluster_N, most)
        if dependence < most:
            rows = _rows(share_N, x_N, 1 / dependence)
            best = _highest(rows)
        return cls(rows, best, quantile(SHARE, n - 1))

    @property
    def rate(self) -> float:
        """The likeliest share at x = 0."""
        return _sigmoid(self.best.a)

    @property
    def interval(self) -> Interval | None:
        """The shares at x = 0 that are likely enough."""
        if self.reach is None:
            return None
        return _sigmoid(self._end(self.reach, -1)), _sigmoid(self._end(self.reach, 1))

    def deviations(self, rate: float) -> float:
        """How far a share in (0, 1) is from the likeliest: the root of the deviance."""
        return self._from_best(math.log(rate / (1 - rate)), self.best.b)[0]

    def _from_best(self, a: float, b: float) -> tuple[float, float]:
        """The deviations of a, and the b that goes with it; `b`: where to look for it first."""
        point = _profiled(self.rows, a, b)
        return math.sqrt(max(0.0, 2 * (self.best.height - point.height))), point.b

    def _end(self, reach: float, side: int) -> float:
        """The a on one side that is `reach` deviations away; infinite where none is.

        Deviations are nearly linear in a: first doubling steps, then the regula falsi (the
        Illinois algorithm).
        """
        inner, at_inner, step = self.best.a, -reach, 1.0
        outer = inner + side * step
        found, b = self._from_best(outer, self.best.b)
        while found < reach:
            if abs(outer) > _FARTHEST:
                return side * math.inf
            inner, at_inner, step = outer, found - reach, 2 * step
            outer = inner + side * step
            found, b = self._from_best(outer, b)
        at_outer = found - reach
        for _ in range(_STEPS):
            middle = (inner * at_outer - outer * at_inner) / (at_outer - at_inner)
            found, b = self._from_best(middle, b)
            if abs(found - reach) < _PRECISION:
                return middle
            if found < reach:
                inner, at_inner, at_outer = middle, found - reach, at_outer / 2
            else:
                outer, at_outer, at_inner = middle, found - reach, at_inner / 2
        return outer


def _rows(share_N: Sequence[float], x_N: Sequence[float], weight: float) -> list[_Row]:
    """Equal values in one row: where x comes from whole numbers there are many."""
    counted = Counter(zip(share_N, x_N, strict=True))
    return [_Row(share, x, count * weight) for (share, x), count in counted.items()]


def _dependence(
    fit: _Point,
    share_N: Sequence[float],
    x_N: Sequence[float],
    cluster_N: Sequence[Hashable],
    most: float,
) -> float:
    """How many values make one observation of a: 1 if they are independent, `most` if they agree.

    The variance of a by cluster over that of independent hits and misses, steadied by clusters in
    which all values agree; below 1 where values lie between hit and miss. Where few values differ
    from the rest, `most`: they say too little of it.
    """
    n, rate = len(set(cluster_N)), math.fsum(share_N) / len(share_N)
    if n * rate * (1 - rate) < FEWEST:
        return most
    moves: dict[Hashable, float] = {}
    apart = 0.0
    for share, x, cluster in zip(share_N, x_N, cluster_N, strict=True):
        pull = fit.bb - fit.ab * x
        residual = share - _sigmoid(fit.a + fit.b * x)
        moves[cluster] = moves.get(cluster, 0.0) + pull * residual
        apart += pull * pull * (residual * residual + share * (1 - share))
    if apart <= 0:
        return most
    found = math.fsum(move * move for move in moves.values()) / apart
    more = AGREEING / n
    return min(most, (found * n + most * more) / (n - 1 + more))


def _highest(rows: Sequence[_Row]) -> _Point:
    """The a and b of the highest penalised likelihood, by Fisher's scoring."""

    def step(at: _Point) -> tuple[float, float]:
        return (
            (at.bb * at.slope_a - at.ab * at.slope_b) / at.determinant,
            (at.aa * at.slope_b - at.ab * at.slope_a) / at.determinant,
        )

    return _climbed(rows, _Point.at(rows, 0.0, 0.0), step)


def _profiled(rows: Sequence[_Row], a: float, b: float) -> _Point:
    """The highest point with this a; `b`: where to begin."""
    return _climbed(rows, _Point.at(rows, a, b), lambda at: (0.0, at.slope_b / _positive(at.bb)))


def _climbed(
    rows: Sequence[_Row], start: _Point, step: Callable[[_Point], tuple[float, float]]
) -> _Point:
    at = start
    for _ in range(_STEPS):
        moves = step(at)
        longest = max(map(abs, moves))
        if longest < _PRECISION:
            break
        higher = _higher(rows, at, moves, min(1.0, _LONGEST_STEP / longest))
        if higher is None:
            break
        at = higher
    return at


def _higher(
    rows: Sequence[_Row], at: _Point, moves: tuple[float, float], part: float
) -> _Point | None:
    """The point after this part of the moves, or after half of it, a quarter, until it is higher.

    None where none is: then this is the top, as far as floats can say.
    """
    for _ in range(_HALVINGS):
        after = _Point.at(rows, at.a + part * moves[0], at.b + part * moves[1])
        if after.height > at.height:
            return after
        part /= 2
    return None


def _sigmoid(value: float) -> float:
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    return math.exp(value) / (1 + math.exp(value))


def _positive(value: float) -> float:
    return max(value, _SMALLEST)
