"""Imports that came to nothing: their records are removed, in short transactions.

Used by the import itself when it fails, by the route when the import's process has died, and by
the API for imports whose whole service has died.
"""

import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from backend.errors import Conflict, ServiceError
from backend.jobs.pace import SMALLEST, Pace
from backend.jobs.work import Cancelled
from backend.store.data import imports
from backend.store.data.imports import Unfinished
from backend.store.db import Database
from backend.store.visibility import SETTLING, UNFINISHED

log = logging.getLogger("podium.imports")

# An import that did nothing for so long is dead: a batch takes a fraction of a second.
STALE_S = 60.0
LOOK_S = 15.0


def withdraw(
    database: Database, import_id: str, *, check: Callable[[], None] = lambda: None
) -> None:
    """Let an import write nothing more and remove its records; one that is complete is settled.

    `check` raises if the rest is to be left to somebody else.
    """
    with database.read() as session:
        states = {one.id: one.state for one in imports.unfinished(session)}
    if states.get(import_id) == SETTLING:
        settle(database, import_id, check=check)
    if states.get(import_id) not in UNFINISHED:
        return
    with database.write() as session:
        is_left = imports.withdraw(session, import_id)
    pace = Pace(SMALLEST)
    try:
        while is_left:
            check()
            with database.write() as session:
                pace.began()
                is_left = imports.remove(session, import_id, limit=pace.size)
            pace.ended()
    except Conflict:
        return  # Somebody else has removed the last of them.


def settle(database: Database, import_id: str, *, check: Callable[[], None] = lambda: None) -> None:
    """Count what a complete import has judged, in short transactions; nothing if it has ended."""
    pace, after = Pace(SMALLEST), 0
    try:
        while True:
            check()
            with pace.batch() as size, database.write() as session:
                found = imports.settle(session, import_id, after=after, limit=size)
            if found is None:
                return
            after = found
    except Conflict:
        return  # Somebody else has counted the last of them.


def clear_abandoned(database: Database, check: Callable[[], None]) -> None:
    """Withdraw the imports whose job has ended without completing them."""
    with database.read() as session:
        found = imports.abandoned(session)
    for import_id in found:
        withdraw(database, import_id, check=check)


@dataclass(frozen=True)
class _Seen:
    """The state of an import, and since when, by our own clock, it has not changed."""

    state: Unfinished
    since: float


class DeadImports:
    """Imports whose process has died, found by watching: no clock but our own is asked."""

    def __init__(
        self,
        database: Database,
        *,
        stale_s: float = STALE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._clock = clock
        self._stale_s = stale_s
        self._seen: dict[str, _Seen] = {}

    def look(
        self, project_id: str | None = None, *, check: Callable[[], None] = lambda: None
    ) -> int:
        """Withdraw the imports that have done nothing for too long; how many have not ended."""
        with self._database.read() as session:
            found = imports.unfinished(session, project_id)
        now = self._clock()
        self._seen = {one.id: self._noticed(one, now) for one in found}
        dead = [one.state.id for one in self._seen.values() if now - one.since >= self._stale_s]
        _withdraw_all(self._database, dead, check)
        return len(found) - len(dead)

    def _noticed(self, one: Unfinished, now: float) -> _Seen:
        before = self._seen.get(one.id)
        return before if before is not None and before.state == one else _Seen(one, now)


def _withdraw_all(database: Database, dead: Collection[str], check: Callable[[], None]) -> None:
    for import_id in dead:
        log.warning("import.dead import_id=%s; its records are removed", import_id)
        withdraw(database, import_id, check=check)


@asynccontextmanager
async def dead_imports_removed(database: Database) -> AsyncIterator[None]:
    """Remove, while the service runs, what imports have left whose process died."""
    is_closed = threading.Event()

    def check() -> None:
        if is_closed.is_set():
            raise Cancelled

    # One service alone uses an embedded database: whatever file is unfinished when it begins is
    # dead. What a run leaves, a worker may still be writing.
    with database.read() as session:
        unfinished = imports.unfinished(session) if database.is_sqlite else []
    found = [one.id for one in unfinished if not one.of_run]

    async def look_on() -> None:
        left = found
        dead = DeadImports(database)
        while True:
            try:
                await anyio.to_thread.run_sync(_withdraw_all, database, left, check)
                left = []
                await anyio.to_thread.run_sync(lambda: dead.look(check=check))
            except Cancelled:
                return
            except (ServiceError, SQLAlchemyError) as error:
                log.warning("imports.not_looked_at error=%s", type(error).__name__)
            await anyio.sleep(LOOK_S)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look_on)
        try:
            yield
        finally:
            is_closed.set()
            tasks.cancel_scope.cancel()
