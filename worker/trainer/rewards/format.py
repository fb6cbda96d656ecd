"""The reward term `format`: is the response made of the tags, in their order, and nothing else?"""

import re
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import FormatReward
from worker.trainer.rewards.answers.extract import boxed
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score
from worker.trainer.run import Run

_RIGHT = Grade(1.0)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
# What may follow it: the end of its formula and sentence.
_END = re.compile(r"[\s.$*]*(?:\\[\])])?[\s.*]*")


def build(term: FormatReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its tags."""
    return FormatScorer(term)


class FormatScorer:
    """Looks for tags: every one that is meant, and no other of theirs."""

    def __init__(self, term: FormatReward) -> None:
        marks = [mark for tag in term.tags.split() for mark in (f"<{tag}>", f"</{tag}>")]
        self._marks = marks[1:] if term.first_is_open else marks
        self._is_open, self._is_boxed = term.first_is_open and bool(marks), term.is_boxed
        self._any = re.compile("|".join(map(re.escape, marks))) if marks else None

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Grade the format: 1 or 0; it says nothing of correctness."""
        return [self._grade(answer.text) for answer in answers]

    def _grade(self, text: str) -> Grade:
        last = text
        if self._any is not None:
            found = self._any.findall(text)
            if found != self._marks:
                return Grade(0.0, why=f"expected {' '.join(self._marks)}; found {_told(found)}")
            parts = self._any.split(text)
            if any(part.strip() for part in self._between(parts)):
                return Grade(0.0, why="there is text outside of the tags")
            last = parts[-2]
        if self._is_boxed and not _ends_in_a_box(last):
            return Grade(0.0, why="expected one \\boxed{}, at the end and not empty")
        return _RIGHT

    def _between(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the parts that stand outside of the tags."""
        return parts[1::2] if self._is_open else parts[0::2]


def _ends_in_a_box(text: str) -> bool:
    """Whether the text holds one box, which is not empty and ends the text."""
    opened, inside = _BOX.findall(text), boxed(text)
    if len(opened) != 1 or not (inside or "").strip():
        return False
    rest = text.partition(opened[0])[2].removeprefix(f"{inside}}}")
    return _END.fullmatch(rest) is not None


def _told(found: Sequence[str]) -> str:
    return " ".join(found[:8]) or "none of them"
