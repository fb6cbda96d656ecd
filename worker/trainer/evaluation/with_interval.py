"""Metrics NAME, NAME_low and NAME_high: a mean and its 95 % interval by prompt.

Used wherever a number of an evaluation comes with an interval. A value or prompt of N; one prompt
has no interval, for it shows no spread.
"""

import math
from collections.abc import Callable, Hashable, Sequence

from intervals.clustered import Clusters, Interval, interval_of_mean, interval_of_rate


def mean_with_interval(
    name: str, value_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """The mean of values of any size, a rate if they are zeros and ones. Raises ValueError."""
    interval = interval_of_rate if set(value_N) == {0.0, 1.0} else interval_of_mean
    clusters = Clusters.of(value_N, prompt_N)
    return with_interval(name, clusters.mean, interval(clusters))


def scored_mean_with_interval(
    name: str, value_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """`mean_with_interval` of the scores that are finite; nothing where none is.

    A score that is not finite is that of a response that could not be scored.
    """
    scored, prompts = _scored(value_N, prompt_N)
    return mean_with_interval(name, scored, prompts) if scored else {}


def scored_rate_with_interval(
    name: str, value_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """`rate_with_interval` of the values that are finite; nothing where none is."""
    return rate_with_interval(name, *_scored(value_N, prompt_N))


def judged_with_interval(
    name: str,
    value_N: Sequence[float],
    prompt_N: Sequence[Hashable],
    *,
    is_judged: bool,
    allows_parts: bool,
) -> dict[str, float]:
    """The mean of the scores that are finite: a rate if they say how far responses are correct.

    They do if correctness is judged (`is_judged`) and each is 0 or 1, or lies between where
    `allows_parts`. Nothing where no score is finite.
    """
    finite = [value for value in value_N if math.isfinite(value)]
    are_rates = all(0 <= one <= 1 and (allows_parts or one in (0, 1)) for one in finite)
    interval = scored_rate_with_interval if is_judged and are_rates else scored_mean_with_interval
    return interval(name, value_N, prompt_N)


def _scored(
    value_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> tuple[list[float], list[Hashable]]:
    scored = [i for i, value in enumerate(value_N) if math.isfinite(value)]
    return [value_N[i] for i in scored], [prompt_N[i] for i in scored]


def rate_with_interval(
    name: str,
    value_N: Sequence[float],
    prompt_N: Sequence[Hashable],
    weight_N: Sequence[float] | None = None,
) -> dict[str, float]:
    """The mean of values in [0, 1], or of counts over their weights; nothing without any."""
    return _if_any(name, Clusters.of(value_N, prompt_N, weight_N), interval_of_rate)


def ratio_with_interval(
    name: str, value_N: Sequence[float], weight_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """Sum of values over sum of weights; nothing where the weights are 0.

    A prompt without weight says nothing of the ratio and is not counted.
    """
    weighed = [i for i, weight in enumerate(weight_N) if weight > 0]
    clusters = Clusters.of(
        [value_N[i] for i in weighed],
        [prompt_N[i] for i in weighed],
        [weight_N[i] for i in weighed],
    )
    return _if_any(name, clusters, interval_of_mean)


def hits_per_weight(
    name: str, hit_N: Sequence[float], weight_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """Sum of hits in [0, 1] over sum of weights, with the interval of a rate of hits.

    Seldom hit, a ratio has an interval that is too short on its upper side; the rate of hits in as
    many weights as there are values has not. Nothing where the weights are 0.
    """
    mean = math.fsum(weight_N) / max(1, len(weight_N))
    if mean == 0:
        return {}
    rates = rate_with_interval(name, hit_N, prompt_N, [weight / mean for weight in weight_N])
    return {key: value / mean for key, value in rates.items()}


def _if_any(
    name: str, clusters: Clusters, interval: Callable[[Clusters], Interval | None]
) -> dict[str, float]:
    if math.fsum(clusters.weights) == 0:
        return {}
    return with_interval(name, clusters.mean, interval(clusters))


def with_interval(name: str, value: float, interval: Interval | None) -> dict[str, float]:
    """A number and, where it is known, how far it may be off."""
    if interval is None:
        return {name: value}
    low, high = interval
    return {name: value, f"{name}_low": low, f"{name}_high": high}
