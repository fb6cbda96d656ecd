"""The curves of several seeds: what they say together, bucket by bucket."""

import math
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.domain.seeds.estimates import FEWEST_FOR_INTERVAL, FEWEST_FOR_IQM, centre, summarised

_NONE = (None, None, None)

# x and value; None where the value is NaN.
Point = tuple[float, float | None]


class SeedCurve(NamedTuple):
    """The points of one run in a window, x ascending, and its neighbours outside of the window.

    A line leads from `before` to the first point and from the last one to `behind`; None = there is
    no such point. `n_nan`: by point, how many values were left out of it because they are not
    finite; by default one of a point without a value.
    """

    points: Sequence[Point]
    before: Point | None = None
    behind: Point | None = None
    n_nan: Sequence[int] | None = None


@dataclass
class Band:
    """Columns of equal length, x ascending; `value`, `low`, `high` are None below three runs.

    `n`: how many runs have a value in the bucket. Runs that ended earlier leave the later buckets.
    `n_nan`: how many values of runs in the bucket are not finite, and so are in no mean.
    `is_iqm`: the estimator of the whole curve, which has a jump wherever that changes.
    """

    is_iqm: bool = False
    x: list[float] = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    n_nan: list[int] = field(default_factory=list)
    value: list[float | None] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)


class _Bucket(NamedTuple):
    """The points of one run in one bucket: their greatest x and the mean of their finite values."""

    x: float
    value: float | None
    n_nan: int = 0


def bands(
    groups: Sequence[Sequence[SeedCurve]],
    width: float,
    *,
    are_iqms: Sequence[bool] | None = None,
    is_joined: bool = False,
    is_share: bool = False,
) -> list[Band]:
    """Put the curves of each group's runs together, bucket by bucket of `width`.

    Each run counts once in a bucket, by the mean of its finite points there. A bucket is where a
    run of any group has a point; its x is the greatest of all. `are_iqms`: by group; by default
    those of ten runs with a value and more. `is_joined`: a run without a point in a bucket counts
    by linear interpolation between its points on both sides, not beyond its first and last, nor
    beside a bucket in which it has no finite value. Halfway between two points that are noise an
    interpolated value has half their variance.
    `is_share`: values lie between 0 and 1, and so does the band.
    """
    bucketed = [[_bucketed(curve, width) for curve in curves] for curves in groups]
    ends = _ends([own for runs in bucketed for own in runs])
    found = []
    for place, (curves, runs) in enumerate(zip(groups, bucketed, strict=True)):
        pairs = zip(curves, runs, strict=True)
        columns = [_joined(curve, own, ends) if is_joined else _values(own) for curve, own in pairs]
        n_runs = len([column for column in columns if column])
        is_iqm = n_runs >= FEWEST_FOR_IQM if are_iqms is None else are_iqms[place]
        n_nan = Counter[int]()
        for own in runs:
            n_nan.update({at: one.n_nan for at, one in own.items()})
        found.append(_together(columns, ends, n_nan, is_iqm=is_iqm, is_share=is_share))
    return found


def _bucketed(curve: SeedCurve, width: float) -> dict[int, _Bucket]:
    n_nan = curve.n_nan
    if n_nan is None:
        n_nan = [1 if y is None else 0 for _, y in curve.points]
    points: defaultdict[int, list[tuple[Point, int]]] = defaultdict(list)
    for point, n in zip(curve.points, n_nan, strict=True):
        points[math.floor(point[0] / width)].append((point, n))
    return {place: _bucket(points[place]) for place in sorted(points)}


def _bucket(points: Sequence[tuple[Point, int]]) -> _Bucket:
    finite = [y for (_, y), _ in points if y is not None]
    value = centre(finite, is_iqm=False) if finite else None
    return _Bucket(max(x for (x, _), _ in points), value, sum(n for _, n in points))


def _ends(runs: Sequence[Mapping[int, _Bucket]]) -> dict[int, float]:
    """The greatest x of each bucket, ascending."""
    places = sorted({place for own in runs for place in own})
    return {place: max(own[place].x for own in runs if place in own) for place in places}


def _values(own: Mapping[int, _Bucket]) -> dict[int, float]:
    return {place: one.value for place, one in own.items() if one.value is not None}


def _joined(
    curve: SeedCurve, own: Mapping[int, _Bucket], ends: Mapping[int, float]
) -> dict[int, float]:
    """The run's value in each of these buckets that lies between its first and its last point."""
    outside = [[] if one is None else [_Bucket(*one)] for one in (curve.before, curve.behind)]
    known = [*outside[0], *own.values(), *outside[1]]
    xs = [one.x for one in known]
    found = _values(own)
    for place in ends.keys() - own.keys():
        after = bisect(xs, ends[place])
        if 0 < after < len(known):
            value = _on_the_line(known[after - 1], known[after], ends[place])
            if value is not None:
                found[place] = value
    return found


def _on_the_line(before: _Bucket, after: _Bucket, x: float) -> float | None:
    if before.value is None or after.value is None:
        return None
    share = (x - before.x) / (after.x - before.x)
    return before.value + share * (after.value - before.value)


def _together(
    columns: Sequence[Mapping[int, float]],
    ends: Mapping[int, float],
    n_nan: Mapping[int, int],
    *,
    is_iqm: bool,
    is_share: bool,
) -> Band:
    found = Band(is_iqm)
    for place, x in ends.items():
        values = [column[place] for column in columns if place in column]
        missing = n_nan.get(place, 0)
        if not values and not missing:
            continue
        found.x.append(x)
        found.n.append(len(values))
        found.n_nan.append(missing)
        has_mean = len(values) >= FEWEST_FOR_INTERVAL
        together = summarised(values, is_iqm=is_iqm) if has_mean else None
        value, low, high = (together.value, together.low, together.high) if together else _NONE
        found.value.append(value)
        found.low.append(max(0.0, low) if is_share and low is not None else low)
        found.high.append(min(1.0, high) if is_share and high is not None else high)
    return found
