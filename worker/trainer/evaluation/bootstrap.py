"""95 % intervals by resampling prompts, the unit that was sampled.

Used wherever a number comes with an interval; the random numbers depend on the seed alone. Axes:
N values, P prompts, R resamples.
"""

import math
from collections.abc import Hashable, Sequence
from statistics import fmean

import torch

from worker.trainer import random_streams

N_RESAMPLES = 2000


def interval95(
    value_N: Sequence[float], weight_N: Sequence[float], prompt_N: Sequence[Hashable], *, seed: int
) -> tuple[float, float]:
    """Interval of sum(value) / sum(weight) when prompts are drawn anew with replacement.

    The percentile method with 2,000 resamples. One prompt gives an interval without width.
    Raises ValueError without any value.
    """
    if not value_N:
        raise ValueError("found no values; expected at least one to compute an interval")
    place = {prompt: i for i, prompt in enumerate(dict.fromkeys(prompt_N))}
    prompt_index_N = torch.tensor([place[prompt] for prompt in prompt_N])
    sums_P = torch.zeros(len(place), dtype=torch.float64)
    weights_P = torch.zeros_like(sums_P)
    sums_P.index_add_(0, prompt_index_N, torch.tensor(value_N, dtype=torch.float64))
    weights_P.index_add_(0, prompt_index_N, torch.tensor(weight_N, dtype=torch.float64))
    drawn_R_P = torch.randint(
        len(place),
        (N_RESAMPLES, len(place)),
        generator=random_streams.stream(seed, "bootstrap"),
    )
    mean_R = sums_P[drawn_R_P].sum(1) / weights_P[drawn_R_P].sum(1)
    low, high = torch.quantile(mean_R, torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return low, high


def mean_with_interval(
    name: str, values: Sequence[float], prompt_ids: Sequence[str], seed: int
) -> dict[str, float]:
    """Metrics NAME, NAME_low and NAME_high: the mean and its 95 % interval by prompt."""
    low, high = interval95(values, [1.0] * len(values), prompt_ids, seed=seed)
    return {name: fmean(values), f"{name}_low": low, f"{name}_high": high}


def scored_mean_with_interval(
    name: str, values: Sequence[float], prompt_ids: Sequence[str], seed: int
) -> dict[str, float]:
    """`mean_with_interval` of the scores that are finite; nothing where none is.

    A score that is not finite is that of a response that could not be scored.
    """
    scored = [i for i, value in enumerate(values) if math.isfinite(value)]
    if not scored:
        return {}
    kept = [values[i] for i in scored]
    return mean_with_interval(name, kept, [prompt_ids[i] for i in scored], seed)
