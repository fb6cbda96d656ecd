"""The reward term `sentiment`: VADER, a lexicon with rules for English (Hutto & Gilbert 2014)."""

import math

from transformers import PreTrainedTokenizerBase
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from backend.schemas.rewards import SentimentReward
from worker.trainer.rewards.sampled_response import Grade, Score
from worker.trainer.run import Run

# Its rules look at every pair of words in places, and it spells out emojis: twenty thousand of them
# would take minutes.
MOST_CHARACTERS = 20_000
MOST_EMOJIS = 200


def build(term: SentimentReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its lexicon."""
    analyzer = SentimentIntensityAnalyzer()
    return lambda answers: [sentiment_grade(answer.text, analyzer) for answer in answers]


def sentiment_grade(text: str, analyzer: SentimentIntensityAnalyzer) -> Grade:
    """VADER's compound score in -1..1; 0 for a response beyond the limit."""
    if len(text) > MOST_CHARACTERS:
        why = f"the response has {len(text)} characters; the limit is {MOST_CHARACTERS}"
        return Grade(0.0, why=why)
    n_emojis = 0 if text.isascii() else sum(map(analyzer.emojis.__contains__, text))
    if n_emojis > MOST_EMOJIS:
        return Grade(0.0, why=f"the response has {n_emojis} emojis; the limit is {MOST_EMOJIS}")
    score = float(analyzer.polarity_scores(text)["compound"])
    return Grade(score if math.isfinite(score) else 0.0)
