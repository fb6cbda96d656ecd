"""The curve of several seeds: what they say together, bin by bin."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from backend.domain.seeds.estimates import FEWEST_FOR_INTERVAL, FEWEST_FOR_IQM, summarised

Points = Sequence[tuple[float, float]]


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


def band(curves: Sequence[Points], width: float) -> Band:
    """Put the curves of a group's runs together, bin by bin of `width`.

    Each run counts once in a bin, by the mean of its points there; x is the bin's greatest.
    """
    bins: defaultdict[int, list[list[tuple[float, float]]]] = defaultdict(list)
    for curve in curves:
        own: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        for x, y in curve:
            own[math.floor(x / width)].append((x, y))
        for place, points in own.items():
            bins[place].append(points)
    found = Band(is_iqm=len([curve for curve in curves if curve]) >= FEWEST_FOR_IQM)
    for _, runs in sorted(bins.items()):
        together = summarised([fmean(y for _, y in points) for points in runs], is_iqm=found.is_iqm)
        found.x.append(max(x for points in runs for x, _ in points))
        found.n.append(together.n)
        found.value.append(together.value if together.n >= FEWEST_FOR_INTERVAL else None)
        found.low.append(together.low)
        found.high.append(together.high)
    return found
