"""Two models on the same prompts with the same random numbers, response by response.

Called by evaluate. Source of the win rate at equal length: `length_controlled`.
"""

import math

from intervals.length_controlled import win_rate_at_equal_length
from worker.trainer.evaluation.rows import Measured
from worker.trainer.evaluation.with_interval import (
    gain_with_interval,
    mean_with_interval,
    score_with_interval,
    scored_rate_with_interval,
    with_interval,
)

# Rewards that differ by less are a tie: rounding alone moves a reward model's score that much.
TIE_WITHIN = 1e-6


def comparison(
    measured: Measured, baseline: Measured, prefix: str, of_baseline: str
) -> dict[str, float]:
    """Win rate, also at equal length, and the gains in reward and in what passed.

    Also the baseline's own reward and length, under names that begin with `of_baseline`.
    """
    prompts = measured.prompt_ids
    shares = [
        win_share(*pair) for pair in zip(measured.scores.raw, baseline.scores.raw, strict=True)
    ]
    gains = [
        reward - other
        for reward, other in zip(measured.scores.reward, baseline.scores.reward, strict=True)
    ]
    most = measured.scores.most if measured.scores.most == baseline.scores.most else None
    return {
        **scored_rate_with_interval(f"{prefix}win_rate", shares, prompts),
        **_at_equal_length(f"{prefix}win_rate_lc", shares, measured, baseline),
        **gain_with_interval(f"{prefix}gain", gains, prompts, most=most),
        **_pass_gain(f"{prefix}pass_gain", measured, baseline),
        **score_with_interval(
            f"{of_baseline}reward", baseline.scores.reward, prompts, most=baseline.scores.most
        ),
        **mean_with_interval(f"{of_baseline}length", baseline.lengths, prompts),
    }


def win_share(reward: float, other: float) -> float:
    """1 for a higher reward, 0 for a lower one, 0.5 for a tie up to rounding.

    NaN if one of them is not finite.
    """
    if not (math.isfinite(reward) and math.isfinite(other)):
        return math.nan
    if abs(reward - other) <= TIE_WITHIN * max(1.0, abs(other)):
        return 0.5
    return 1.0 if reward > other else 0.0


def _at_equal_length(
    name: str, shares: list[float], measured: Measured, baseline: Measured
) -> dict[str, float]:
    longer = [a - b for a, b in zip(measured.lengths, baseline.lengths, strict=True)]
    scored = [i for i, share in enumerate(shares) if math.isfinite(share)]
    if not scored:
        return {}
    found = win_rate_at_equal_length(
        [shares[i] for i in scored],
        [longer[i] for i in scored],
        [measured.prompt_ids[i] for i in scored],
    )
    return {} if found is None else with_interval(name, *found)


def _pass_gain(name: str, measured: Measured, baseline: Measured) -> dict[str, float]:
    pairs = list(zip(measured.passed, baseline.passed, strict=True))
    if any(ours is None or theirs is None for ours, theirs in pairs):
        return {}
    gains = [float(bool(ours)) - float(bool(theirs)) for ours, theirs in pairs]
    return gain_with_interval(name, gains, measured.prompt_ids, most=1.0)
