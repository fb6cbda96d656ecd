"""Whose upload comes now: one a person and two in all, the others wait a little or come again.

Used by the import route. While an upload waits, nothing of its body is read.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from backend.errors import TooBusy

AT_ONCE = 2
MOST_WAITING = 16
MOST_WAITING_OF_ONE = 4
LONGEST_WAIT_S = 10.0


class UploadTurns:
    """The uploads of one process."""

    def __init__(self, *, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self._longest_wait_s = longest_wait_s
        self._busy: set[str] = set()
        self._waiting: Counter[str] = Counter()
        self._ended = anyio.Condition()

    @asynccontextmanager
    async def turn(self, person: str) -> AsyncIterator[None]:
        """Hold the turn of a person, given by user id. Raises TooBusy if it does not come soon."""
        await self._wait(person)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                async with self._ended:
                    self._busy.remove(person)
                    self._ended.notify_all()

    async def _wait(self, person: str) -> None:
        if not self._waiting.total() and not self._is_full(person):
            self._busy.add(person)
            return
        if self._waiting[person] >= MOST_WAITING_OF_ONE or self._waiting.total() >= MOST_WAITING:
            raise self._too_busy(person)
        self._waiting[person] += 1
        try:
            with anyio.move_on_after(self._longest_wait_s):
                async with self._ended:
                    while self._is_full(person):
                        await self._ended.wait()
                    self._busy.add(person)
                    return
        finally:
            self._waiting[person] -= 1
        raise self._too_busy(person)

    def _is_full(self, person: str) -> bool:
        return person in self._busy or len(self._busy) >= AT_ONCE

    def _too_busy(self, person: str) -> TooBusy:
        found = (
            "your previous upload is still being imported"
            if person in self._busy
            else f"{len(self._busy)} files of other people are being imported"
        )
        return TooBusy(
            f"{found}; one file a person and {AT_ONCE} in all are taken at once",
            advice="Send the file again when the others are done.",
            retry_after_s=self._longest_wait_s,
        )
