"""Makes `time.sleep` work under libfaketime, which refuses sleeps until a moment (EINVAL).

Python sleeps until a moment of the monotonic clock; waiting for nothing takes a span instead. Read
by every Python that has this folder on its path, see `tests.chaos.clock`.
"""

import select
import time


def sleep(seconds: float) -> None:
    """Wait so many seconds."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


time.sleep = sleep
