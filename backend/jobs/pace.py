"""How a child writes much without keeping others from writing: short batches, with pauses.

On SQLite one writer keeps all others waiting, wherever they are; a batch is as large as fits into
the time that others can wait without noticing.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds that a transaction should last, and that others get after it at least.
HOLD_S = 0.02
LEAST_PAUSE_S = 0.005
SMALLEST, LARGEST = 20, 2000


class Pace:
    """How many records the next batch should have."""

    def __init__(self, size: int = 200) -> None:
        self.size = size

    @contextmanager
    def batch(self) -> Iterator[int]:
        """Around a transaction that writes so many records; pauses as long as it lasted."""
        size = self.size
        began = time.monotonic()
        yield size
        took_s = time.monotonic() - began
        # Towards the right size by half a step: one slow commit says little.
        fitting = size * HOLD_S / max(took_s, 1e-4)
        self.size = round(min(max((size + fitting) / 2, SMALLEST), LARGEST))
        time.sleep(max(took_s, LEAST_PAUSE_S))
