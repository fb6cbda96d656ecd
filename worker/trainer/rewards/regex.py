"""The reward term `regex`: is a pattern found in the response?"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from worker.trainer.errors import ConfigError

TIME_LIMIT_S = 0.5


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern.

    Raises ConfigError if it is no regular expression.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"reward pattern {pattern!r}: {error}", "correct the pattern") from error


def regex_reward(text: str, pattern: re.Pattern[str]) -> float:
    """1 where the pattern is found, else 0.

    Raises ConfigError if the search takes longer than half a second. Main thread only.
    """
    with _time_limit(pattern.pattern):
        return 1.0 if pattern.search(text) else 0.0


@contextmanager
def _time_limit(pattern: str) -> Iterator[None]:
    def too_slow(_number: int, _frame: FrameType | None) -> None:
        raise ConfigError(
            f"reward pattern {pattern!r} takes longer than {TIME_LIMIT_S} s on one response",
            "avoid nested repeats such as (a+)+",
        )

    # The matcher of `re` looks for signals while it backtracks.
    before = signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
