"""The curve of several seeds: what they say together, bin by bin."""

import math
from bisect import bisect, bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from backend.domain.seeds.estimates import FEWEST_FOR_INTERVAL, FEWEST_FOR_IQM, summarised

# x ascending; a point whose value is NaN has None.
Points = Sequence[tuple[float, float | None]]


@dataclass
class Band:
    """Columns of equal length, x ascending; but for `n` they are None where fewer than three are.

    `n`: how many runs have a value in the bin. Runs that ended earlier leave the later bins.
    `is_iqm`: the estimator of the whole curve, which has a jump wherever that changes.
    """

    is_iqm: bool = False
    x: list[float] = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    value: list[float | None] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)

    def between(self, low: float, high: float) -> "Band":
        """Return the part whose x lies between these, both included."""
        part = slice(bisect_left(self.x, low), bisect(self.x, high))
        values = (self.value[part], self.low[part], self.high[part])
        return Band(self.is_iqm, self.x[part], self.n[part], *values)


class _Bin(NamedTuple):
    """The points of one run in one bin: their greatest x and the mean of their finite values."""

    x: float
    value: float | None


def band(
    curves: Sequence[Points], width: float, *, is_iqm: bool | None = None, is_joined: bool = False
) -> Band:
    """Put the curves of a group's runs together, bin by bin of `width`.

    Each run counts once in a bin, by the mean of its finite points there; x is the bin's greatest.
    A bin exists where a run has a point. `is_iqm`: by default from ten runs with a value on.
    `is_joined`: a run without a point in a bin counts by linear interpolation between its points
    on both sides, not beyond its first and last, nor next to a bin in which it has no finite value.
    Halfway between two points that are noise an interpolated value has half their variance.
    """
    runs = [_binned(curve, width) for curve in curves if curve]
    ends = _ends(runs)
    columns = [_joined(own, ends) if is_joined else _values(own) for own in runs]
    n_runs = len([column for column in columns if column])
    found = Band(is_iqm=n_runs >= FEWEST_FOR_IQM if is_iqm is None else is_iqm)
    for place, x in ends.items():
        values = [column[place] for column in columns if place in column]
        if not values:
            continue
        together = summarised(values, is_iqm=found.is_iqm)
        found.x.append(x)
        found.n.append(together.n)
        found.value.append(together.value if together.n >= FEWEST_FOR_INTERVAL else None)
        found.low.append(together.low)
        found.high.append(together.high)
    return found


def _binned(curve: Points, width: float) -> dict[int, _Bin]:
    points: defaultdict[int, list[tuple[float, float | None]]] = defaultdict(list)
    for x, y in curve:
        points[math.floor(x / width)].append((x, y))
    return {place: _together(points[place]) for place in sorted(points)}


def _together(points: Points) -> _Bin:
    finite = [y for _, y in points if y is not None]
    return _Bin(max(x for x, _ in points), fmean(finite) if finite else None)


def _ends(runs: Sequence[Mapping[int, _Bin]]) -> dict[int, float]:
    """The greatest x of each bin, ascending."""
    places = sorted({place for own in runs for place in own})
    return {place: max(own[place].x for own in runs if place in own) for place in places}


def _values(own: Mapping[int, _Bin]) -> dict[int, float]:
    return {place: one.value for place, one in own.items() if one.value is not None}


def _joined(own: Mapping[int, _Bin], ends: Mapping[int, float]) -> dict[int, float]:
    """The run's value in each of these bins that lies between its first and its last."""
    places, bins = [*own], [*own.values()]
    found = _values(own)
    for place in ends.keys() - own.keys():
        after = bisect(places, place)
        if 0 < after < len(bins):
            value = _on_the_line(bins[after - 1], bins[after], ends[place])
            if value is not None:
                found[place] = value
    return found


def _on_the_line(before: _Bin, after: _Bin, x: float) -> float | None:
    if before.value is None or after.value is None:
        return None
    share = (x - before.x) / (after.x - before.x)
    return before.value + share * (after.value - before.value)
