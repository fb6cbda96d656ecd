"""The reward term `repetition`: how much of the response is new?"""

import re

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import RepetitionReward
from worker.trainer.rewards.sampled_response import Score, measured
from worker.trainer.run import Run

# Scripts without spaces: Thai, kana and Han; each of their characters is a word.
_UNSPACED = re.compile("([\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff])")


def build(term: RepetitionReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with the length of its sequences."""
    return lambda answers: measured(repetition_reward(a.text, n=term.n) for a in answers)


def repetition_reward(text: str, *, n: int) -> float:
    """Distinct sequences of n words / all of them; 1 for 1 to n - 1 words, 0 for none."""
    if not text.isascii():
        text = _UNSPACED.sub(r" \1 ", text)
    words = text.lower().split()
    n_sequences = len(words) - n + 1
    if n_sequences < 1:
        return float(bool(words))
    return len(set(zip(*(words[place:] for place in range(n)), strict=False))) / n_sequences
