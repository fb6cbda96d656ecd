"""Whose file comes now, and which is imported: the others wait a little or come again.

Used by the import route. One file a person is here, from its first byte to its answer; while an
upload waits for that, nothing of its body is read. Two are imported at once, each into another
project; what waits for that is here whole, so nobody who sends slowly delays an import. A problem
set takes the place of an import, too, from before it is made: one at a time (`backend.jobs.turns`).
"""

import math
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from backend.errors import TooBusy
from backend.store.db import IMPORTS

# Files on the disk at once, each of another person.
FILES = 16
MOST_WAITING = 16
MOST_WAITING_OF_ONE = 4
LONGEST_WAIT_S = 10.0


class _Places:
    """Places by name, at most `at_once` taken at a time."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self.busy: set[str] = set()
        self.waiting: Counter[str] = Counter()
        self._ended = anyio.Condition()

    async def take(self, name: str, longest_wait_s: float) -> bool:
        """Take the place of this name as soon as it is free; False if that lasts too long."""
        if not self.waiting.total() and not self._is_full(name):
            self.busy.add(name)
            return True
        self.waiting[name] += 1
        try:
            with anyio.move_on_after(longest_wait_s):
                async with self._ended:
                    while self._is_full(name):
                        await self._ended.wait()
                    self.busy.add(name)
                    return True
        finally:
            self.waiting[name] -= 1
        return False

    async def give_back(self, name: str) -> None:
        """Give a place back, also if whoever had it was cancelled."""
        with anyio.CancelScope(shield=True):
            async with self._ended:
                self.busy.remove(name)
                self._ended.notify_all()

    def _is_full(self, name: str) -> bool:
        return name in self.busy or len(self.busy) >= self.at_once


class UploadTurns:
    """The uploads of one process."""

    def __init__(self, *, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self._longest_wait_s = longest_wait_s
        self._files = _Places(FILES)
        # Parsed and stored at once, each for another project.
        self._imports = _Places(IMPORTS)

    @asynccontextmanager
    async def turn(self, person: str) -> AsyncIterator[None]:
        """Have a file here, of a person by user id. Raises TooBusy if that is not possible soon."""
        waiting = self._files.waiting
        is_crowd = waiting[person] >= MOST_WAITING_OF_ONE or waiting.total() >= MOST_WAITING
        if is_crowd or not await self._files.take(person, self._longest_wait_s):
            raise self._too_busy(person)
        try:
            yield
        finally:
            await self._files.give_back(person)

    @asynccontextmanager
    async def importing(self, project_id: str) -> AsyncIterator[None]:
        """Import what is here whole, or made here, into a project, as soon as others let it."""
        await self._imports.take(project_id, math.inf)
        try:
            yield
        finally:
            await self._imports.give_back(project_id)

    def _too_busy(self, person: str) -> TooBusy:
        found = (
            "your previous upload is still being received or imported"
            if person in self._files.busy
            else f"{len(self._files.busy)} files of other people are being received or imported"
        )
        return TooBusy(
            f"{found}; one file per person and {FILES} in all are taken at once",
            advice="Send the file again when these are done.",
            retry_after_s=self._longest_wait_s,
        )
