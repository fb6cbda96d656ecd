"""Metrics NAME, NAME_low and NAME_high: a mean and its 95 % interval by prompt.

Used wherever a number of an evaluation comes with an interval. A value or prompt of N; one prompt
has no interval, for it shows no spread.
"""

import math
from collections.abc import Callable, Hashable, Sequence

from intervals.clustered import (
    Clusters,
    interval_of_gain,
    interval_of_mean,
    interval_of_positive_mean,
    interval_of_rate,
)
from intervals.interval import Interval


def mean_with_interval(
    name: str, value_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """The mean of values of any size. Raises ValueError without any."""
    clusters = Clusters.of(value_N, prompt_N)
    return with_interval(name, clusters.mean, interval_of_mean(clusters))


def score_with_interval(
    name: str, value_N: Sequence[float], prompt_N: Sequence[Hashable], *, most: float | None
) -> dict[str, float]:
    """The mean of the scores that are finite; nothing where none is.

    A score that is not finite is that of a response that could not be scored. `most`: the largest
    of scores that begin at 0; None = they have no such bounds, and then even scores that are all 1
    are no rate. Scores between the bounds that differ have the interval of a mean, which is
    narrower.
    """
    scored, prompts = _scored(value_N, prompt_N)
    if not scored:
        return {}
    found = {score / most for score in scored} if most else set()
    if not most or not (found <= {0.0, 1.0} or len(found) == 1):
        return mean_with_interval(name, scored, prompts)
    rates = rate_with_interval(name, [score / most for score in scored], prompts)
    return {key: rate * most for key, rate in rates.items()}


def gain_with_interval(
    name: str, gain_N: Sequence[float], prompt_N: Sequence[Hashable], *, most: float | None
) -> dict[str, float]:
    """The mean of the differences of two scores, where both are finite; nothing where none is.

    `most`: as in `score_with_interval`. Where each gain is all or nothing it is the rate gained
    less the rate lost.
    """
    gains, prompts = _scored(gain_N, prompt_N)
    if not gains:
        return {}
    if not most or not {gain / most for gain in gains} <= {-1.0, 0.0, 1.0}:
        return mean_with_interval(name, gains, prompts)
    gained = Clusters.of([float(gain > 0) for gain in gains], prompts)
    lost = Clusters.of([float(gain < 0) for gain in gains], prompts)
    found = with_interval(name, gained.mean - lost.mean, interval_of_gain(gained, lost))
    return {key: gain * most for key, gain in found.items()}


def scored_rate_with_interval(
    name: str, value_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """`rate_with_interval` of the values that are finite; nothing where none is."""
    return rate_with_interval(name, *_scored(value_N, prompt_N))


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
    """Sum of values over sum of weights; nothing where the weights are 0."""
    return _if_any(name, _weighed(value_N, weight_N, prompt_N), interval_of_mean)


def length_with_interval(
    name: str, length_N: Sequence[float], is_counted_N: Sequence[bool], prompt_N: Sequence[Hashable]
) -> dict[str, float]:
    """The mean length of some responses, maybe few and of few prompts; nothing without any."""
    counted = list(map(float, is_counted_N))
    of_counted = [length * one for length, one in zip(length_N, counted, strict=True)]
    return _if_any(name, _weighed(of_counted, counted, prompt_N), interval_of_positive_mean)


def _weighed(
    value_N: Sequence[float], weight_N: Sequence[float], prompt_N: Sequence[Hashable]
) -> Clusters:
    """Without the prompts that have no weight: they say nothing of a ratio."""
    weighed = [i for i, weight in enumerate(weight_N) if weight > 0]
    return Clusters.of(
        [value_N[i] for i in weighed],
        [prompt_N[i] for i in weighed],
        [weight_N[i] for i in weighed],
    )


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
