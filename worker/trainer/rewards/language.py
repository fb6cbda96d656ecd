"""The reward term `language`: how much of the response is in the language wanted?

R1's language consistency (DeepSeek-R1, arXiv 2501.12948): words of the language / all words. A word
counts if its script is one of the language and if the language is found in its sentence; short
sentences, of which nobody can tell the language, are taken together.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import get_args

import py3langid
from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import Language, LanguageReward
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score, measured
from worker.trainer.run import Run

FEWEST_WORDS = 8
# Of all short sentences together: of fewer words only the script is looked at.
FEWEST_TOGETHER = 4
# Formulas of bounded length, so that openings without an end cost little.
_NO_WORDS = re.compile(
    r"```.*?```|\$[^$]*\$|\\\(.{0,500}?\\\)|\\\[.{0,500}?\\\]|\\[a-zA-Z]+|</?\w+>", re.DOTALL
)
_SENTENCES = re.compile(r"[.!?;:。！？；：]\s*|\n+")
_LATIN = r"A-Za-z\u00aa-\u024f\u1e00-\u1eff"
_HAN, _KANA, _HANGUL = r"\u3400-\u9fff", r"\u3040-\u30ff", r"\uac00-\ud7af"
_THAI, _ARABIC = r"\u0e00-\u0e7f", r"\u0600-\u06ff\u0750-\u077f"
_CYRILLIC, _GREEK, _HEBREW = r"\u0400-\u052f", r"\u0370-\u03ff", r"\u0590-\u05ff"
_DEVANAGARI = r"\u0900-\u097f"
# Words by spaces, and of the scripts without spaces every character.
_WORDS = re.compile(rf"[{_HAN}{_KANA}{_THAI}]|[^\W\d_{_HAN}{_KANA}{_THAI}]{{2,}}")
_SCRIPTS: Mapping[str, str] = {
    "ar": _ARABIC,
    "fa": _ARABIC,
    "ur": _ARABIC,
    "bg": _CYRILLIC,
    "ru": _CYRILLIC,
    "uk": _CYRILLIC,
    "el": _GREEK,
    "he": _HEBREW,
    "hi": _DEVANAGARI,
    "ja": _HAN + _KANA,
    "ko": _HANGUL,
    "th": _THAI,
    "zh": _HAN,
}


def build(term: LanguageReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its language."""

    def score(answers: Sequence[SampledResponse]) -> list[Grade]:
        fixed = None if term.language == "prompt" else term.language
        return measured(
            language_reward(answer.text, fixed or language_of(answer.prompt)) for answer in answers
        )

    return score


def language_reward(text: str, language: str) -> float:
    """The share of words in the language; 1 without a word. Code and formulas hold none.

    An empty response gets 0: nobody is paid for silence.
    """
    if not text.strip():
        return 0.0
    n_words, n_own = 0, 0
    short: list[str] = []
    for sentence in _SENTENCES.split(_NO_WORDS.sub(" ", text)):
        words = _WORDS.findall(sentence)
        own = [word for word in words if _pattern(language).match(word)]
        n_words += len(words)
        if len(own) < FEWEST_WORDS:
            short += own
        elif language_of(" ".join(own)) == language:
            n_own += len(own)
    if len(short) < FEWEST_TOGETHER or language_of(" ".join(short)) == language:
        n_own += len(short)
    return n_own / n_words if n_words else 1.0


@lru_cache(64)
def _pattern(language: str) -> re.Pattern[str]:
    return re.compile(f"[{_SCRIPTS.get(language, _LATIN)}]")


@lru_cache(4096)
def language_of(text: str) -> str:
    """The code of the language that a text is most likely in."""
    _among()
    return str(py3langid.classify(text)[0])


@cache
def _among() -> None:
    """Look for the languages of the schema alone."""
    py3langid.set_languages([one for one in get_args(Language) if one != "prompt"])
