"""Group commit: writers who wait for the one writer of SQLite share a transaction.

Called by `backend.transactions` and by the relays of a worker. BEGIN waits for the worker's
transactions by polling, and COMMIT waits for the disk; ten writers that come together pay for both
once. Each has a part of its own: what it raises undoes its own work alone, and nobody hears of
success before the COMMIT.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from sqlalchemy.orm import Session

from backend.store.db import Database, LostTransaction, Parts, counted

T = TypeVar("T")

# Beyond this nobody joins a transaction any more: all others wait from its BEGIN to its COMMIT.
LONGEST_GROUP_S = 0.05


class _Writer:
    """One who waits: what to do, and how it ended."""

    def __init__(self, work: Callable[[Session], None], by: str) -> None:
        self.is_done = False
        self.error: Exception | None = None
        self._work, self._by = work, by
        # Its lines in the log name its own request, whichever thread does the work.
        self._context = copy_context()

    def do(self, parts: Parts) -> None:
        """Do the work in a part of its own. Raises LostTransaction."""
        try:
            with parts.part(self._by) as session:
                self._context.run(self._work, session)
        except LostTransaction:
            raise
        except Exception as error:  # noqa: BLE001 - its own thread raises it
            self.error = error

    def raise_error(self) -> None:
        """Raise what the work raised, if anything."""
        error, self.error = self.error, None
        try:
            if error is not None:
                raise error
        finally:
            # The error knows this frame: together they would keep the body of the request.
            del error


class GroupCommit:
    """The writers to one database in this process, in the order in which they came."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[_Writer] = deque()
        self._one_group = threading.Lock()

    @property
    def n_waiting(self) -> int:
        """How many wait for a transaction."""
        return len(self._waiting)

    def write(self, work: Callable[[Session], T], by: str) -> T:
        """What `work` answers, committed when this returns; undone if it raises.

        Blocks its thread, which may do the work of others meanwhile.
        """
        found: list[T] = []
        writer = _Writer(lambda session: found.append(work(session)), by)
        with counted():
            self._waiting.append(writer)
            with self._one_group:
                while not writer.is_done:
                    self._commit_group()
        writer.raise_error()
        return found[0]

    def _commit_group(self) -> None:
        """Take those who wait, and those who come meanwhile, into one transaction."""
        taken: list[_Writer] = []
        try:
            with self._database.write_parts() as parts:
                until = time.monotonic() + LONGEST_GROUP_S
                while self._waiting and (not taken or time.monotonic() < until):
                    taken.append(self._waiting.popleft())
                    taken[-1].do(parts)
        except Exception as error:  # noqa: BLE001 - the threads of all of them raise it
            # Without a transaction there is nobody in it, and whoever came first hears of it.
            taken = taken or [self._waiting.popleft()]
            for writer in taken:
                writer.error = writer.error or error
        for writer in taken:
            writer.is_done = True
