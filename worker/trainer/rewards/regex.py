"""The reward term `regex`: is a pattern found in the response?"""

import math
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import RegexReward
from worker.trainer.errors import ConfigError
from worker.trainer.rewards.sampled_response import SampledResponse, Score
from worker.trainer.run import Run

# Of the processor, for one response.
TIME_LIMIT_S = 0.5


def build(term: RegexReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its pattern; alerts of the run say where it was too slow."""
    return RegexScorer(term.pattern, run.events.alert)


class RegexScorer:
    """Searches a pattern in responses; `alert` (rule, message) says on how many it was too slow."""

    def __init__(self, pattern: str, alert: Callable[[str, str], None]) -> None:
        self._pattern, self._alert = compile_pattern(pattern), alert

    def __call__(self, answers: Sequence[SampledResponse]) -> list[float]:
        """One reward per answer; NaN, no score, where the search takes too long."""
        rewards = [regex_reward(answer.text, self._pattern) for answer in answers]
        n_slow = sum(map(math.isnan, rewards))
        if n_slow > 0:
            self._alert(
                "slow_pattern",
                f"The reward pattern {self._pattern.pattern!r} took longer than {TIME_LIMIT_S} s "
                f"of processor time on {n_slow} of {len(rewards)} responses, which therefore have "
                "no score. Avoid nested repeats such as (a+)+.",
            )
        return rewards


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern.

    Raises ConfigError if it is no regular expression.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"the reward pattern {pattern!r} is not a Python regular expression: {error}",
            "Correct the pattern.",
        ) from error


def regex_reward(text: str, pattern: re.Pattern[str]) -> float:
    """1 where the pattern is found, else 0; NaN after half a second of this thread's computing.

    Main thread only.
    """
    try:
        with _time_limit():
            return 1.0 if pattern.search(text) else 0.0
    except _TooSlow:
        return math.nan


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
