"""Annotators who wait for a comparison, and are told when there is one.

Hundreds may wait at once, and what they wait for is often the end of somebody's lease, which nobody
writes down. So one look a second asks for all of this process: two queries for each project say
whether anything has changed (`candidates.fingerprint`), and only then a few more for each who
waits. No session and no thread is held meanwhile. Of those who could be given something no more are
told than there are comparisons for, the longest waiting first; the others have their turn a second
later.

`backend.api.stream` sends what `WaitingAnnotators.wait` yields; leases are granted elsewhere.
"""

import asyncio
import contextvars
import logging
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.pressure.open_streams import LIFETIME_S, PING, PING_S
from backend.pressure.permissions import Permission
from backend.store.data import candidates
from backend.store.data.candidates import Fingerprint
from backend.store.db import Database

log = logging.getLogger("podium.annotators")

LOOK_S = 1.0
# Of one project in one look; the rest has its turn in the next.
MOST_ASKED = 100
_BEGIN = b"retry: 2000\n\n"
_WORK = b"event: work\ndata: {}\n\n"


@dataclass(eq=False)
class _Waiting:
    """One annotator who waits in one project."""

    project_id: str
    user_id: str
    # What the project was like when there was nothing for this one; None: not asked yet.
    fingerprint: Fingerprint | None = None
    has_work: bool = False
    told: asyncio.Event = field(default_factory=asyncio.Event)


class WaitingAnnotators:
    """The annotators who wait for a comparison in this process; used in one event loop."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now
        self._thread = anyio.CapacityLimiter(1)
        # In the order in which they came.
        self._waiting: dict[_Waiting, None] = {}
        self._poller: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def n_open(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def close(self) -> None:
        """Let nobody wait any longer, so that the server can stop; call in the server's loop."""
        self._is_closed = True
        if self._poller is not None:
            self._poller.cancel()
        for one in self._waiting:
            one.told.set()

    async def wait(
        self, project_id: str, user_id: str, permission: Permission | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Server-sent events: one `work` when this annotator could be given a comparison, the end.

        It also ends with `permission` (None: it lasts), or after a quarter of an hour.
        """
        one = _Waiting(project_id, user_id)
        if permission is not None:
            permission.on_end = one.told.set
        ends_at = time.monotonic() + LIFETIME_S
        self._waiting[one] = None
        try:
            yield _BEGIN
            self._ensure_poller()
            while not self._is_closed and time.monotonic() < ends_at:
                try:
                    await asyncio.wait_for(one.told.wait(), PING_S)
                except TimeoutError:
                    yield PING
                    continue
                if one.has_work and (permission is None or await permission.holds()):
                    yield _WORK
                return
        finally:
            self._waiting.pop(one, None)
            if permission is not None:
                permission.end()

    def _ensure_poller(self) -> None:
        if self._poller is None or self._poller.done():
            # In a context of its own: it outlives the request that happens to start it.
            self._poller = asyncio.get_running_loop().create_task(
                self._look_again_and_again(), context=contextvars.Context()
            )

    async def _look_again_and_again(self) -> None:
        while self._waiting and not self._is_closed:
            try:
                found = await anyio.to_thread.run_sync(
                    self._look, list(self._waiting), limiter=self._thread
                )
            except SQLAlchemyError as error:
                log.warning("annotators.look_failed", extra={"error": type(error).__name__})
                found = []
            for one in found:
                one.has_work = True
                one.told.set()
                self._waiting.pop(one, None)
            await asyncio.sleep(LOOK_S)

    def _look(self, waiting: Sequence[_Waiting]) -> list[_Waiting]:
        """Find those who could be given a comparison now."""
        by_project = defaultdict(list)
        for one in waiting:
            by_project[one.project_id].append(one)
        with self._database.read() as session:
            return [one for each in by_project.values() for one in self._found(session, each)]

    def _found(self, session: Session, waiting: Sequence[_Waiting]) -> list[_Waiting]:
        """Find those of one project; whoever is not asked or told is asked at the next look."""
        project_id, at = waiting[0].project_id, self._now()
        fingerprint = candidates.fingerprint(session, project_id, at)
        unasked = [one for one in waiting if one.fingerprint != fingerprint]
        found: list[_Waiting] = []
        for one in unasked[:MOST_ASKED]:
            if len(found) >= fingerprint.n_grantable:
                break
            if candidates.left_for(session, project_id, one.user_id, at).available > 0:
                found.append(one)
            else:
                one.fingerprint = fingerprint
        return found
