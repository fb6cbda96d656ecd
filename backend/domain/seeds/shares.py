"""Which metrics are shares, which lie between 0 and 1; an interval over seeds does not know that.

Called wherever seeds are put together: tables of results, groups of seeds, bands. Pure.
"""

import re

from backend.schemas.metrics.verdicts import Span

_SHARE = re.compile(
    r"(?:pass|maj|bon)@[1-9][0-9]*|pass_rate|coverage|distinct|distinct_2|win_rate|win_rate_lc|"
    r"accuracy|accuracy_(?:longer|shorter|right|wrong)|longer_won|(?:\w+_)?fraction"
)


def is_share(metric: str) -> bool:
    """Whether a metric lies between 0 and 1, whole or as a part: `eval/ood/pass@1/people.3`.

    What is attached (gold/NAME, outside/NAME) may have any scale, but for the win rate. A reward
    term may be called like a share without being one.
    """
    if metric.startswith(("gold/", "outside/")):
        return metric == "gold/win_rate"
    if metric.startswith("reward/"):
        return metric.endswith("_coverage")
    parts = metric.removeprefix("eval/").split("/")
    if len(parts) > 1 and "." in parts[-1]:
        parts.pop()
    return parts[0] == "clip_fraction" or _SHARE.fullmatch(parts[-1]) is not None


def possible(interval: Span | None, metric: str | None) -> Span | None:
    """The part of an interval in which the metric can lie."""
    if interval is None or metric is None or not is_share(metric):
        return interval
    return Span(low=max(0.0, interval.low), high=min(1.0, interval.high))
