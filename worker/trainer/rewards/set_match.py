"""The reward term `set_match`: how far are the items of the response those of the reference?"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import SetMatchReward
from worker.trainer.rewards.answers.equal import COMMA_BETWEEN
from worker.trainer.rewards.answers.extract import Answer, answer_in
from worker.trainer.rewards.sampled_response import RIGHT, Grade, SampledResponse, Score
from worker.trainer.run import Run

MOST_ITEMS = 300
MOST_CHARACTERS = 20_000
# Lines are items where there are several; else commas and the like separate them.
_BULLET = re.compile(r"\s*(?:[-*\u2022]|\(?\d{1,3}[.)])\s+")
_SEPARATOR = re.compile(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+")
# The same, but for the commas of thousands.
_BESIDE_THOUSANDS = re.compile(r"\s*(?:;|,(?!(?<=\d,)\d{3}(?!\d)))\s*(?:and\s+)?|\s+and\s+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMAND = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it)|mbox)\s*\{([^{}]*)\}|\\(?:left|right)(?![a-zA-Z])"
)
_BRACKETS = {"(": ")", "{": "}"}


def build(term: SetMatchReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its settings."""
    return SetScorer(term)


class SetScorer:
    """Compares lists; an item that is listed twice counts twice."""

    def __init__(self, term: SetMatchReward) -> None:
        self._term = term

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """0 to 1 by the score of the term, passed for 1; NaN without a reference."""
        return [self._grade(answer) for answer in answers]

    def _grade(self, answer: SampledResponse) -> Grade:
        several = _items_of_reference(answer.reference) if answer.reference is not None else ()
        if not any(several):
            return Grade(math.nan, passed=False, why="the prompt has no ground truth")
        said = self._said(answer.text)
        if said.text is None:
            return Grade(0.0, passed=False, why=said.why)
        pairs = product(readings(said.text), several)
        return max((self._compared(found, wanted) for found, wanted in pairs), key=_score)

    def _compared(self, found: Sequence[str], wanted: Sequence[str]) -> Grade:
        if len(found) > MOST_ITEMS:
            why = f"the response lists {len(found)} items; the limit is {MOST_ITEMS}"
            return Grade(0.0, passed=False, why=why)
        n_common = in_order(found, wanted) if self._term.is_ordered else in_any(found, wanted)
        score = _SCORES[self._term.score](n_common, len(found), len(wanted))
        if score == 1:
            return Grade(1.0, passed=True, answer=RIGHT)
        why = _shortfall(n_common, len(found), len(wanted), is_ordered=self._term.is_ordered)
        listed = list(found) if self._term.is_ordered else sorted(found)
        return Grade(score, passed=False, why=why, answer=json.dumps(listed))

    def _said(self, text: str) -> Answer:
        if self._term.answer != "whole":
            where, tag = self._term.answer, self._term.tag
            return answer_in(text, where, tag, longest=MOST_CHARACTERS, is_list=True)
        if len(text) > MOST_CHARACTERS:
            why = f"the response has {len(text)} characters; the limit is {MOST_CHARACTERS}"
            return Answer(None, why)
        return Answer(text)


def _shortfall(n_common: int, n_found: int, n_wanted: int, *, is_ordered: bool) -> str:
    """Say how many items of the reference were found, and of how many that the response lists."""
    items = "item" if n_wanted == 1 else "items"
    order = " in the right order" if is_ordered else ""
    return f"{n_common} of {n_wanted} {items}{order}; the response lists {n_found}"


def _score(grade: Grade) -> float:
    return grade.score


def items(text: str) -> list[str]:
    """The items of a list: of JSON, one a line, or between commas; without case and bullets.

    Brackets around all of it are none of it, and 1,000 is one item.
    """
    text = _bare(text.strip())
    if text.startswith("["):
        try:
            several = json.loads(text)
        except (ValueError, RecursionError):
            several = None
        if isinstance(several, list):
            return [_plain(str(one)) for one in several]
        text = text.strip("[]")
    lines = [line for line in text.split("\n") if line.strip()]
    parts = lines if len(lines) > 1 else _separator(text).split(text)
    return [item for item in map(_plain, parts) if item]


def _bare(text: str) -> str:
    """Remove LaTeX and the brackets around all of it."""
    if "\\" in text or text.startswith("$"):
        text = _COMMAND.sub(r"\1", text.strip("$").strip()).replace("\\{", "{").replace("\\}", "}")
    closed = _BRACKETS.get(text[:1])
    is_around = closed is not None and text.endswith(closed)
    if is_around and text.count(text[0]) == text.count(text[-1]) == 1:
        return text[1:-1].strip()
    return text


def _separator(text: str) -> re.Pattern[str]:
    """Where commas have no spaces, one that cannot be of thousands says that none is: 1,2,345."""
    is_close = ", " not in text and COMMA_BETWEEN.search(text) is not None
    return _SEPARATOR if is_close else _BESIDE_THOUSANDS


def readings(text: str) -> list[list[str]]:
    """The items of a list in each way to read it: 100,200,300 may be one number or three."""
    found = items(text)
    bare = _bare(text.strip()).strip("[]")
    if len(found) == 1 and _THOUSANDS.fullmatch(bare):
        return [found, bare.split(",")]
    return [found]


@lru_cache(4096)
def _items_of_reference(reference: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one) for one in readings(reference))


def _plain(item: str) -> str:
    text = " ".join(_BULLET.sub("", item, count=1).strip(" \t\r.,;\"'`*").casefold().split())
    return text.replace(",", "") if "," in text and _THOUSANDS.fullmatch(text) else text


def in_any(found: Sequence[str], wanted: Sequence[str]) -> int:
    """How many items two lists have in common, in any order."""
    return (Counter(found) & Counter(wanted)).total()


def in_order(found: Sequence[str], wanted: Sequence[str]) -> int:
    """The length of their longest common subsequence."""
    before = [0] * (len(wanted) + 1)
    for item in found:
        row = [0]
        for place, other in enumerate(wanted):
            row.append(before[place] + 1 if item == other else max(before[place + 1], row[place]))
        before = row
    return before[-1]


def _f1(n_common: int, n_found: int, n_wanted: int) -> float:
    return 2 * n_common / (n_found + n_wanted)


def _recall(n_common: int, n_found: int, n_wanted: int) -> float:
    return n_common / n_wanted


def _exact(n_common: int, n_found: int, n_wanted: int) -> float:
    return float(n_common == n_found == n_wanted)


_SCORES = {"f1": _f1, "recall": _recall, "exact": _exact}
