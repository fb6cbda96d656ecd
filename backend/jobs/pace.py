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
    """The size of the next batch; call `began` when a transaction begins, `ended` after its end."""

    def __init__(self, size: int = 200) -> None:
        self.size = size
        self._began = 0.0

    def began(self) -> None:
        """Note that the transaction has the writer now."""
        self._began = time.monotonic()

    def ended(self) -> None:
        """Note that the batch is committed; let others write for as long as it lasted."""
        took_s = time.monotonic() - self._began
        # Towards the right size by half a step: one slow commit says little.
        fitting = self.size * HOLD_S / max(took_s, 1e-4)
        self.size = round(min(max((self.size + fitting) / 2, SMALLEST), LARGEST))
        time.sleep(max(took_s, LEAST_PAUSE_S))

    @contextmanager
    def batch(self) -> Iterator[int]:
        """Time a transaction, its wait for the writer included; yield the size of its batch."""
        size = self.size
        self.began()
        yield size
        self.ended()
