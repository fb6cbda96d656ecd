"""The process that does jobs, one after another: `python -m backend.jobs.child FD`.

Started by `backend.jobs.children`, which holds the other end of the socket FD. It ends when that
end is closed, which the kernel does whatever the API died of, when nobody has asked it for a while,
and after a job that took much memory.
"""

import gc
import importlib
import logging
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.machine import garbage

garbage.begin_loading()

from backend.errors import ServiceError, error_message
from backend.jobs.kinds import KINDS
from backend.jobs.messages import Message, Unpacker, packed, unexpected
from backend.jobs.work import JSON, Cancelled, Work
from backend.settings import Settings
from backend.store.db import MOST_OF_A_CHILD, Database, service_errors

garbage.end_loading()

log = logging.getLogger("podium.jobs")

IDLE_S = 300.0
# Python gives memory back to the system only when it ends.
MOST_KEPT_BYTES = 256 * 2**20
_SAY_EVERY_S = 0.2
# The API answers people; work that nobody looks at gives way to it.
_NICENESS = 5
_PIECE = 1 << 16


class _Job:
    """One job; its work function sees it as a `Work`."""

    def __init__(self, order: Message, database: Database, say: Callable[[Message], None]) -> None:
        self.job_id: str = order["job_id"]
        self.arguments: dict[str, JSON] = order["arguments"]
        self.settings = Settings(**order["settings"])
        self.database = database
        self.is_cancelled = threading.Event()
        self._say = say
        self._said_at = 0.0

    def progress(self, done: int, total: int | None) -> None:
        """Say how far it is."""
        now = time.monotonic()
        if now - self._said_at >= _SAY_EVERY_S or done == total:
            self._said_at = now
            self._say({"progress": [done, total]})

    def check(self) -> None:
        """Raise Cancelled if the work is not wanted any more."""
        if self.is_cancelled.is_set():
            raise Cancelled


class Child:
    """The child's side of the socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._orders: queue.Queue[Message] = queue.Queue()
        self._job: _Job | None = None
        self._cancelled: set[str] = set()
        self._database: Database | None = None

    def serve(self, idle_s: float = IDLE_S) -> None:
        """Do what is ordered, until nothing was for `idle_s` seconds or too much memory is kept."""
        threading.Thread(target=self._listen, daemon=True).start()
        while _kept_bytes() < MOST_KEPT_BYTES:
            try:
                order = self._orders.get(timeout=idle_s)
            except queue.Empty:
                return
            self._say({"begun": order["job_id"]})
            self._say(self._done(order))

    def _listen(self) -> None:
        unpacker = Unpacker()
        try:
            while piece := self._socket.recv(_PIECE):
                for message in unpacker.take(piece):
                    if "begin" in message:
                        self._orders.put(message["begin"])
                    else:
                        self._cancel(message["cancel"])
        finally:
            # The API is gone: what is half done is cleared away by the next one.
            os._exit(0)

    def _cancel(self, job_id: str) -> None:
        self._cancelled.add(job_id)
        job = self._job
        if job is not None and job.job_id == job_id:
            job.is_cancelled.set()

    def _done(self, order: Message) -> Message:
        """Do an order; return its result or error as a message."""
        try:
            job = _Job(order, self._opened(order["settings"]), self._say)
            self._job = job
            # It may have been cancelled before the line above.
            if job.job_id in self._cancelled:
                return {"cancelled": True}
            with service_errors():
                return {"result": _function(order["kind"])(job)}
        except Cancelled:
            return {"cancelled": True}
        except ServiceError as error:
            return {"error": error_message(error)}
        except Exception:
            log.exception("job.failed job_id=%s kind=%s", order["job_id"], order["kind"])
            return {"error": error_message(unexpected(order["job_id"]))}
        finally:
            self._job = None

    def _opened(self, settings: dict[str, Any]) -> Database:
        url = Settings(**settings).sqlalchemy_url
        if self._database is None or self._database.url != url:
            if self._database is not None:
                self._database.close()
            self._database = Database(url, idle_connections=MOST_OF_A_CHILD)
        return self._database

    def _say(self, message: Message) -> None:
        self._socket.sendall(packed(message))


def _kept_bytes() -> int:
    """The memory that this process has now; what `getrusage` says may be its parent's."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 0


def _function(kind: str) -> Callable[[Work], dict[str, JSON]]:
    module, _, name = KINDS[kind].partition(":")
    function: Callable[[Work], dict[str, JSON]] = getattr(importlib.import_module(module), name)
    return function


def main(file_descriptor: int) -> None:
    """Serve the socket that this process was started with."""
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
    os.nice(_NICENESS)
    gc.freeze()
    Child(socket.socket(fileno=file_descriptor)).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]))
