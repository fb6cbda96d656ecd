"""Traces of what changes nothing: failed sign-ins, refusals, exports, reads of others' judgments.

Routes and error handlers add them without waiting; once a second they become audit lines, equal
ones together, in short transactions. What was typed is never among them. Who reads or exports is
told for each object, whatever else comes that second: nobody hides a read among refusals.

Whoever shows no valid credentials can be anybody and ask for ever, and no line can be removed: of
all of them together a few lines a minute are written.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from backend.domain.operations import OPERATIONS, Of
from backend.errors import ServiceError
from backend.store.db import Database
from backend.store.people import audit
from backend.store.people.audit import Said
from backend.traces.repeating import repeated

log = logging.getLogger("podium.traces")

WRITE_EVERY_S = 1.0
# Different refusals of one user in a second; further ones are counted together by operation and
# status.
MOST_REFUSALS = 100
# Of all whom nobody knows, different refusals of a minute; further ones are counted together by
# status, and by operation where anybody may use it.
MOST_UNKNOWN = 20
UNKNOWN_EVERY_S = 60.0
# Lines of one transaction.
_AT_ONCE = 500
DONE = "done"
NO_OBJECT = "-"
SEVERAL = "several"


class Trace(NamedTuple):
    """Who asked for which operation on what, from where, and how it ended.

    `outcome`: "done", or the status of the refusal.
    """

    user_id: str | None
    action: str
    object_id: str
    address: str
    outcome: str


class Traces:
    """The traces of one process that are not written yet."""

    def __init__(
        self,
        database: Database,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._now = now
        self._clock = clock
        self._counts: Counter[Trace] = Counter()
        # By user, how many different refusals are among them.
        self._refusals: Counter[str | None] = Counter()
        # Those of senders whom nobody knows, and when they are written at the earliest.
        self._unknown: Counter[Trace] = Counter()
        self._unknown_due_at = clock()
        self._lock = threading.Lock()
        # Whoever calls `write` returns after what another thread is writing, too.
        self._writing = threading.Lock()

    def add(self, trace: Trace) -> None:
        """Count one."""
        with self._lock:
            self._count(trace, 1)

    def _count(self, trace: Trace, times: int) -> None:
        if trace.user_id is None:
            self._count_unknown(trace, times)
            return
        if trace not in self._counts and trace.outcome != DONE:
            if self._refusals[trace.user_id] >= MOST_REFUSALS:
                trace = trace._replace(object_id=NO_OBJECT, address=SEVERAL)
            else:
                self._refusals[trace.user_id] += 1
        self._counts[trace] += times

    def _count_unknown(self, trace: Trace, times: int) -> None:
        if trace not in self._unknown and len(self._unknown) >= MOST_UNKNOWN:
            trace = trace._replace(
                action=trace.action if _is_for_anybody(trace.action) else SEVERAL,
                object_id=NO_OBJECT,
                address=SEVERAL,
            )
        self._unknown[trace] += times

    def write(self) -> None:
        """Add a line for each kind of trace since the last time; nothing if there was none.

        What cannot be written stays, and is counted with what comes until the next time.
        """
        with self._writing:
            self._write_counted(has_unknown=True)

    def write_due(self) -> None:
        """The same, but for senders whom nobody knows if it is not a minute since their last."""
        with self._writing:
            self._write_counted(has_unknown=self._clock() >= self._unknown_due_at)

    def _write_counted(self, *, has_unknown: bool) -> None:
        left = self._taken(has_unknown=has_unknown)
        try:
            while left:
                self._record(left[:_AT_ONCE])
                del left[:_AT_ONCE]
        except BaseException:
            with self._lock:
                for trace, times in left:
                    self._count(trace, times)
            raise

    def _taken(self, *, has_unknown: bool) -> list[tuple[Trace, int]]:
        with self._lock:
            taken = list(self._counts.items())
            self._counts.clear()
            self._refusals.clear()
            if has_unknown and self._unknown:
                taken += self._unknown.items()
                self._unknown.clear()
                self._unknown_due_at = self._clock() + UNKNOWN_EVERY_S
            return taken

    def _record(self, counts: Sequence[tuple[Trace, int]]) -> None:
        said = [
            Said(
                trace.user_id,
                trace.action,
                trace.object_id,
                {"outcome": trace.outcome, "address": trace.address, "count": count},
            )
            for trace, count in counts
        ]
        with self._database.write(by="traces") as session:
            audit.record_lines(session, said, request_id=None, at=self._now())

    @asynccontextmanager
    async def written(self) -> AsyncIterator[None]:
        """Write what comes while the block runs, and the rest at its end."""
        try:
            async with repeated(lambda: self._try(self.write_due), every_s=WRITE_EVERY_S):
                yield
        finally:
            self._try(self.write)

    def _try(self, write: Callable[[], None]) -> None:
        try:
            write()
        except (ServiceError, SQLAlchemyError) as error:
            log.warning("traces.not_written error=%s", type(error).__name__)


def _is_for_anybody(action: str) -> bool:
    operation = OPERATIONS.get(action)
    return operation is not None and operation.of is Of.NOBODY
