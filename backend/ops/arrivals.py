"""New connections, which wait in the kernel until the headers of their first request are here.

A connection that is served costs a third of a millisecond and some kilobytes, one that waits here
next to nothing: whoever opens thousands and sends nothing, or half of a request, keeps nobody
waiting, neither those who are served nor who connects next.
"""

import asyncio
import logging
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from backend.ops import connections
from backend.ops.admission import Kind
from backend.ops.connections import Guard, Refusal

log = logging.getLogger("podium.server")

# Taken, or looked at, before others are served: 2 ms.
AT_ONCE = 64
# The next try where the process has no file left for another connection.
OUT_OF_FILES_S = 1.0
# Those that are late are ended so often, and so many at once.
CHECK_EVERY_S, ENDED_AT_ONCE = 0.1, 64
# What is longer than this without an end is for the parser, which knows the limits.
MOST_PEEKED = 8192

# macOS has no epoll: there a connection is served from its first moment.
HAS_EPOLL = hasattr(select, "epoll")
if HAS_EPOLL:
    _ENDED = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
    # Told once for all that has come: what is half here stays in the kernel.
    _HEARD = select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET


@dataclass(eq=False)
class _Arrival:
    """A connection that waits, since a time of the event loop."""

    arrivals: "Arrivals"
    connection: socket.socket
    address: str
    since: float
    kind: Kind = Kind.ARRIVING
    person: str | None = None
    is_waiting: bool = True
    # Not even one that has sent nothing: a byte is cheap for whoever opens thousands, and takes
    # long for somebody far away.
    is_idle: bool = False

    def end(self) -> None:
        """Close without an answer."""
        self.arrivals.end(self)


class Arrivals:
    """The connections of some listening sockets until they are served, in one event loop."""

    def __init__(self, guard: Guard, protocol: Callable[[], asyncio.Protocol]) -> None:
        """`protocol` makes what serves a connection; `guard` says how many there may be."""
        self._admission = guard.admission
        self._protocol = protocol
        self._listeners: Sequence[socket.socket] = ()
        # By file number, oldest first.
        self._waiting: dict[int, _Arrival] = {}
        self._served: set[asyncio.Task[object]] = set()
        self._poll = select.epoll() if HAS_EPOLL else None

    @property
    def n_waiting(self) -> int:
        """How many connections wait."""
        return len(self._waiting)

    def begin(self, listeners: Sequence[socket.socket]) -> None:
        """Take connections from now on."""
        self._loop = asyncio.get_running_loop()
        if self._poll is not None:
            self._loop.add_reader(self._poll.fileno(), self._look)
        self._listeners = listeners
        for listener in listeners:
            listener.setblocking(False)
            self._listen(listener)
        self._ending = self._loop.create_task(self._end_late())

    async def close(self) -> None:
        """Take no more, and end what waits; whoever owns the sockets closes them.

        Then each connection is served or ended: none comes to the server after it began to end.
        """
        for listener in self._listeners:
            self._loop.remove_reader(listener.fileno())
        self._ending.cancel()
        for arrival in list(self._waiting.values()):
            self.end(arrival)
        if self._poll is not None:
            self._loop.remove_reader(self._poll.fileno())
            self._poll.close()
        await asyncio.gather(*self._served, return_exceptions=True)

    def _listen(self, listener: socket.socket) -> None:
        if listener.fileno() >= 0:
            self._loop.add_reader(listener.fileno(), self._take, listener)

    def _take(self, listener: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                connection, peer = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionError:
                continue  # It has gone again.
            except OSError as error:
                log.warning("server.not_taken", extra={"error": str(error)})
                self._loop.remove_reader(listener.fileno())
                self._loop.call_later(OUT_OF_FILES_S, self._listen, listener)
                return
            connection.setblocking(False)
            self._admit(_Arrival(self, connection, str(peer[0]), self._loop.time()))

    def _admit(self, arrival: _Arrival) -> None:
        """Let a connection wait, or tell its client that there is none left."""
        self._waiting[arrival.connection.fileno()] = arrival
        if not self._admission.admit(arrival):
            self._refuse(arrival, connections.NO_CONNECTION)
        elif self._poll is None:
            self._serve(arrival)
        else:
            self._poll.register(arrival.connection, _HEARD)

    def _look(self) -> None:
        """Serve those whose headers are here, and end those who have gone."""
        found = [] if self._poll is None else self._poll.poll(0, AT_ONCE)
        for number, heard in found:
            arrival = self._waiting[number]
            head = _head_of(arrival.connection)
            if head is None:
                continue
            if _is_for_the_parser(head):
                self._serve(arrival)
            elif not head or heard & _ENDED:
                self.end(arrival)

    def _serve(self, arrival: _Arrival) -> None:
        self._forget(arrival)
        serving = self._loop.connect_accepted_socket(self._protocol, arrival.connection)
        task: asyncio.Task[object] = self._loop.create_task(serving)
        self._served.add(task)
        task.add_done_callback(self._served.discard)

    async def _end_late(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            try:
                self._end_some()
            except Exception:
                # One connection of thousands, which is forgotten by now: the others go on.
                log.exception("server.late_not_ended")

    def _end_some(self) -> None:
        for arrival in list(islice(self._waiting.values(), ENDED_AT_ONCE)):
            if self._loop.time() - arrival.since <= connections.HEADERS_S:
                break
            # After a pause of the process the rest of their headers may be here.
            if _is_for_the_parser(_head_of(arrival.connection) or b""):
                self._serve(arrival)
            else:
                self._refuse(arrival, connections.HEADERS_LATE, only_half=True)

    def _refuse(self, arrival: _Arrival, refusal: Refusal, *, only_half: bool = False) -> None:
        """End a connection with an answer; of `only_half` a silent one without a word."""
        try:
            with suppress(OSError):
                sent = b""
                with suppress(BlockingIOError):
                    # Unread, it would make the answer be lost.
                    sent = arrival.connection.recv(2 * MOST_PEEKED)
                if sent or not only_half:
                    arrival.connection.send(refusal.answer())
                    arrival.connection.shutdown(socket.SHUT_WR)
        finally:
            self.end(arrival)

    def end(self, arrival: _Arrival) -> None:
        """Close a connection that waits."""
        self._forget(arrival)
        arrival.connection.close()

    def _forget(self, arrival: _Arrival) -> None:
        number = arrival.connection.fileno()
        del self._waiting[number]
        self._admission.forget(arrival)
        if self._poll is not None:
            # One that is refused at once was never registered.
            with suppress(FileNotFoundError):
                self._poll.unregister(number)


def _head_of(connection: socket.socket) -> bytes | None:
    """What has come so far, nothing of a client that has gone; None: nothing yet."""
    try:
        return connection.recv(MOST_PEEKED, socket.MSG_PEEK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _is_for_the_parser(head: bytes) -> bool:
    """Whether a request's headers are here, or something that is no request or too long."""
    is_whole = b"\n\r\n" in head or b"\n\n" in head
    return is_whole or len(head) >= MOST_PEEKED or (head != b"" and not head[:1].isalpha())
