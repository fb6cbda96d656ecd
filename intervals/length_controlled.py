"""A win rate at equal length: how often the model would win if it wrote no longer or shorter.

Used by evaluate where it compares with a baseline, and where people compare two runs. Source:
Dubois et al. 2024 (arXiv 2404.04475), without the term of the difficulty of each instruction, which
needs many models.
"""

import math
from collections.abc import Sequence
from statistics import fmean, pstdev

from intervals.clustered import Clusters, interval_of_rate
from intervals.interval import Interval
from intervals.logistic import Profile

# Deviations of the difference in length. With a mean beyond, equal lengths are too far from all
# that was seen to say anything of them.
_FARTHEST = 3


def win_rate_at_equal_length(
    share_N: Sequence[float], longer_N: Sequence[float], prompt_N: Sequence[str]
) -> tuple[float, Interval | None] | None:
    """The win rate where the difference in length is taken off, and its 95 % interval by prompt.

    share: 1 won, 0.5 tied, 0 lost. longer: tokens by which the model's response is longer.
    P(win) = sigmoid(a + b tanh(longer / deviation of longer)); the win rate is sigmoid(a). Where
    all lengths are equal, it is the plain one; None where one model is always about as much longer
    (the mean is more than 3 deviations from 0), which does not tell a from b. No interval with one
    prompt.
    """
    deviation = pstdev(longer_N)
    if deviation == 0:
        return None if longer_N[0] else _plain(share_N, prompt_N)
    if abs(fmean(longer_N)) > _FARTHEST * deviation:
        return None
    profile = Profile.of(share_N, [math.tanh(longer / deviation) for longer in longer_N], prompt_N)
    return profile.rate, profile.interval


def _plain(share_N: Sequence[float], prompt_N: Sequence[str]) -> tuple[float, Interval | None]:
    clusters = Clusters.of(share_N, prompt_N)
    return clusters.mean, interval_of_rate(clusters)
