"""Work in a transaction of its own beside one of the test, which holds locks meanwhile."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.store.db import Database
from tests.processes import wait_until

T = TypeVar("T")
_PID = text("SELECT pg_backend_pid()")
_WAITS = text("SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = :pid")


class Beside(Generic[T]):
    """A transaction of PostgreSQL in another thread."""

    def __init__(self, database: Database, work: Callable[[Session], T]) -> None:
        """Start it; return once it has ended or waits for a lock."""
        self._database, self._work = database, work
        self._pid: int | None = None
        self._done: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        wait_until(self._is_over, "the other transaction ended or waited for a lock")

    def result(self) -> T:
        """What the work returns, or raises; waits for its end."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._done[0]

    def _run(self) -> None:
        try:
            with self._database.write("beside") as session:
                self._pid = session.scalar(_PID)
                found = self._work(session)
            self._done.append(found)
        except BaseException as error:  # noqa: BLE001 - `result` raises it
            self._error = error

    def _is_over(self) -> bool:
        if not self._thread.is_alive():
            return True
        if self._pid is None:
            return False
        with self._database.read() as session:
            return bool(session.scalar(_WAITS, {"pid": self._pid}))
