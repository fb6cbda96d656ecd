"""The curve of several seeds: what they say together, bin by bin."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from backend.domain.seeds.estimates import summarised

Points = Sequence[tuple[float, float]]


@dataclass
class Band:
    """Columns of equal length, x ascending; `low` and `high` are None where fewer than three are.

    `n`: how many runs have a value in the bin. Runs that ended earlier leave the later bins.
    """

    x: list[float] = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)


def band(curves: Sequence[Points], width: float) -> Band:
    """Each run counts once in a bin, with the mean of its points there; x is the bin's greatest."""
    bins: defaultdict[int, list[list[tuple[float, float]]]] = defaultdict(list)
    for curve in curves:
        own: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        for x, y in curve:
            own[math.floor(x / width)].append((x, y))
        for place, points in own.items():
            bins[place].append(points)
    found = Band()
    for _, runs in sorted(bins.items()):
        together = summarised([fmean(y for _, y in points) for points in runs])
        found.x.append(max(x for points in runs for x, _ in points))
        found.n.append(together.n)
        found.value.append(together.value)
        found.low.append(together.low)
        found.high.append(together.high)
    return found
