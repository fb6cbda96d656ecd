"""The reward term `function`: what a Python function of the operator says of a response.

Only a function that the operator's setting names is called, in a process that can be killed.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import FunctionReward
from worker.trainer.errors import ConfigError
from worker.trainer.rewards.grading.begun import Begun
from worker.trainer.rewards.grading.pool import LIMIT_S, Found, Pool
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score
from worker.trainer.run import Run
from worker.trainer.source import ALLOWED, allowed_functions


def build(term: FunctionReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its function. Raises ConfigError if the operator does not allow it."""
    allowed = allowed_functions()
    if term.function not in allowed:
        raise ConfigError(
            f"the reward function {term.function} is not one that this worker allows; it allows "
            f"{', '.join(allowed) or 'none'}",
            f"Ask the operator to name it in {ALLOWED} on the worker, or use another reward term.",
        )
    return FunctionScorer(term.function)


class FunctionScorer:
    """Calls the function once per response.

    `judges`: the function has returned `passed` in this run, so it judges correctness.
    """

    def __init__(self, function: str, pool: Pool | None = None) -> None:
        self._function = function
        self._begun = Begun("call", pool)
        self.judges = False

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Return the function's grades: 0 over the limit, NaN where it fails.

        A failure has not passed if the function judges; what it says of any response of the batch
        shows that, so the order of the responses makes no difference.
        """
        found = self._begun.answers([self._asked(answer) for answer in answers])
        grades = [grade_of(one) for one in found]
        self.judges = self.judges or any(one.passed is not None for one in grades)
        if not self.judges:
            # One that comes later may show that it judges: then these have not passed.
            is_open = any(one.may_change for one in grades)
            return [
                replace(one, may_change=is_open) if isinstance(one, _Failure) else one
                for one in grades
            ]
        return [replace(one, passed=False) if isinstance(one, _Failure) else one for one in grades]

    def begin(self, answer: SampledResponse) -> None:
        """Call it for this response."""
        self._begun.begin(self._asked(answer))

    def forget(self) -> None:
        """See `SlowScore`."""
        self._begun.forget()

    def _asked(self, a: SampledResponse) -> tuple[Any, ...]:
        return self._function, a.text, a.prompt, a.reference, list(a.tags), dict(a.metadata)


class _Failure(Grade):
    """Grade a response of which the function said nothing that can be used."""

    __slots__ = ()


def grade_of(found: Found) -> Grade:
    """The grade that a value of the function means: a number, or an object with `score`.

    A failure is no verdict: one call alone does not show whether the function judges.
    """
    if found.fault == "limit":
        return _Failure(0.0, why=f"the function took longer than {LIMIT_S:g} s")
    if found.fault:
        return _Failure(math.nan, why=f"the function failed: {found.why}", may_change=True)
    said: dict[str, Any] = found.value if isinstance(found.value, dict) else {"score": found.value}
    score, passed = _number(said.get("score")), said.get("passed")
    if score is None or not isinstance(passed, bool | None):
        why = f"the function returned {found.value!r}"[:120] + (
            "; expected a number, or an object with a number as `score` and optionally true or "
            "false as `passed`"
        )
        return _Failure(math.nan, why=why)
    return Grade(score, passed, str(said.get("why", ""))[:200])


def _number(value: object) -> float | None:
    """A number as a float; None for anything else, and for one that no float can hold."""
    if not isinstance(value, bool | int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
