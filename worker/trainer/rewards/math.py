"""The reward term `math`: is the answer in the response the reference, however it is written?

Numbers, words and lists of numbers are compared here; what needs computer algebra goes to processes
that can be killed.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import MathReward
from worker.trainer.rewards.answers.equal import equal
from worker.trainer.rewards.answers.extract import answer_in, boxed
from worker.trainer.rewards.answers.quantity import in_one_unit
from worker.trainer.rewards.answers.vote import vote
from worker.trainer.rewards.grading.begun import Begun
from worker.trainer.rewards.grading.pool import Found, Pool
from worker.trainer.rewards.sampled_response import RIGHT, Grade, SampledResponse, Score
from worker.trainer.run import Run

# Questions whose answers are kept.
MOST_KNOWN = 20_000
_RIGHT = Grade(1.0, passed=True, answer=RIGHT)


def build(term: MathReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its settings."""
    return MathScorer(term)


@dataclass(frozen=True)
class _Question:
    """What computer algebra has to say of a response: is its answer one of the references?"""

    answer: str
    references: tuple[str, ...]


class MathScorer:
    """Grades answers; the processes of the `pool` start with the first that needs algebra.

    It keeps what algebra decided for the whole run, and asks again after a crash.
    """

    def __init__(self, term: MathReward, pool: Pool | None = None) -> None:
        self._term = term
        self._begun = Begun("equivalent", pool)
        self._known: dict[_Question, Grade] = {}

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """1 and passed where the answer is the reference, else 0; NaN without a reference."""
        found = [self._at_a_glance(answer) for answer in answers]
        open_ = [one for one in found if isinstance(one, _Question)]
        decided = iter(self._by_algebra(open_) if open_ else ())
        return [next(decided) if isinstance(one, _Question) else one for one in found]

    def begin(self, answer: SampledResponse) -> None:
        """Ask what only algebra can say of it, once."""
        question = self._at_a_glance(answer)
        if isinstance(question, _Question) and question not in self._known:
            for asked in self._asked(question):
                if asked not in self._begun:
                    self._begun.begin(asked)

    def forget(self) -> None:
        """See `SlowScore`."""
        self._begun.forget()

    def _at_a_glance(self, answer: SampledResponse) -> Grade | _Question:
        if answer.reference is None:
            return Grade(math.nan, passed=False, why="the prompt has no ground truth")
        said = answer_in(answer.text, self._term.answer, self._term.tag)
        if said.text is None:
            return Grade(0.0, passed=False, why=said.why)
        references = references_in(answer.reference)
        seen = [equal(said.text, one, self._term.tolerance) for one in references]
        if True in seen:
            return _RIGHT
        open_ = zip(references, seen, strict=True)
        left = tuple(one for one, verdict in open_ if verdict is None)
        if left:
            return _Question(said.text, left)
        return _wrong(said.text, vote(said.text, references[0]))

    def _by_algebra(self, questions: Sequence[_Question]) -> list[Grade]:
        """The responses to a prompt often say the same: each question is asked once at a time."""
        new = [one for one in dict.fromkeys(questions) if one not in self._known]
        if len(self._known) + len(new) > MOST_KNOWN:
            self._known.clear()
            new = list(dict.fromkeys(questions))
        found = iter(self._begun.answers([one for q in new for one in self._asked(q)]))
        crashed: dict[_Question, Grade] = {}
        for question in new:
            grade = self._grade(question, [next(found) for _ in question.references])
            (crashed if grade.may_change else self._known)[question] = grade
        return [crashed.get(question) or self._known[question] for question in questions]

    def _asked(self, question: _Question) -> list[tuple[str, str, float]]:
        return [self._pair(question.answer, one) for one in question.references]

    def _pair(self, answer: str, reference: str) -> tuple[str, str, float]:
        found, wanted = in_one_unit(answer, reference)
        return latex(found), latex(wanted), self._term.tolerance

    def _grade(self, question: _Question, found: Sequence[Found]) -> Grade:
        """Grade one response by what computer algebra found for each reference.

        What takes too long is the response's fault, unless the reference alone does, too. A
        reference that cannot be read is never the response's fault. A crash comes before both: who
        crashed might have found the answer right.
        """
        if any(one.value["same"] for one in found if one.value is not None):
            return _RIGHT
        for one in found:
            if one.fault == "crash":
                return _crashed(one)
        for one, reference in zip(found, question.references, strict=True):
            if one.fault == "limit":
                [alone] = self._begun.answers([self._pair("1", reference)])
                if alone.fault == "crash":
                    return _crashed(alone)
                if alone.fault == "limit":
                    why = f"the ground truth cannot be compared with anything: {alone.why}"
                    return Grade(math.nan, passed=False, why=why)
                return Grade(0.0, passed=False, why="comparing the answer takes too long")
            if one.value is None:
                return Grade(
                    math.nan, passed=False, why="the ground truth cannot be read as an answer"
                )
        return _wrong(question.answer, found[0].value["form"])


def references_in(reference: str) -> list[str]:
    """The right answers that a reference holds: one, or each of a JSON list.

    Of a worked solution the answer in its box or after ####.
    """
    if reference.lstrip().startswith("["):
        try:
            several = json.loads(reference)
        except ValueError:
            several = None
        if isinstance(several, list) and all(isinstance(one, str) for one in several):
            return several
    _, worked, answer = reference.rpartition("####")
    in_box = boxed(reference)
    return [answer if worked else reference if in_box is None else in_box]


def latex(text: str) -> str:
    """A plain expression as LaTeX: sets have escaped braces."""
    if text.startswith("{") and text.endswith("}"):
        text = f"\\{{{text[1:-1]}\\}}"
    return text


def _crashed(found: Found) -> Grade:
    why = f"the grader failed: {found.why}"
    return Grade(math.nan, passed=False, why=why, may_change=True)


def _wrong(answer: str, voted: str) -> Grade:
    why = f"{answer[:60]} is not the ground truth"
    return Grade(0.0, passed=False, why=why, answer=voted)
