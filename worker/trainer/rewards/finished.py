"""The reward term `finished`: did the response end by itself?"""

from backend.schemas.vocabulary import FinishReason
from worker.trainer.rewards.sampled_response import SampledResponse


def finished_reward(answer: SampledResponse) -> float:
    """1 where the response ended by itself, 0 where the token limit cut it."""
    return 1.0 if answer.finish_reason is FinishReason.STOP else 0.0
