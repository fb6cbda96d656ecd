"""Gauges of single measurements, with or without an interval, for methods without rules of many.

A gauge without a value says why: `missing` is what the caller knows of the metric, and goes before
what is said of any.
"""

from collections.abc import Callable

from backend.domain.verdict.evidence import Estimate, Evidence, Point, end_of
from backend.domain.verdict.words import shown
from backend.schemas.metrics.verdicts import Gauge, Level, Span

# The scale of what is a share.
SHARES = Span(low=0, high=1)

NOT_FINITE = "None of its values is finite."
NONE_SCORED = "No response could be scored."

Judged = tuple[Level, str]


def not_measured(evidence: Evidence) -> str:
    """Say that a run has measured nothing, or not this, or has not yet."""
    what = "It was not" if evidence.has_begun else "Nothing was"
    return f"{what} measured{'' if evidence.is_over else ' yet'}."


def not_scored(evidence: Evidence, prefix: str = "eval/") -> str:
    """Say why a set has no reward: it was not measured, or no response could be scored."""
    if f"{prefix}coverage" in evidence.curves:
        return NONE_SCORED
    return not_measured(evidence)


def why_missing(evidence: Evidence, metric: str, missing: str = "") -> str:
    """Say why a metric has no value; `missing`: why it may not have been measured."""
    if metric in evidence.curves:
        return NOT_FINITE
    return missing or not_measured(evidence)


def was(first: Point | Estimate) -> str:
    """Say what a metric was at first, and when."""
    return f"was {shown(first.value)} at step {first.step:,}"


def mean_of_end(evidence: Evidence, metric: str) -> str:
    """Say which steps a gauge is the mean of: of what has a course, the last fifth."""
    curve = evidence.curve(metric)
    end = end_of(curve)
    before = curve[: len(curve) - len(end)]
    # A point of a long run is the mean of all steps since the point before it.
    first, last = before[-1].step + 1 if before else end[0].step, end[-1].step
    return f"mean of steps {first:,} to {last:,}" if len(end) > 1 else f"of step {last:,}"


def gauge(
    evidence: Evidence,
    metric: str,
    *,
    healthy: Span | None = None,
    scale: Span | None = None,
    judged: Callable[[Estimate], Judged] | None = None,
    missing: str = "",
) -> Gauge:
    """The newest value of a metric, beside its first; `judged` says how good it is, and why.

    The registry has its title and unit.
    """
    found = evidence.estimates(metric)
    if not found:
        return Gauge(metric=metric, value=None, missing=why_missing(evidence, metric, missing))
    first, last = found[0], found[-1]
    level, note = ("none", "") if judged is None else judged(last)
    newer = evidence.newer_evaluation(metric) if metric.startswith("eval/") else None
    if newer is not None:
        level, note = "none", f"of step {last.step:,}: the evaluation at step {newer:,} has none"
    return Gauge(
        metric=metric,
        value=last.value,
        interval=last.interval,
        beside=was(first) if len(found) > 1 else "",
        healthy=healthy,
        scale=scale,
        level=level,
        note=note,
    )
