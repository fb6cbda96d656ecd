"""The reward term `finished`: did the response end by itself?"""

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import FinishedReward
from backend.schemas.vocabulary import FinishReason
from worker.trainer.rewards.sampled_response import SampledResponse, Score, measured
from worker.trainer.run import Run


def build(term: FinishedReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its settings, of which it has none."""
    return lambda answers: measured(map(finished_reward, answers))


def finished_reward(answer: SampledResponse) -> float:
    """1 where the response ended by itself, 0 where the token limit cut it."""
    return 1.0 if answer.finish_reason is FinishReason.STOP else 0.0
