"""The two ways in which a request may use the database: a short read, and the write turn.

Called by `backend.phases`. A turn is taken before a thread and a thread before a connection, and
all three are given back together: whoever waits for another person, for a body or for a password
holds none of them. Nothing else in the service opens a session for a request.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import anyio
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import DataError, IntegrityError, InternalError, OperationalError
from sqlalchemy.orm import Session

from backend.errors import Conflict, InvalidInput, Unavailable
from backend.store.db import Database

T = TypeVar("T")
SESSIONS_AT_ONCE = 16


class Transactions:
    """Reads and writes for requests, a bounded number of them at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._readers = anyio.CapacityLimiter(SESSIONS_AT_ONCE)
        self._writers = anyio.CapacityLimiter(1) if database.is_sqlite else self._readers

    async def read(self, work: Callable[[Session], T]) -> T:
        """What `work` finds in a session for reading."""
        async with self._readers:
            return await run_in_threadpool(_within, self._database.read, work)

    async def write(self, work: Callable[[Session], T]) -> T:
        """What `work` answers, committed when this returns; undone if it raises."""
        async with self._writers:
            return await run_in_threadpool(_within, self._database.write, work)


def _within(
    opened: Callable[[], AbstractContextManager[Session]], work: Callable[[Session], T]
) -> T:
    with _told_plainly(), opened() as session:
        return work(session)


@contextmanager
def _told_plainly() -> Iterator[None]:
    """Errors of the database as errors that a client understands."""
    try:
        yield
    except (OperationalError, InternalError) as error:
        raise Unavailable(
            "the database did not answer", advice="Try again in a moment; see the service's log."
        ) from error
    except IntegrityError as error:
        raise Conflict(
            "another request changed the same thing at the same moment",
            advice="Send the request again.",
        ) from error
    except DataError as error:
        raise InvalidInput(
            "the database cannot hold a value of this request",
            advice="Remove NUL characters and numbers that are out of range.",
        ) from error
