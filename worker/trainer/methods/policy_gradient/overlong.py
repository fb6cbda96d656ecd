"""The soft penalty on responses that come near the token limit.

Subtracted from the weighted sum of the reward terms, before it is normalized and clipped.
"""

from collections.abc import Callable

from backend.schemas.policy_gradient import OverlongPenalty, PolicyGradientConfig
from worker.trainer.rewards.sampled_response import SampledResponse


def overlong_penalty(n_tokens: int, *, limit: int, buffer: int, factor: float) -> float:
    """0 up to `limit - buffer` tokens, then falling linearly to -factor at the limit.

    Source: DAPO (arXiv 2503.14476), eq. 13, where factor is 1.
    """
    return -factor * min(max(n_tokens - (limit - buffer), 0), buffer) / buffer


def penalty_of(config: PolicyGradientConfig) -> Callable[[SampledResponse], float] | None:
    """The penalty of a config on one response; None where it has none."""
    if config.overlong != "penalize":
        return None
    penalty = config.overlong_penalty or OverlongPenalty()
    limit, factor = config.rollout.max_new_tokens, penalty.factor
    buffer = penalty.buffer_of(limit)
    return lambda answer: overlong_penalty(
        len(answer.tokens.response), limit=limit, buffer=buffer, factor=factor
    )
