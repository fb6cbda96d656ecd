"""How a metric of every step moved from its first step to its end, in the words of a gauge."""

from collections.abc import Sequence

from backend.domain.verdict.evidence import Point, Trend
from backend.domain.verdict.words import percent, shown

STEADY = "steady"
# An end within this part of the first step is near it.
_NEAR = 0.25
# A step below half of both ends, or above both by half, is far from either.
_FAR_BELOW, _FAR_ABOVE = 0.5, 1.5


def course(trend: Trend, curve: Sequence[Point]) -> str:
    """Say how far a metric has moved, and where it was meanwhile if that was far from both ends.

    Single steps count, for a valley of a few steps is one, too.
    """
    moved, meanwhile = _moved(trend), _meanwhile(trend, curve)
    if moved == STEADY:
        return meanwhile or STEADY
    return "; ".join(filter(None, (moved, meanwhile)))


def _moved(trend: Trend) -> str:
    if trend.before <= 0:
        return STEADY if trend.after == trend.before else f"was {shown(trend.before)} at first"
    if trend.ratio < 1 - _NEAR:
        return f"fell by {percent(1 - trend.ratio)}"
    if trend.ratio > 1 + _NEAR:
        return f"rose by {percent(trend.ratio - 1)}"
    return STEADY


def _meanwhile(trend: Trend, curve: Sequence[Point]) -> str:
    least, most = min(curve, key=_value_of), max(curve, key=_value_of)
    is_far_below = least.value < _FAR_BELOW * min(trend.before, trend.after)
    is_far_above = most.value > _FAR_ABOVE * max(trend.before, trend.after)
    if is_far_below and is_far_above:
        return f"between {shown(least.value)} and {shown(most.value)} meanwhile"
    if is_far_below or is_far_above:
        far, how = (least, "low") if is_far_below else (most, "high")
        return f"as {how} as {shown(far.value)}, at step {far.step:,}"
    return ""


def _value_of(point: Point) -> float:
    return point.value
