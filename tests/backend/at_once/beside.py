"""Work beside a transaction of the test, which holds locks meanwhile."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.store.db import Database
from tests.processes import wait_until

T = TypeVar("T")
_WAITING = text(
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class Request(Generic[T]):
    """A call in another thread, which uses a database of PostgreSQL."""

    def __init__(self, database: Database, call: Callable[[], T]) -> None:
        """Start it; return once it has ended or somebody in the database waits for a lock."""
        self._database, self._call = database, call
        self._done: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        wait_until(self._is_over, "the call ended or waited for a lock")

    def result(self) -> T:
        """What the call returns, or raises; waits for its end."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._done[0]

    def _run(self) -> None:
        try:
            self._done.append(self._call())
        except BaseException as error:  # noqa: BLE001 - `result` raises it
            self._error = error

    def _is_over(self) -> bool:
        if not self._thread.is_alive():
            return True
        with self._database.read() as session:
            return bool(session.scalar(_WAITING))


class Beside(Request[T]):
    """A transaction of its own in another thread."""

    def __init__(self, database: Database, work: Callable[[Session], T]) -> None:
        """Start it; return once it has ended or waits for a lock."""

        def write() -> T:
            with database.write("beside") as session:
                return work(session)

        super().__init__(database, write)
