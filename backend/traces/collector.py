"""Traces of what changes nothing: failed sign-ins, refusals, exports, reads of others' judgments.

Routes and error handlers add them without waiting; once a second they become audit lines, equal
ones together, in one short transaction. What was typed is never among them. Who reads or exports is
told for each object, whatever else comes that second: nobody hides a read among refusals.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from backend.errors import ServiceError
from backend.store.db import Database
from backend.store.people import audit
from backend.traces.repeating import repeated

log = logging.getLogger("podium.traces")

WRITE_EVERY_S = 1.0
# Different refusals of one user in a second, or of all whom nobody knows; further ones are counted
# together by operation and status.
MOST_REFUSALS = 100
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

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now
        self._counts: Counter[Trace] = Counter()
        # By user, how many different refusals are among them.
        self._refusals: Counter[str | None] = Counter()
        self._lock = threading.Lock()
        # Whoever calls `write` returns after what another thread is writing, too.
        self._writing = threading.Lock()

    def add(self, trace: Trace) -> None:
        """Count one."""
        with self._lock:
            self._count(trace, 1)

    def _count(self, trace: Trace, times: int) -> None:
        if trace not in self._counts and trace.outcome != DONE:
            if self._refusals[trace.user_id] >= MOST_REFUSALS:
                trace = trace._replace(object_id=NO_OBJECT, address=SEVERAL)
            else:
                self._refusals[trace.user_id] += 1
        self._counts[trace] += times

    def write(self) -> None:
        """Add a line for each kind of trace since the last time; nothing if there was none.

        What cannot be written stays, and is counted with what comes until the next time.
        """
        with self._writing:
            self._write_counted()

    def _write_counted(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, Counter()
            self._refusals.clear()
        if not counts:
            return
        try:
            self._record(counts)
        except BaseException:
            with self._lock:
                for trace, times in counts.items():
                    self._count(trace, times)
            raise

    def _record(self, counts: Counter[Trace]) -> None:
        with self._database.write(by="traces") as session:
            for trace, count in counts.items():
                audit.record(
                    session,
                    user_id=trace.user_id,
                    action=trace.action,
                    object_id=trace.object_id,
                    data={"outcome": trace.outcome, "address": trace.address, "count": count},
                    request_id=None,
                    at=self._now(),
                )

    def written(self) -> AbstractAsyncContextManager[None]:
        """Write what comes while the block runs, and the rest at its end."""
        return repeated(self._try_to_write, every_s=WRITE_EVERY_S)

    def _try_to_write(self) -> None:
        try:
            self.write()
        except (ServiceError, SQLAlchemyError) as error:
            log.warning("traces.not_written error=%s", type(error).__name__)
