"""Cancellation of work that takes minutes: a large file is read or fetched, a store is away.

Made by the supervisor and handed down to whatever works that long. The supervisor decides when work
is cancelled and which exception says so.
"""

import math
from collections.abc import Callable

# Between two checks while waiting; a person waits for a stop.
_LOOK_S = 0.25


class Cancellation:
    """Tells work at hand that nobody wants it any more."""

    def __init__(
        self,
        sleep: Callable[[float], bool],
        check: Callable[[], None],
        *,
        check_waiting: Callable[[], None] | None = None,
    ) -> None:
        """`check` raises once the work is cancelled; `check_waiting` replaces it during a wait.

        `sleep` sleeps the given seconds and returns whether there is any use in going on.
        """
        self._sleep = sleep
        self._check = check
        self._check_waiting = check_waiting or check

    def check(self) -> None:
        """Raise if the work is cancelled; called between two parts of a file."""
        self._check()

    def wait(self, seconds: float) -> bool:
        """Sleep in short parts; whether to go on. Raises after a part if the work is cancelled."""
        for _ in range(math.ceil(seconds / _LOOK_S)):
            goes_on = self._sleep(min(seconds, _LOOK_S))
            self._check_waiting()
            if not goes_on:
                return False
        return True
