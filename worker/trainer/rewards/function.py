"""The reward term `function`: what a Python function of the operator says of a response.

Only a function that the operator's setting names is called, in a process that can be killed.
"""

import math
import os
from collections.abc import Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import FunctionReward
from worker.trainer.errors import ConfigError
from worker.trainer.rewards.grading.begun import Begun
from worker.trainer.rewards.grading.pool import LIMIT_S, Found, Pool
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score
from worker.trainer.run import Run

SETTING = "PODIUM_REWARD_FUNCTIONS"


def build(term: FunctionReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its function. Raises ConfigError if the operator does not allow it."""
    allowed = [one.strip() for one in os.environ.get(SETTING, "").split(",") if one.strip()]
    if term.function not in allowed:
        raise ConfigError(
            f"the reward function {term.function} is not one that this worker allows; it allows "
            f"{', '.join(allowed) or 'none'}",
            f"Ask the operator to name it in {SETTING} on the worker, or use another reward term.",
        )
    return FunctionScorer(term.function)


class FunctionScorer:
    """Calls the function once per response."""

    def __init__(self, function: str, pool: Pool | None = None) -> None:
        self._function = function
        self._begun = Begun("call", pool)

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Return the function's grades: 0 and not passed over the limit, NaN where it fails."""
        return [grade_of(one) for one in self._begun.answers([self._asked(a) for a in answers])]

    def begin(self, answer: SampledResponse) -> None:
        """Call it for this response."""
        self._begun.begin(self._asked(answer))

    def forget(self) -> None:
        """See `SlowScore`."""
        self._begun.forget()

    def _asked(self, a: SampledResponse) -> tuple[Any, ...]:
        return self._function, a.text, a.prompt, a.reference, list(a.tags), dict(a.metadata)


def grade_of(found: Found) -> Grade:
    """The grade that a value of the function means: a number, or an object with `score`."""
    if found.fault == "limit":
        return Grade(0.0, passed=False, why=f"the function took longer than {LIMIT_S:g} s")
    if found.fault:
        return Grade(math.nan, passed=False, why=f"the function failed: {found.why}")
    said: dict[str, Any] = found.value if isinstance(found.value, dict) else {"score": found.value}
    score, passed = said.get("score"), said.get("passed")
    if not isinstance(score, bool | int | float) or not isinstance(passed, bool | None):
        why = f"the function said {found.value!r}"[:120] + "; expected a number or score and passed"
        return Grade(math.nan, passed=False, why=why)
    return Grade(float(score), passed, str(said.get("why", ""))[:200])
