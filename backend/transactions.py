"""The ways in which a request may use the database: a short read, a large one, the write turn.

Called by `backend.phases`. A turn is taken before a thread and a thread before a connection, and
all three are given back together: whoever waits for another person, for a body or for a password
holds none of them. Nothing else in the service opens a session for a request.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool
from sqlalchemy.orm import Session

from backend.pressure.turns import Turns
from backend.reading.calls import Call, Made
from backend.reading.reader import Reader, made
from backend.store.db import Database, service_errors
from backend.store.group_commit import GroupCommit

T = TypeVar("T")
# Times as long as it took to read what a stream needs before it begins, and seconds at most: where
# everything takes long, a browser that comes back does not wait for nothing.
REST_OF_OPENING, LONGEST_REST_S = 4, 0.1
# A process that reads needs a second or two to start.
LOOK_AT_START_S = 0.1


class Transactions:
    """Reads and writes for requests; turns are shared by person."""

    def __init__(self, database: Database, turns: Turns, reader: Reader | None = None) -> None:
        """`reader`: the process for large answers; None: they are made here."""
        self._database = database
        self._turns = turns
        self._reader = reader
        # PostgreSQL's writers need not wait for one another.
        self._group = GroupCommit(database) if database.is_sqlite else None

    @property
    def has_one_writer(self) -> bool:
        """Whether everybody waits for whoever writes, as with SQLite."""
        return self._group is not None

    async def admit(self, person: str, work: Callable[[Session], T]) -> T:
        """What `work` finds out about who asks. Raises TooBusy if too many wait."""
        async with self._turns.admitting(person):
            return await run_in_threadpool(_within, self._database.look, work)

    async def read(self, person: str, work: Callable[[Session], T]) -> T:
        """What `work` finds in a session for reading. Raises TooBusy if too many wait."""
        async with self._turns.reading(person):
            return await run_in_threadpool(_within, self._database.read, work)

    async def read_much(self, person: str, work: Callable[[Session], T]) -> T:
        """What `work` finds where that can take long; one at a time. Raises TooBusy."""
        async with self._turns.reading_much(person):
            return await run_in_threadpool(_within, self._database.read, work)

    async def make(self, person: str, call: Call) -> Made:
        """A large answer; one at a time is made. Raises TooBusy, and Unavailable."""
        await self._let_start(person)
        async with self._turns.reading_much(person):
            return await run_in_threadpool(self._made, call)

    async def make_batch(self, person: str, call: Call) -> Made:
        """The next part of an export, for which others wait that are as long. Raises TooBusy."""
        await self._let_start(person)
        async with self._turns.exporting(person):
            return await run_in_threadpool(self._made, call)

    async def _let_start(self, person: str) -> None:
        """Wait for a reading process that starts: what is made here keeps others waiting.

        Whoever is alone keeps nobody waiting, and so does not wait.
        """
        reader = self._reader
        if reader is None or self._turns.is_alone(person):
            return
        while await run_in_threadpool(reader.is_starting):
            await asyncio.sleep(LOOK_AT_START_S)

    def _made(self, call: Call) -> Made:
        return made(self._database, self._reader, call)

    async def open_stream(self, person: str, work: Callable[[Session], T]) -> T:
        """The same for a stream that begins: browsers that all come back at once wait here.

        The turn ends when it has rested, too: whoever opens many leaves the processor to others.
        """
        async with self._turns.opening(person):
            began = time.monotonic()
            found = await run_in_threadpool(_within, self._database.read, work)
            rest_s = REST_OF_OPENING * (time.monotonic() - began)
            await asyncio.sleep(min(rest_s, LONGEST_REST_S))
            return found

    async def write(self, person: str, work: Callable[[Session], T], *, by: str) -> T:
        """What `work` answers, committed when this returns; undone if it raises.

        It is done a second time if PostgreSQL has undone it because two requests waited for each
        other. `by` names the operation in the log, where it holds the turn for long.
        """
        async with self._turns.writing(person):
            return await run_in_threadpool(self._write, work, by)

    def _write(self, work: Callable[[Session], T], by: str) -> T:
        with service_errors():
            if self._group is not None:
                return self._group.write(work, by)
            return self._database.written(work, by)


def _within(
    opened: Callable[[], AbstractContextManager[Session]], work: Callable[[Session], T]
) -> T:
    with service_errors(), opened() as session:
        return work(session)
