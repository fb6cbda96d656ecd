"""The curves of several seeds: what they say together, bucket by bucket."""

import math
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from backend.domain.seeds.estimates import FEWEST_FOR_INTERVAL, FEWEST_FOR_IQM, summarised

# x and value; None where the value is NaN.
Point = tuple[float, float | None]


class SeedCurve(NamedTuple):
    """The points of one run in a window, x ascending, and its neighbours outside of the window.

    A line leads from `before` to the first point and from the last one to `behind`; None = there is
    no such point.
    """

    points: Sequence[Point]
    before: Point | None = None
    behind: Point | None = None


@dataclass
class Band:
    """Columns of equal length, x ascending; but for `n` they are None where fewer than three are.

    `n`: how many runs have a value in the bucket. Runs that ended earlier leave the later buckets.
    `is_iqm`: the estimator of the whole curve, which has a jump wherever that changes.
    """

    is_iqm: bool = False
    x: list[float] = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    value: list[float | None] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)


class _Bucket(NamedTuple):
    """The points of one run in one bucket: their greatest x and the mean of their finite values."""

    x: float
    value: float | None


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
    bucketed = [[_bucketed(curve.points, width) for curve in curves] for curves in groups]
    ends = _ends([own for runs in bucketed for own in runs])
    found = []
    for place, (curves, runs) in enumerate(zip(groups, bucketed, strict=True)):
        pairs = zip(curves, runs, strict=True)
        columns = [_joined(curve, own, ends) if is_joined else _values(own) for curve, own in pairs]
        n_runs = len([column for column in columns if column])
        is_iqm = n_runs >= FEWEST_FOR_IQM if are_iqms is None else are_iqms[place]
        found.append(_together(columns, ends, is_iqm=is_iqm, is_share=is_share))
    return found


def _bucketed(curve: Sequence[Point], width: float) -> dict[int, _Bucket]:
    points: defaultdict[int, list[Point]] = defaultdict(list)
    for x, y in curve:
        points[math.floor(x / width)].append((x, y))
    return {place: _bucket(points[place]) for place in sorted(points)}


def _bucket(points: Sequence[Point]) -> _Bucket:
    finite = [y for _, y in points if y is not None]
    return _Bucket(max(x for x, _ in points), fmean(finite) if finite else None)


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
    *,
    is_iqm: bool,
    is_share: bool,
) -> Band:
    found = Band(is_iqm)
    for place, x in ends.items():
        values = [column[place] for column in columns if place in column]
        if not values:
            continue
        together = summarised(values, is_iqm=is_iqm)
        found.x.append(x)
        found.n.append(together.n)
        found.value.append(together.value if together.n >= FEWEST_FOR_INTERVAL else None)
        low, high = together.low, together.high
        found.low.append(max(0.0, low) if is_share and low is not None else low)
        found.high.append(min(1.0, high) if is_share and high is not None else high)
    return found
