"""The API's side of the reading process: started when a large answer is wanted, ended with the API.

Python computes in one thread at a time, and a thread that reads many rows or encodes many numbers
keeps all small requests waiting. So such answers are made in another process, which gives way to
the API. Until it is ready, and where there is none, they are made in the API; while others ask, an
answer first waits a while for a process that starts.
"""

import logging
import socket
import threading
import time

from backend.errors import Unavailable, error_of
from backend.machine.child_process import ChildProcess
from backend.machine.unread import has_unread
from backend.reading import wire
from backend.reading.calls import Call, Made
from backend.store.db import Database, service_errors

log = logging.getLogger("podium.reading")

# One that failed to start is not tried again for so long.
START_AGAIN_S = 60.0
# After its start a process is waited for so long at most.
READY_WITHIN_S = 10.0


class Reader:
    """One process, asked by one thread at a time."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._lock = threading.Lock()
        self._process: ChildProcess | None = None
        self._is_ready = False
        self._is_closed = False
        self._not_before = 0.0
        self._started_at = 0.0

    @property
    def pid(self) -> int | None:
        """The pid of the process, if there is one."""
        process = self._process
        return None if process is None else process.pid

    def is_starting(self) -> bool:
        """Whether a process will be ready soon; if there is none, one is started."""
        if not self._lock.acquire(blocking=False):
            # Somebody asks it, or looks just now, as this does.
            return not self._is_ready
        try:
            is_ready = self._connection(starts=True) is not None
            is_late = time.monotonic() > self._started_at + READY_WITHIN_S
            return self._process is not None and not is_ready and not is_late
        finally:
            self._lock.release()

    def make(self, call: Call, *, is_large: bool = True) -> Made | None:
        """What the process makes of the call; None: it is not ready, so make it here.

        For a call that is not large no process is started, but one that is ready is asked. Raises
        what the function raises, and Unavailable if the process was killed meanwhile: what it died
        of, such as too little memory, must not reach the API.
        """
        with self._lock:
            connection = self._connection(starts=is_large)
            if connection is None:
                return None
            try:
                wire.send(connection, call.as_message())
                answer, body = wire.receive(connection)
            except (EOFError, OSError):
                if self._ended() == 0:
                    # It had nothing to do for long, and has gone before it was asked.
                    return None
                raise Unavailable(
                    "the process that makes large answers has ended",
                    advice="Try again in a moment, or ask for less at once; the service's log "
                    "(api.log) may say why.",
                    retry_after_s=1,
                ) from None
        if "error" in answer:
            raise error_of(answer["error"])
        return Made(answer["facts"], body)

    def close(self) -> None:
        """End the process; what it is making is not waited for."""
        self._is_closed = True
        process = self._process
        if process is not None:
            # Whoever waits for an answer gives the lock back.
            process.shut_down_socket()
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._ended()

    def _connection(self, *, starts: bool) -> socket.socket | None:
        """The socket if the process is ready; if there is none, it may be started."""
        if self._process is not None and not self._process.lives():
            self._ended()
        if self._process is None and starts:
            self._start()
        if self._process is None:
            return None
        connection = self._process.socket
        if not self._is_ready and has_unread(connection):
            try:
                wire.receive(connection)
            except EOFError:
                self._ended()
                return None
            self._is_ready = True
        return connection if self._is_ready else None

    def _start(self) -> None:
        if self._is_closed or time.monotonic() < self._not_before:
            return
        try:
            self._process = ChildProcess("backend.ops.reading")
            self._started_at = time.monotonic()
            wire.send(self._process.socket, {"database_url": self._database_url})
        except OSError as error:
            # As where memory or processes have run out: answers are made in the API.
            log.warning("reading.not_started error=%s", error)
            self._not_before = time.monotonic() + START_AGAIN_S

    def _ended(self) -> int:
        """Forget the process, which has ended or is ending; its exit code."""
        assert self._process is not None
        code = self._process.end()
        if code and not self._is_closed:
            log.warning("reading.ended code=%d was_ready=%s", code, self._is_ready)
            if not self._is_ready:
                self._not_before = time.monotonic() + START_AGAIN_S
        self._process = None
        self._is_ready = False
        return code


def made(database: Database, reader: Reader | None, call: Call, *, is_large: bool = True) -> Made:
    """What the call makes: in the process if it is ready, else here."""
    there = None if reader is None else reader.make(call, is_large=is_large)
    if there is not None:
        return there
    with service_errors(), database.read() as session:
        return call.made(session)
