"""Whose file comes now, and which is imported: the others wait a little or come again.

Used by the import route. One file a person is here, from its first byte to its answer; while an
upload waits for that, nothing of its body is read. Two are imported at once, each into another
project; what waits for that is here whole, so nobody who sends slowly delays an import. A problem
set takes the place of an import, too, from before it is made: one at a time (`backend.jobs.turns`).
It stands in one line with the files; whoever can go on passes those who cannot.
"""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from backend.errors import TooBusy
from backend.store.db import IMPORTS

# Files on the disk at once, each of another person.
FILES = 16
MOST_WAITING = 16
MOST_WAITING_OF_ONE = 4
LONGEST_WAIT_S = 10.0


@dataclass(eq=False)
class Ticket:
    """A stand in the line for a place by name; `has_it`: the place was taken and not given back.

    A job that needs more than the place asks whether it is free and takes it when it can go on
    (`backend.jobs.turns`); whoever came later and can go on now does not wait for it.
    """

    places: "_Places"
    name: str
    has_it: bool = False
    when_free: Callable[[], None] = field(default=lambda: None, init=False)

    def stand(self, when_free: Callable[[], None]) -> None:
        """Stand in line; `when_free` is called now and later when the place is free."""
        self.when_free = when_free
        self.places.line.append(self)
        if self.is_free():
            when_free()

    def is_free(self) -> bool:
        """Whether the place can be taken now."""
        return not self.places.is_full(self.name)

    def take(self) -> None:
        """Take the place, which is free."""
        self.has_it = True
        self.places.busy.add(self.name)

    def give_back(self) -> None:
        """Give the place back, if it was taken, and stand where one stood."""
        if self.has_it:
            self.has_it = False
            self.places.busy.remove(self.name)
            self.places.go_on()

    def leave(self) -> None:
        """Want the place no more."""
        self.places.line.remove(self)
        self.give_back()


class _Places:
    """Places by name, at most `at_once` taken at a time; first come, first served."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self.busy: set[str] = set()
        # All who want a place or have one, in the order in which they came.
        self.line: list[Ticket] = []

    async def take(self, name: str, longest_wait_s: float) -> Ticket | None:
        """Take the place of this name as soon as it is free; None if that lasts too long."""
        has_come, ticket = anyio.Event(), Ticket(self, name)

        def come() -> None:
            ticket.take()
            has_come.set()

        ticket.stand(come)
        try:
            if not has_come.is_set():
                with anyio.move_on_after(longest_wait_s):
                    await has_come.wait()
        except BaseException:
            ticket.leave()
            raise
        if has_come.is_set():
            return ticket
        ticket.leave()
        return None

    def waiting(self, name: str | None = None) -> int:
        """How many wait, for the place of this name or for any."""
        return sum(not one.has_it and name in (None, one.name) for one in self.line)

    def is_full(self, name: str) -> bool:
        """Whether nobody can take the place of this name now."""
        return name in self.busy or len(self.busy) >= self.at_once

    def go_on(self) -> None:
        """Tell those whose place is free, in the order in which they came."""
        for ticket in tuple(self.line):
            if not ticket.has_it and ticket.is_free():
                ticket.when_free()


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
        is_crowd = waiting(person) >= MOST_WAITING_OF_ONE or waiting() >= MOST_WAITING
        ticket = None if is_crowd else await self._files.take(person, self._longest_wait_s)
        if ticket is None:
            raise self._too_busy(person)
        try:
            yield
        finally:
            ticket.leave()

    @asynccontextmanager
    async def importing(self, project_id: str) -> AsyncIterator[None]:
        """Import what is here whole into a project, as soon as others let it."""
        ticket = await self._imports.take(project_id, math.inf)
        try:
            yield
        finally:
            if ticket is not None:
                ticket.leave()

    def to_import(self, project_id: str) -> Ticket:
        """A ticket for a job that imports into a project what it makes; it does not stand yet."""
        return Ticket(self._imports, project_id)

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
