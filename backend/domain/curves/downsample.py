"""How a curve of many points becomes a few buckets that hide no spike.

A bucket covers so many steps and begins at a multiple of them, so a curve that grows keeps the
buckets it has. `backend.store.metrics.curves` asks how wide they are and fills them; pure.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import add, lt

# A value is told to this part of the range that all values of the answer have.
LEVELS = 8192
# Of numbers with all their digits.
_LEAST = sys.float_info.min


@dataclass(slots=True)
class Columns:
    """Buckets with x strictly ascending; None where no value of a bucket is finite.

    `x` is the greatest that a point of the bucket has, `last` the value of its last point, `total`
    the sum of its finite values, of which there are `n_values` in `n` points. `first` and `newest`
    are the finite values at the two ends of the curve; None = it has none.
    """

    x: list[float] = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    n_values: list[int] = field(default_factory=list)
    min: list[float | None] = field(default_factory=list)
    max: list[float | None] = field(default_factory=list)
    total: list[float | None] = field(default_factory=list)
    last: list[float | None] = field(default_factory=list)
    first: float | None = None
    newest: float | None = None

    @classmethod
    def of_points(cls, x: Sequence[float], values: Sequence[float | None]) -> "Columns":
        """Every point as a bucket of its own, but for those whose x does not advance."""
        known = [value for value in values if value is not None]
        ends = (known[0], known[-1]) if known else (None, None)
        if all(map(lt, x, islice(x, 1, None))):
            given = list(values)
            found = [0 if value is None else 1 for value in given]
            return cls(list(x), [1] * len(given), found, given, given, given, given, *ends)
        columns = cls(first=ends[0], newest=ends[1])
        for at, value in zip(x, values, strict=True):
            columns.add(at, 1, 0 if value is None else 1, value, value, value, value)
        return columns

    def add(
        self,
        x: float,
        n: int,
        n_values: int,
        low: float | None,
        high: float | None,
        total: float | None,
        last: float | None,
        *,
        joins: bool = False,
    ) -> None:
        """The next bucket; it is joined to the one before if it `joins` it or x does not advance.

        Time and tokens may stand still between two steps; a chart needs unique x.
        """
        if not self.x or (not joins and x > self.x[-1]):
            self.x.append(x)
            self.n.append(n)
            self.n_values.append(n_values)
            self.min.append(low)
            self.max.append(high)
            self.total.append(total)
            self.last.append(last)
            return
        self.x[-1] = max(self.x[-1], x)
        self.n[-1] += n
        self.n_values[-1] += n_values
        self.min[-1] = _both(min, self.min[-1], low)
        self.max[-1] = _both(max, self.max[-1], high)
        self.total[-1] = _both(add, self.total[-1], total)
        self.last[-1] = last

    def mean(self) -> list[float | None]:
        """The mean of each bucket's finite values."""
        if self.total is self.last:
            return self.last
        rows = zip(self.total, self.n_values, self.min, self.max, strict=True)
        return [
            None if total is None or low is None or high is None else _within(total / n, low, high)
            for total, n, low, high in rows
        ]

    def n_nan(self) -> list[int]:
        """How many points of each bucket have no finite value."""
        return [n - found for n, found in zip(self.n, self.n_values, strict=True)]


def _within(mean: float, low: float, high: float) -> float:
    """The mean, which the rounding of its sum may put beside values that are all the same."""
    return low if mean < low else high if mean > high else mean


def _both(join: Callable[[float, float], float], a: float | None, b: float | None) -> float | None:
    if a is None or b is None:
        return b if a is None else a
    return join(a, b)


def bucket_width(
    first_step: int, last_step: int, *, points: int, widths: Sequence[int] = ()
) -> int:
    """The smallest width for which at most `points` aligned buckets hold these steps.

    It is one of `widths`, ascending, or a power of two where none of them is wide enough. Raises
    ValueError if points < 1 or the first step is negative.
    """
    if points < 1 or first_step < 0:
        raise ValueError(
            f"found points {points} and first step {first_step}; expected points >= 1 and first "
            "step >= 0"
        )
    candidates = iter(widths)
    width = next(candidates, 1)
    while last_step // width - first_step // width >= points:
        width = next(candidates, 2 * width)
    return width


@dataclass(frozen=True, slots=True)
class Scale:
    """How numbers stand for values: value = low + unit x number."""

    low: float
    unit: float

    def numbers(self, values: Sequence[float | None]) -> list[float | None]:
        """Whole numbers from 0 to LEVELS for values in the range; as they are if exact."""
        if self == EXACT:
            return list(values)
        low, unit = self.low, self.unit
        return [None if value is None else round((value - low) / unit) for value in values]


EXACT = Scale(0.0, 1.0)


def scale_of(values: Iterable[float | None]) -> Scale:
    """The scale with which these are told to a part in LEVELS of their range, and 0 as it is.

    EXACT where the range has no such part: a single value, or one too wide or narrow for floats.
    """
    known = [value for value in values if value is not None]
    if not known:
        return EXACT
    low, high = min(known), max(known)
    unit = (high - low) / LEVELS
    if not (_LEAST <= unit < math.inf and low + unit > low and high - unit < high):
        return EXACT
    if low < 0 < high:
        # 0 is a whole number of units away from the end that is farther from it, and from where the
        # numbers begin: less than a unit below the least value.
        far = max(-low, high)
        unit = far / math.floor(far / ((high - low) / (LEVELS - 1)))
        low = -math.ceil(-low / unit) * unit
    return Scale(low, unit)
