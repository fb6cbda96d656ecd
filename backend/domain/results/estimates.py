"""What several seeds say of a number, one or two of them too; means and differences of readings.

The interval of a sum or difference comes from the intervals of its parts (Zou and Donner 2008,
Statistics in Medicine 27, eq. 3), so that rates near 0 or 1 keep intervals that are not symmetric.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from backend.domain.results.measurements import Reading
from backend.domain.seeds.estimates import FEWEST_FOR_INTERVAL, summarised


@dataclass(frozen=True)
class Together:
    """n seeds: their mean, its 95 % interval, and what that is an interval of."""

    n: int
    reading: Reading
    interval_of: Literal["seeds", "prompts"] | None
    is_iqm: bool = False


def together(seeds: Sequence[Reading]) -> Together:
    """Put seeds together: with an interval over three or more, else the mean of their own.

    Seeds that all have one value, such as 0 of everything, have the mean of their own intervals by
    prompt, too: they show no spread, and a t interval without any width would claim to know the
    number. The mean of intervals is never too short for these seeds, however much their errors have
    in common: they answered the same prompts. It says nothing of other seeds. Raises ValueError for
    none.
    """
    values = [one.value for one in seeds]
    found = summarised(values)
    if len(seeds) >= FEWEST_FOR_INTERVAL and len(set(values)) > 1:
        if found.low == found.high:
            # Most of ten seeds and more agree, so their interquartile mean shows no spread.
            return Together(found.n, Reading(found.value), None, found.is_iqm)
        return Together(found.n, Reading(found.value, found.low, found.high), "seeds", found.is_iqm)
    lows = [one.low for one in seeds if one.low is not None]
    highs = [one.high for one in seeds if one.high is not None]
    if len(lows) < len(seeds) or len(highs) < len(seeds):
        return Together(len(seeds), Reading(fmean(values)), None)
    return Together(len(seeds), Reading(fmean(values), fmean(lows), fmean(highs)), "prompts")


def gain_of(seeds: Sequence[Reading]) -> Reading:
    """What seeds gained over one start, each measured beside it on the same prompts.

    All gains share the errors of the start and of the prompts, which no spread between seeds shows.
    Nobody knows how much of a gain's interval by prompt is shared; at most all of it is, and that
    much is added to the interval over seeds. Raises ValueError for none.
    """
    found = together(seeds)
    ends = [end for one in seeds if (end := _reach(one)) is not None]
    over_seeds = _reach(found.reading)
    if found.interval_of != "seeds" or over_seeds is None:
        return found.reading
    value = found.reading.value
    if len(ends) < len(seeds):
        return Reading(value)
    below, above = (fmean(side) for side in zip(*ends, strict=True))
    return Reading(
        value, value - math.hypot(over_seeds[0], below), value + math.hypot(over_seeds[1], above)
    )


def mean_of(parts: Sequence[Reading]) -> Reading:
    """The mean of measurements on different prompts, whose errors are independent."""
    value = fmean(one.value for one in parts)
    ends = [_reach(one) for one in parts]
    known = [one for one in ends if one is not None]
    if len(known) < len(parts):
        return Reading(value)
    below, above = (math.hypot(*side) / len(parts) for side in zip(*known, strict=True))
    return Reading(value, value - below, value + above)


def minus(ours: Reading, theirs: Reading) -> Reading:
    """A difference, with the errors of both taken as independent."""
    value = ours.value - theirs.value
    reach, back = _reach(ours), _reach(theirs)
    if reach is None or back is None:
        return Reading(value)
    return Reading(
        value, value - math.hypot(reach[0], back[1]), value + math.hypot(reach[1], back[0])
    )


def _reach(one: Reading) -> tuple[float, float] | None:
    """How far the interval reaches below and above the value."""
    if one.low is None or one.high is None:
        return None
    return one.value - one.low, one.high - one.value
