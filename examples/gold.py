"""The gold score of the demo: how good an answer is, by a rule that anybody can recompute.

The simulated annotators judge by it (with noise) and the report measures by it; nothing that is
trained ever sees it. It looks at the words alone: no model, no network, no state.

    gold = 0.4 complete + 0.2 length + 0.2 known + 0.2 shared        (0 if the answer echoes)

    complete  1 if the last sentence is closed (. ! or ?, a quote or bracket may follow), else 0
    length    1 for 3 to 14 words; n/3 below; falls linearly above, to 0 at 28 words
    known     share of the answer's words that are in the word list
    shared    1 if the answer takes up a content word of the question, else 0
              (1 too where the question has none)
    echoes    the answer begins with the whole question (of 3 words or more), or a run of the
              question's words makes up three quarters of the answer

The weights and rules stand here once and are not tuned; the report prints this file's sha256.
"""

import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

WEIGHTS = {"complete": 0.4, "length": 0.2, "known": 0.2, "shared": 0.2}
SHORTEST_WORDS, LONGEST_WORDS = 3, 14
ECHO_SHARE = 0.75

# \u2019 is the typographic apostrophe and closing quote, \u201d the double one.
_WORD = re.compile(r"[A-Za-z]+(?:['\u2019][A-Za-z]+)?|\d+")
_CLOSED = re.compile(r"[.!?][\"'\u201d\u2019)\]]*$")
_SUFFIX = re.compile(r"(?:'s|ing|ed|es|s|ly)$")
# Words that carry grammar and no topic.
_STOP_WORDS = frozenset(
    """a about after again all also am an and any are aren't as at be because been before being both
    but by can can't could did didn't do does doesn't doing don don't down each even ever every few
    for from get give got had has have having he her here him his how i i'd i'll i'm i've if in into
    is isn't it it's its just know let like made make many may me might more most much must my name
    named never no not now of off on one only or other our out over own same say she should so some
    such tell than that that's the their them then there these they thing this those through to too
    two under up us use used very was way we were what what's when where where's which who who's
    whom whose why will with won't would write yes yet you you're your""".split()  # noqa: SIM905 - a hundred words read better as text
)


@dataclass(frozen=True)
class Gold:
    """The parts of one answer's score, each from 0 to 1; `total` is 0 for an echo."""

    total: float
    complete: float
    length: float
    known: float
    shared: float
    is_echo: bool


def score(prompt: str, answer: str, known_words: Collection[str]) -> Gold:
    """Score one answer to one question; an answer without words scores 0."""
    words = words_of(answer)
    if not words:
        return Gold(0.0, 0.0, 0.0, 0.0, 0.0, is_echo=False)
    parts = {
        "complete": float(_CLOSED.search(answer.strip()) is not None),
        "length": _length(len(words)),
        "known": sum(is_known(word, known_words) for word in words) / len(words),
        "shared": float(shares_content(prompt, answer)),
    }
    is_echo = echoes(prompt, answer)
    total = 0.0 if is_echo else sum(WEIGHTS[name] * value for name, value in parts.items())
    return Gold(total, **parts, is_echo=is_echo)


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in lower case, apostrophes straightened."""
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]


def content_words(text: str) -> set[str]:
    """Stems of the words that carry the topic."""
    return {_stem(word) for word in words_of(text) if word not in _STOP_WORDS and len(word) > 1}


def shares_content(prompt: str, answer: str) -> bool:
    """Whether the answer takes up a content word of the question; true where it has none."""
    wanted = content_words(prompt)
    return not wanted or bool(wanted & content_words(answer))


def echoes(prompt: str, answer: str) -> bool:
    """Whether the answer only says the question again."""
    asked, said = words_of(prompt), words_of(answer)
    if not asked or not said:
        return False
    if len(asked) >= 3 and said[: len(asked)] == asked:
        return True
    run = SequenceMatcher(None, asked, said, autojunk=False).find_longest_match().size
    return run / len(said) >= ECHO_SHARE


def is_known(word: str, known_words: Collection[str]) -> bool:
    """Whether a word of `words_of`, its stem or the part before its apostrophe is in the list."""
    return (
        word.isdigit()
        or word in known_words
        or word.partition("'")[0] in known_words
        or _stem(word) in known_words
    )


def known_words(tokenizer_file: Path) -> frozenset[str]:
    """The word list: every word that the base model's vocabulary holds in one piece after a space.

    About thirty thousand frequent words and names; what is spelled out of several pieces is rare
    or made up.
    """
    vocabulary = json.loads(tokenizer_file.read_text("utf-8"))["model"]["vocab"]
    pieces = (piece[1:] for piece in vocabulary if piece.startswith("Ġ"))
    # Single letters and pairs are mostly fragments; the grammar words below bring the real ones.
    whole = {piece.lower() for piece in pieces if piece.isascii() and piece.isalpha()}
    return frozenset(word for word in whole if len(word) > 2) | _STOP_WORDS


def sha256() -> str:
    """The hash of this file: which definition a report was made with."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def _length(n_words: int) -> float:
    if n_words < SHORTEST_WORDS:
        return n_words / SHORTEST_WORDS
    return max(0.0, 1.0 - max(0, n_words - LONGEST_WORDS) / LONGEST_WORDS)


def _stem(word: str) -> str:
    shorter = _SUFFIX.sub("", word)
    return shorter if len(shorter) >= 3 else word
