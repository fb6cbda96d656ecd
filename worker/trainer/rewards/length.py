"""The reward term `length`: a band of words."""

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import LengthReward
from worker.trainer.rewards.sampled_response import Score, measured
from worker.trainer.run import Run


def build(term: LengthReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its band."""
    low, high = term.low, term.high
    return lambda answers: measured(length_reward(a.text, low=low, high=high) for a in answers)


def length_reward(text: str, *, low: int, high: int) -> float:
    """1 for low..high words, falling linearly to 0 at no words and at twice `high`."""
    n_words = len(text.split())
    if n_words < low:
        return n_words / low
    return max(0.0, 1.0 - max(0, n_words - high) / high)
