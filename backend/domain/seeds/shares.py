"""Which metrics are shares, which lie between 0 and 1; an interval over seeds does not know that.

Called wherever seeds are put together: tables of results, groups of seeds, bands. Pure.
"""

from backend.schemas.metrics.metric import SHARE
from backend.schemas.metrics.registry import measure_of
from backend.schemas.metrics.verdicts import Span


def is_share(metric: str) -> bool:
    """Whether a metric lies between 0 and 1, whole or as a part: `eval/ood/pass@1/level.3`.

    That is what its unit in the registry of metrics says. What is attached (gold/NAME,
    outside/NAME) may have any scale, but for the win rate.
    """
    if metric.startswith(("gold/", "outside/")):
        return metric == "gold/win_rate"
    known = measure_of(metric)
    return known is not None and known.unit == SHARE


def possible(interval: Span | None, metric: str | None) -> Span | None:
    """The part of an interval in which the metric can lie."""
    if interval is None or metric is None or not is_share(metric):
        return interval
    return Span(low=max(0.0, interval.low), high=min(1.0, interval.high))
