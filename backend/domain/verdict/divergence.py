"""Signs that the training of a model from records exploded: it may recover and look like no change.

Called by `backend.domain.verdict.learners`.
"""

import math
from collections.abc import Sequence

from backend.domain.verdict.evidence import (
    Estimate,
    Evidence,
    Point,
    change,
    end_of,
    noise_of,
    z_of_best,
)
from backend.domain.verdict.words import apart, shown
from backend.schemas.metrics.verdicts import Happening
from intervals.interval import Z95

# A loss that is higher by this part has clearly risen.
_HIGHER = 0.25


def peak(losses: Sequence[Estimate]) -> Estimate | None:
    """Find the highest held-out loss if it is clearly above the first and the last."""
    if not losses:
        return None
    highest, first, last = max(losses, key=lambda one: one.value), losses[0], losses[-1]
    is_clear = all(_is_above(highest, end, z_of_best(len(losses) - 1)) for end in (first, last))
    return highest if is_clear else None


def _is_above(highest: Estimate, end: Estimate, z: float) -> bool:
    found = change(end, highest)
    is_beyond = found.error is None or found.rose(z)
    return is_beyond and found.size > _HIGHER * abs(end.value)


def peak_happened(losses: Sequence[Estimate]) -> list[Happening]:
    """Tell of the peak of the held-out loss, if it has one."""
    found = peak(losses)
    if found is None:
        return []
    sentence = f"Highest held-out loss: {shown(found.value)}, above its first and its last."
    return [Happening(step=found.step, sentence=sentence, level="warn")]


def training_rose(evidence: Evidence) -> str:
    """Say that the training loss ended clearly above its first step; empty if it did not.

    The noise is that of the last fifth of the steps, because an explosion before it is none; with
    too few steps in it, that of all.
    """
    trend = evidence.trend_from_start("loss")
    if trend is None or trend.size <= _HIGHER * abs(trend.before):
        return ""
    curve = evidence.curve("loss")
    end = end_of(curve)
    noise = noise_of([value for _, value in end])
    if noise is None:
        is_clear = trend.rose()
    else:
        is_clear = trend.size > Z95 * noise * math.sqrt(_steps_of_one(evidence, end) + 1 / len(end))
    before, after = apart(trend.before, trend.after)
    return f"the training loss rose from {before} to {after}" if is_clear else ""


def _steps_of_one(evidence: Evidence, end: Sequence[Point]) -> float:
    """How many steps a point of the end is the mean of: so much noisier is the first step."""
    first = evidence.beginnings.get("loss", ())
    if len(first) < 2 or len(end) < 2:
        return 1.0
    apart_there = (end[-1].step - end[0].step) / (len(end) - 1)
    return max(1.0, apart_there / (first[1].step - first[0].step))
