"""The reward term `regex`: is a pattern found in the response?"""

import math
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import RegexReward
from worker.trainer.errors import ConfigError
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score
from worker.trainer.run import Run

# Of the processor, for one response.
TIME_LIMIT_S = 0.5


def build(term: RegexReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its pattern; alerts of the run say where it was too slow."""
    return RegexScorer(term.pattern, run.events.alert, is_answer=term.is_answer)


class RegexScorer:
    """Searches a pattern in responses; `alert` (rule, message) says on how many it was too slow."""

    def __init__(
        self, pattern: str, alert: Callable[[str, str], None], *, is_answer: bool = False
    ) -> None:
        self._pattern, self._alert = compile_pattern(pattern), alert
        self._is_answer = is_answer

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Grade each answer; NaN, which is no score, where the search takes too long."""
        grades = [regex_grade(answer.text, self._pattern) for answer in answers]
        n_slow = sum(math.isnan(grade.score) for grade in grades)
        if n_slow > 0:
            self._alert(
                "slow_pattern",
                f"The reward pattern {self._pattern.pattern!r} took longer than {TIME_LIMIT_S} s "
                f"of processor time on {n_slow} of {len(grades)} responses, which therefore have "
                "no score. Avoid nested repeats such as (a+)+.",
            )
        if self._is_answer:
            return [replace(one, passed=one.score == 1, why=one.why or _why(one)) for one in grades]
        return grades


def _why(grade: Grade) -> str:
    return "" if grade.score == 1 else "the pattern is not in the response"


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern.

    Raises ConfigError if it is no regular expression.
    """
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigError(
            f"the reward pattern {pattern!r} is not a Python regular expression: {error}",
            "Correct the pattern.",
        ) from error


def regex_grade(text: str, pattern: re.Pattern[str]) -> Grade:
    """1 where the pattern is found, else 0; NaN after half a second of this thread's computing.

    Main thread only.
    """
    try:
        with _time_limit():
            return Grade(1.0 if pattern.search(text) else 0.0)
    except _TooSlow:
        return Grade(math.nan, why=f"the pattern took longer than {TIME_LIMIT_S} s")


class _TooSlow(Exception):
    """A search was broken off."""


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise _TooSlow in the block once this thread has computed for too long.

    Not by the clock: a process that is stopped or waits for its turn would get other rewards.
    """
    started_s = time.thread_time()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        left_s = started_s + TIME_LIMIT_S - time.thread_time()
        if left_s <= 0:
            raise _TooSlow
        # The timer counts all threads of the process.
        signal.setitimer(signal.ITIMER_VIRTUAL, left_s)

    # The matcher of `re` looks for signals while it backtracks.
    before = signal.signal(signal.SIGVTALRM, on_signal)
    signal.setitimer(signal.ITIMER_VIRTUAL, TIME_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
