"""The connections to the API, guarded where ASGI sees nothing: slow, half-sent and too many.

`backend.ops.serve` makes one `Guard` and gives it to uvicorn as its HTTP protocol. It knows no
routes; the application tells it only on which connections valid credentials were shown.
"""

import asyncio
import json
import logging
import resource
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from backend.machine.unread import has_unread
from backend.ops.admission import MOST_CONNECTIONS, Admission, Kind
from backend.pressure.permissions import NoLongerPermitted
from backend.pressure.turns import client_has_left
from backend.pressure.visitors import Connection, Network

log = logging.getLogger("podium.server")

# From the first byte of a request, or the opening of the connection, to the end of the headers.
HEADERS_S = 10.0
# From an answer to the next request. Clients and proxies throw a connection away that idles for so
# long, most after less than a minute: one that sends when the server closes cannot know what became
# of its request. Where connections are needed, those that idle end before others of their kind.
KEEP_ALIVE_S = 75
# Of a body, over a window; time in which the application does not read does not count. What is
# larger has a place that others wait for: 128 MiB have less than two hours.
SLOWEST_BYTES_PER_S = 1000
LARGE_BODY_BYTES, SLOWEST_LARGE_BYTES_PER_S = 1 << 20, 20_000
WINDOW_S = 5.0
# After an answer that came before the end of the body, the rest is thrown away for so long.
DRAIN_S = 5.0
# One piece of such a rest (at most 256 KiB) is read by the whole server in this time: whoever sends
# bodies that are refused keeps it from nothing else.
DRAIN_EVERY_S = 0.01
# A client that takes nothing of its answer for so long has gone without a word.
STALL_S = 60.0

# Of a request's line and headers; also of bytes in a row that belong to no body, such as trailers.
MOST_HEADER_BYTES = 1 << 16
# Requests that may wait on one connection for the answer to the one before.
MOST_QUEUED = 16

CHECK_EVERY_S = 0.5
# Looked at, and ended, before others are served: ending one takes a tenth of a millisecond, looking
# at one a hundredth of that.
CHECKED_AT_ONCE, ENDED_AT_ONCE = 256, 8
PAUSE_S = 0.005
# File descriptors for all that is no connection: database, logs, artifacts, uploads.
RESERVED_FILES = 256


class Guard:
    """All connections of one server."""

    def __init__(self, most: int, trusted: Sequence[Network] = ()) -> None:
        """`most` connections at once; those from `trusted` proxies are many people's."""
        self.admission = Admission(most, trusted)
        # Those that are served. The values have no meaning: a set would lose the order.
        self._all: dict[Guarded, None] = {}
        self._drained: deque[Guarded] = deque()

    def protocol(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> "Guarded":
        """The protocol of a new connection, as uvicorn asks for it."""
        return Guarded(self, config, server_state, app_state, _loop)

    async def watch(self) -> None:
        """End what is too slow, for as long as the server lives."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            n_checked = n_ended = 0
            for connection in list(self._all):
                n_checked, n_ended = n_checked + 1, n_ended + connection.check()
                if n_checked >= CHECKED_AT_ONCE or n_ended >= ENDED_AT_ONCE:
                    n_checked = n_ended = 0
                    await asyncio.sleep(PAUSE_S)

    @property
    def n(self) -> int:
        """How many connections are served."""
        return len(self._all)

    def admit(self, connection: "Guarded") -> None:
        """Serve a new connection, or tell its client that there is none left."""
        self._all[connection] = None
        if not self.admission.admit(connection):
            connection.refuse(NO_CONNECTION)

    def drain(self, connection: "Guarded") -> None:
        """Let a connection whose answer is sent read the next piece of its body, in its turn."""
        self._drained.append(connection)
        if len(self._drained) == 1:
            connection.loop.call_later(DRAIN_EVERY_S, self._drain_one)

    def _drain_one(self) -> None:
        connection = self._drained.popleft()
        if not connection.transport.is_closing():
            connection.flow.resume_reading()
        if self._drained:
            connection.loop.call_later(DRAIN_EVERY_S, self._drain_one)

    def forget(self, connection: "Guarded") -> None:
        """A connection has ended."""
        self._all.pop(connection, None)
        self.admission.forget(connection)


class Refusal(NamedTuple):
    """What a client is told before its connection ends."""

    status: HTTPStatus
    detail: str
    advice: str

    def answer(self) -> bytes:
        """Encode the refusal as an HTTP response with a problem document."""
        problem = {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
            "advice": self.advice,
            # The application, which gives requests their ids, has not seen this one.
            "request_id": None,
        }
        body = json.dumps(problem).encode()
        is_passing = self.status == HTTPStatus.SERVICE_UNAVAILABLE
        head = [
            f"HTTP/1.1 {int(self.status)} {self.status.phrase}",
            "Content-Type: application/problem+json",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *(["Retry-After: 1"] if is_passing else []),
        ]
        return "\r\n".join([*head, "", ""]).encode() + body


class _NotServed(Exception):
    """A request that the parser would take and we do not."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal


_TOO_LONG = Refusal(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    f"the address and the headers of the request have more than {MOST_HEADER_BYTES} bytes",
    "Send fewer or shorter headers.",
)
_NOT_ONE_HOST = Refusal(
    HTTPStatus.BAD_REQUEST,
    "the request has no Host header or several; HTTP/1.1 expects one",
    "Send one Host header.",
)
_TOO_MANY = Refusal(
    HTTPStatus.BAD_REQUEST,
    f"more than {MOST_QUEUED} requests wait on one connection",
    "Wait for answers, or use several connections.",
)
_NO_HTTP = Refusal(
    HTTPStatus.BAD_REQUEST,
    "what was received is not a valid HTTP/1.1 request",
    "Send it with a client that speaks HTTP/1.1.",
)
HEADERS_LATE = Refusal(
    HTTPStatus.REQUEST_TIMEOUT,
    f"the headers of the request did not come within {HEADERS_S:.0f} s",
    "Send the request again.",
)
NO_CONNECTION = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "the service has no connection left",
    "Try again in a moment, or close connections that you do not use.",
)


def _slow_body(least: int) -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_TIMEOUT,
        f"the body came slower than {least} bytes per second",
        "Send the request again over a better connection.",
    )


def _has_unread(transport: asyncio.Transport) -> bool:
    """Whether bytes have come, or the end, that the loop has not read yet."""
    own = transport.get_extra_info("socket")
    if own is None or own.fileno() < 0:
        return False
    return has_unread(own)


class Guarded(HttpToolsProtocol):
    """One connection; uvicorn's protocol, which waits for slow clients for ever, with deadlines.

    Requests are answered one by one: what comes while a whole request waits for its answer is kept
    unread, but for the requests that came in one piece with it.
    """

    def __init__(
        self,
        guard: Guard,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.known = Connection(on_change=lambda: guard.admission.recount(self))
        self.address = "local"
        self._guard = guard
        self._wrapped = self.app
        self.app = self._serve
        self._has_left: asyncio.Future[None] = self.loop.create_future()
        # The request that is being answered, or was answered last; `cycle` is the newest one.
        self._active: RequestResponseCycle | None = None
        self._is_in_body = False
        self._held = b""
        # Nothing more is read: what came is no HTTP, or another protocol.
        self._is_ended = False
        # When what is waited for now began: headers, a part of a body, its rest, a reader.
        self._headers_since: float | None = None
        self._has_bytes = False
        self._window: tuple[float, int] | None = None
        self._n_received = 0
        self._n_body_bytes = 0
        self._n_idle_bytes = 0
        self._draining_since: float | None = None
        self._stalled_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else "local"
        self._headers_since = self.loop.time()
        self._guard.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client, or we, have closed the connection."""
        self._guard.forget(self)
        if not self._has_left.done():
            self._has_left.set_result(None)
        self._is_ended = True
        self._disconnect()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse some bytes of a request, or hold them back while an answer is being made."""
        self._n_received += len(data)
        if not self._is_ended and not self._is_answering:
            self._parse(data)
            return
        if not self._is_ended:
            self._held += data
        self.flow.pause_reading()

    def _parse(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._n_idle_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Answered as HTTP; what follows is in a protocol that nobody here speaks.
            self._end_after_answers()
        except httptools.HttpParserError as error:
            found = error.__context__
            self._end(found.refusal if isinstance(found, _NotServed) else _NO_HTTP)
        else:
            if self._n_idle_bytes > MOST_HEADER_BYTES:
                self._end(_TOO_LONG)
        self._slow_down()

    def timeout_keep_alive_handler(self) -> None:
        """No request came in time; one that lies unread has come, and is read next.

        After a pause of the process the loop runs timers before it reads. The client could not know
        whether a request that it had sent by then was answered.
        """
        if self.flow.read_paused or not _has_unread(self.transport):
            super().timeout_keep_alive_handler()

    def on_message_begin(self) -> None:
        """The parser has met the first byte of a request."""
        if len(self.pipeline) >= MOST_QUEUED:
            raise _NotServed(_TOO_MANY)
        super().on_message_begin()
        self._unset_keepalive_if_required()
        self._has_bytes = True
        self._headers_since = self.loop.time()

    def on_headers_complete(self) -> None:
        """The parser has met the end of the headers."""
        _check_head(self.url, self.headers, self.parser.get_http_version())
        self._headers_since = None
        self._has_bytes = False
        self._n_idle_bytes = 0
        self._is_in_body = True
        self._n_body_bytes = 0
        super().on_headers_complete()
        # Trailers, which nobody reads, would be added to headers that were checked.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """The parser has met a part of the body."""
        self._n_idle_bytes = 0
        self._n_body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The parser has met the end of a request."""
        self._n_idle_bytes = 0
        self._is_in_body = False
        super().on_message_complete()
        if self._is_answered and not self.transport.is_closing():
            # The clock that began with the answer has stopped at the rest of the body.
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_response_complete(self) -> None:
        """The answer is sent, the request perhaps not."""
        if self._active is not None:
            # What nobody has read of its body would stay for as long as the connection idles.
            self._active.body = bytearray()
        super().on_response_complete()
        if self._held and not self._is_answering and not self.transport.is_closing():
            held, self._held = self._held, b""
            self._parse(held)
        self._slow_down()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._active = cycle
        super()._start_asgi_task(cycle, app)

    def _end(self, refusal: Refusal) -> None:
        """Answer what was received whole before, then refuse."""
        if self._is_answering:
            self._end_after_answers()
        else:
            self.refuse(refusal)

    def _end_after_answers(self) -> None:
        self._is_ended = True
        if self.pipeline and self.pipeline[0][0].more_body:
            self.pipeline.popleft()
        last = self.pipeline[0][0] if self.pipeline else self._active
        if last is not None:
            last.keep_alive = False

    def _slow_down(self) -> None:
        """Read what is left of an answered request piece by piece."""
        is_draining = self._is_answered and self._is_in_body
        if is_draining and not self.flow.read_paused and not self.transport.is_closing():
            self.flow.pause_reading()
            self._guard.drain(self)

    @property
    def _is_answered(self) -> bool:
        """Whether there was a request, and the newest one is answered."""
        return self._active is not None and self._active.response_complete

    @property
    def _is_answering(self) -> bool:
        """Whether a request is here whole and its answer is not yet sent."""
        active = self._active
        return active is not None and not active.response_complete and not active.more_body

    @property
    def is_waiting(self) -> bool:
        """Whether nothing is lost if this connection ends: no request is here whole."""
        return not self._is_answering

    @property
    def is_idle(self) -> bool:
        """Whether it waits, and nothing has come of the next request."""
        is_sending = self._is_in_body or self._has_bytes
        return self.is_waiting and not is_sending and not _has_unread(self.transport)

    @property
    def person(self) -> str | None:
        """The user who has shown valid credentials on it last."""
        return self.known.person

    @property
    def kind(self) -> Kind:
        """The kind of its client: known or a stranger."""
        return Kind.STRANGER if self.person is None else Kind.KNOWN

    def end(self) -> None:
        """Close without an answer."""
        self.transport.abort()

    def check(self) -> bool:
        """End the connection if the client is too slow; whether it was ended now."""
        now = self.loop.time()
        if self.transport.is_closing():
            return False
        if self._is_stalled(now):
            self.transport.abort()
            return True
        is_in_body = self._is_in_body and not self._is_answering
        if is_in_body:
            self._check_body(now)
        else:
            self._window = self._draining_since = None
            if not self._is_answering:
                self._check_headers(now)
        return self.transport.is_closing()

    def refuse(self, refusal: Refusal) -> None:
        """Close, with an answer where none has begun."""
        if self.transport.is_closing():
            return
        self._is_ended = True
        active = self._active
        has_begun = active is not None and active.response_started and not self._is_answered
        is_late = self._is_answered and self._is_in_body
        if not has_begun and not is_late:
            self.transport.write(refusal.answer())
        self._disconnect()
        self.transport.close()

    def _disconnect(self) -> None:
        """Send nothing that the application says from now on."""
        active = self._active
        if active is not None and not active.response_complete:
            active.disconnected = True
            active.message_event.set()

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        scope["podium.connection"] = self.known
        client_has_left.set(self._has_left)
        try:
            await self._wrapped(scope, receive, send)
        except NoLongerPermitted:
            # Without the last chunk: the client sees that the answer is not whole.
            self._disconnect()
            self.transport.close()

    def _check_headers(self, now: float) -> None:
        if self.timeout_keep_alive_task is not None and not self._has_bytes:
            return  # Nothing has come since the last answer, and `KEEP_ALIVE_S` counts.
        if self._headers_since is None:
            self._headers_since = now
        elif now - self._headers_since > HEADERS_S:
            if self._has_bytes:
                self.refuse(HEADERS_LATE)
            else:
                self.transport.close()

    def _check_body(self, now: float) -> None:
        if self._is_answered:
            self._draining_since = self._draining_since or now
            if now - self._draining_since > DRAIN_S:
                self.transport.close()
            return
        is_paused = self.flow.read_paused or self.cycle.waiting_for_100_continue
        if self._window is None or is_paused:
            self._window = (now, self._n_received)
            return
        since, n_before = self._window
        if now - since < WINDOW_S:
            return
        is_large = self._n_body_bytes > LARGE_BODY_BYTES
        least = SLOWEST_LARGE_BYTES_PER_S if is_large else SLOWEST_BYTES_PER_S
        if self._n_received - n_before < least * (now - since):
            self.refuse(_slow_body(least))
        self._window = (now, self._n_received)

    def _is_stalled(self, now: float) -> bool:
        if not self.flow.write_paused:
            self._stalled_since = None
            return False
        self._stalled_since = self._stalled_since or now
        return now - self._stalled_since > STALL_S


def _check_head(url: bytes, headers: Sequence[tuple[bytes, bytes]], version: str) -> None:
    """Raises _NotServed for a head that is too long, and for one of HTTP/1.1 without one host."""
    if len(url) + sum(len(name) + len(value) for name, value in headers) > MOST_HEADER_BYTES:
        raise _NotServed(_TOO_LONG)
    n_hosts = sum(name == b"host" for name, _ in headers)
    if n_hosts > 1 or (n_hosts == 0 and version != "1.0"):
        raise _NotServed(_NOT_ONE_HOST)


def raise_file_limit() -> int:
    """Let the process open as many files as it may; how many connections that leaves."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        except (OSError, ValueError):
            log.warning("server.file_limit", extra={"files": soft})
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(16, min(MOST_CONNECTIONS, soft - RESERVED_FILES))
