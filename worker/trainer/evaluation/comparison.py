"""Two models on the same prompts with the same random numbers, response by response.

Called by evaluate, and by evaluations of policies, which are compared with their reference. Source
of the win rate at equal length: `length_controlled`.
"""

import math
from collections.abc import Sequence

from intervals.length_controlled import win_rate_at_equal_length
from worker.trainer.evaluation.breakdown import Breakdown
from worker.trainer.evaluation.measures import prefix_of
from worker.trainer.evaluation.outcome import Outcome
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
    measured: Measured, baseline: Outcome, set_name: str, breakdown: Breakdown
) -> dict[str, float]:
    """Win rate and gains on a set and on its parts, and the baseline's own reward and length.

    `set_name`: empty for the prompts of the run itself.
    """
    ours, prompts, prefix = measured.outcome, measured.prompt_ids, prefix_of(set_name)

    def of_part(places: Sequence[int]) -> dict[str, float]:
        part = [prompts[i] for i in places]
        return gains(ours.at(places), baseline.at(places), part, prefix)

    return {
        **gains(ours, baseline, prompts, prefix),
        **_of_baseline(baseline, prompts, f"baseline/{set_name}/" if set_name else "baseline/"),
        **breakdown.by_places([row.metadata for row in measured.rows], of_part),
    }


def gains(ours: Outcome, theirs: Outcome, prompts: Sequence[str], prefix: str) -> dict[str, float]:
    """Win rate, also at equal length, and the gains in reward and in what passed."""
    shares = [win_share(*pair) for pair in zip(ours.raw, theirs.raw, strict=True)]
    gained = [reward - other for reward, other in zip(ours.reward, theirs.reward, strict=True)]
    most = ours.most if ours.most == theirs.most else None
    return {
        **scored_rate_with_interval(f"{prefix}win_rate", shares, prompts),
        **_at_equal_length(f"{prefix}win_rate_lc", shares, ours, theirs, prompts),
        **gain_with_interval(f"{prefix}gain", gained, prompts, most=most),
        **_pass_gain(f"{prefix}pass_gain", ours, theirs, prompts),
    }


def _of_baseline(theirs: Outcome, prompts: Sequence[str], prefix: str) -> dict[str, float]:
    return {
        **score_with_interval(f"{prefix}reward", theirs.reward, prompts, most=theirs.most),
        **mean_with_interval(f"{prefix}length", theirs.lengths, prompts),
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
    name: str, shares: list[float], ours: Outcome, theirs: Outcome, prompts: Sequence[str]
) -> dict[str, float]:
    longer = [a - b for a, b in zip(ours.lengths, theirs.lengths, strict=True)]
    scored = [i for i, share in enumerate(shares) if math.isfinite(share)]
    if not scored:
        return {}
    found = win_rate_at_equal_length(
        [shares[i] for i in scored],
        [longer[i] for i in scored],
        [prompts[i] for i in scored],
    )
    return {} if found is None else with_interval(name, *found)


def _pass_gain(
    name: str, ours: Outcome, theirs: Outcome, prompts: Sequence[str]
) -> dict[str, float]:
    pairs = list(zip(ours.passed, theirs.passed, strict=True))
    if any(mine is None or other is None for mine, other in pairs):
        return {}
    gained = [float(bool(mine)) - float(bool(other)) for mine, other in pairs]
    return gain_with_interval(name, gained, prompts, most=1.0)
