"""Connections of clients that are slow, silent or many, against the real server."""

import asyncio
import json
import os
import re
import resource
import select
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from backend import auth
from backend.ops import admission, arrivals, connections, serve
from backend.ops.admission import Kind
from backend.ops.arrivals import Arrivals
from backend.ops.connections import Guard, Refusal
from backend.ops.listening import url_of
from backend.settings import Settings
from backend.store.db import Database
from tests.processes import wait_until

# Short, so that a test need not wait as long as a slow client may.
HEADERS_S = 1.0
WINDOW_S = 0.5
MOST = 12
PATIENCE_S = 30.0

HALF = b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX-"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Served:
    """The server of production in a thread of this process, with short times."""

    def __init__(self, settings: Settings, most: int) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.url = url_of(self.listener)
        self.key_file = settings.data_dir / "admin.key"
        self.server = serve.server_of(settings, most_connections=most)
        self._thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )
        self._thread.start()
        httpx.get(f"{self.url}/healthz", timeout=60, verify=False).raise_for_status()
        self.wait_until_empty()

    @property
    def guard(self) -> Guard:
        guard: Guard = self.server._guard  # type: ignore[attr-defined]
        return guard

    @property
    def arrivals(self) -> Arrivals:
        found: Arrivals = self.server._arrivals  # type: ignore[attr-defined]
        return found

    @property
    def n(self) -> int:
        """How many connections wait or are served."""
        return self.guard.admission.n

    def n_of(self, address: str, text: bytes) -> int:
        """How many connections of an address there are of the kind of those that sent this."""
        kind = Kind.ARRIVING if text == HALF else Kind.STRANGER
        return self.guard.admission.n_of(kind, address)

    @property
    def key(self) -> str:
        return self.key_file.read_text().strip()

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def annotator(self) -> tuple[str, str]:
        """Somebody without rights: the id and a key."""
        base = f"{self.url}/api/v1"
        with httpx.Client(
            base_url=base, headers=self.headers, timeout=PATIENCE_S, verify=False
        ) as admin:
            user = admin.post("/users", json={"name": "A", "role": "annotator"}).json()["id"]
            key = admin.post(f"/users/{user}/keys", json={"name": "k"}).json()["key"]
        self.wait_until_empty()
        return user, key

    def show(self, connection: socket.socket, key: str) -> int:
        """Show a key on a connection, which stays open; the status of the answer."""
        asked = "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
        connection.sendall((asked % key).encode())
        answer = HTTPResponse(connection)
        answer.begin()
        answer.read()
        return answer.status

    def wait_until_empty(self) -> None:
        wait_until(lambda: self.n == 0, "the connections of others have ended")

    def connect(self, text: bytes = b"") -> socket.socket:
        """A connection on which some bytes were sent."""
        connection = socket.create_connection(self.listener.getsockname(), timeout=PATIENCE_S)
        connection.sendall(text)
        return connection

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.fixture
def served(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(connections, "HEADERS_S", HEADERS_S)
    monkeypatch.setattr(connections, "WINDOW_S", WINDOW_S)
    monkeypatch.setattr(connections, "DRAIN_S", WINDOW_S)
    monkeypatch.setattr(connections, "STALL_S", WINDOW_S)
    settings = Settings(data_dir=tmp_path / "data", database_url=sqlite_url, min_free_gb=0)
    served = Served(settings, MOST)
    yield served
    served.stop()


@pytest.fixture
def patient(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The same, where connections that wait stay for longer than a test lasts."""
    monkeypatch.setattr(connections, "HEADERS_S", PATIENCE_S)
    served.server.config.timeout_keep_alive = int(PATIENCE_S)
    return served


def rest_of(connection: socket.socket) -> bytes:
    """All that the server sends before it closes."""
    text = b""
    try:
        while part := connection.recv(65536):
            text += part
    except ConnectionResetError:
        pass
    connection.close()
    return text


def is_ended(connection: socket.socket) -> bool:
    """Whether the server ends the connection without a word."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


SLOW_BODY = (
    b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 5000\r\n\r\n{"
)


def is_taken(connection: socket.socket, text: bytes) -> bool:
    """Whether the other end still takes what is sent."""
    try:
        connection.sendall(text)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def test_a_request_that_has_come_is_answered_though_the_time_for_it_is_over(
    patient: Served,
) -> None:
    connection = patient.connect(WHOLE)
    first = HTTPResponse(connection)
    first.begin()
    first.read()
    (protocol,) = list(patient.guard._all)
    own = protocol.transport.get_extra_info("socket")

    def stand_still_until_it_is_late() -> None:
        connection.sendall(WHOLE)
        while not select.select([own.fileno()], [], [], 1)[0]:
            pass
        protocol.timeout_keep_alive_handler()

    protocol.loop.call_soon_threadsafe(stand_still_until_it_is_late)
    second = HTTPResponse(connection)
    second.begin()
    assert second.status == 200
    second.read()
    # One that sends nothing is closed.
    protocol.loop.call_soon_threadsafe(protocol.timeout_keep_alive_handler)
    assert is_ended(connection)
    connection.close()


def test_a_connection_idles_for_longer_than_headers_may_take(served: Served) -> None:
    connection = served.connect()
    assert served.show(connection, served.key) == 200
    time.sleep(HEADERS_S + 3 * connections.CHECK_EVERY_S)
    assert served.show(connection, served.key) == 200
    connection.close()


def test_a_connection_idles_as_long_after_an_answer_that_came_before_the_end_of_the_body(
    served: Served,
) -> None:
    head = b"POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
    connection = served.connect(head)
    answer = HTTPResponse(connection)
    answer.begin()
    assert answer.status == 401
    answer.read()
    connection.sendall(b"x" * 9)
    time.sleep(HEADERS_S + 3 * connections.CHECK_EVERY_S)
    assert served.show(connection, served.key) == 200
    connection.close()


def test_a_connection_that_sends_or_is_answered_does_not_idle(patient: Served) -> None:
    def is_idle(text: bytes) -> bool:
        """Whether the only connection idles when it has sent this, and has been asked for more."""
        (protocol,) = list(patient.guard._all)
        before = protocol._n_received
        connection.sendall(text)
        wait_until(lambda: protocol._n_received == before + len(text), "the bytes have come")
        return protocol.is_idle

    connection = patient.connect()
    assert patient.show(connection, patient.key) == 200
    wait_until(lambda: all(one.is_idle for one in patient.guard._all), "the connection idles")
    assert not is_idle(b"POST /api/v1/session HTTP/1.1\r\n")
    assert not is_idle(b"Host: localhost\r\nContent-Length: 9\r\n\r\n")
    assert not is_idle(b"{")
    connection.close()


def test_a_connection_that_idles_keeps_no_body_that_nobody_has_read(patient: Served) -> None:
    head = b"POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n"
    connection = patient.connect(head + b"x" * 20_000)
    answer = HTTPResponse(connection)
    answer.begin()
    assert answer.status == 401
    answer.read()
    wait_until(lambda: all(one.is_idle for one in patient.guard._all), "the connection idles")
    (protocol,) = list(patient.guard._all)
    assert protocol._active is not None
    assert protocol._active.body == b""
    connection.close()


def test_a_client_throws_an_idle_connection_away_before_the_server_does(served: Served) -> None:
    """Who sends when the server closes does not know what became of the request."""
    kept_s = httpx.Limits().keepalive_expiry

    assert kept_s is not None
    assert served.server.config.timeout_keep_alive > 2 * kept_s


def test_half_sent_headers_are_answered_with_408_and_closed(served: Served) -> None:
    began = time.monotonic()
    answer = rest_of(served.connect(HALF))
    assert time.monotonic() - began >= HEADERS_S
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"Connection: close" in head
    assert json.loads(body)["status"] == 408
    assert json.loads(body)["request_id"] is None


def test_many_that_are_late_are_ended_a_few_at_a_time(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "ENDED_AT_ONCE", 2)
    ended_at = list[float]()
    refuse = Refusal.answer

    def noted(refusal: Refusal) -> bytes:
        ended_at.append(time.monotonic())
        return refuse(refusal)

    monkeypatch.setattr(Refusal, "answer", noted)

    late = [served.connect(HALF) for _ in range(7)]

    assert all(rest_of(one).startswith(b"HTTP/1.1 408 ") for one in late)
    assert len(ended_at) == 7
    # Whichever three follow one another, there was a pause among them.
    assert all(later - first >= 0.09 for first, later in zip(ended_at, ended_at[2:], strict=False))


def test_of_many_whose_headers_are_here_none_is_late(
    patient: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a pause of the process: it looks at a few of them at a time."""
    monkeypatch.setattr(arrivals, "AT_ONCE", 1)
    held = [patient.connect(HALF) for _ in range(8)]
    wait_until(lambda: patient.arrivals.n_waiting == 8, "all wait")

    def stand_still_until_all_are_late() -> None:
        for one in held:
            one.sendall(b"Y: 1\r\nConnection: close\r\n\r\n")
        for arrival in patient.arrivals._waiting.values():
            arrival.since -= 2 * PATIENCE_S
        time.sleep(2 * arrivals.CHECK_EVERY_S)

    patient.arrivals._loop.call_soon_threadsafe(stand_still_until_all_are_late)

    assert {rest_of(one)[:13] for one in held} == {b"HTTP/1.1 401 "}


def test_one_that_cannot_be_refused_is_ended_and_keeps_no_other(
    patient: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = patient.connect(HALF), patient.connect(HALF)
    wait_until(lambda: patient.arrivals.n_waiting == 2, "both wait")
    with monkeypatch.context() as broken:
        broken.setattr(connections, "HEADERS_LATE", None)
        oldest = next(iter(patient.arrivals._waiting.values()))
        oldest.since -= 2 * PATIENCE_S
        assert is_ended(first)
        wait_until(lambda: "server.late_not_ended" in caplog.messages, "it is told")
    monkeypatch.setattr(connections, "HEADERS_S", 0.0)

    assert rest_of(second).startswith(b"HTTP/1.1 408 ")
    assert httpx.get(f"{patient.url}/healthz", timeout=PATIENCE_S, verify=False).status_code == 200
    first.close()


def test_many_that_are_late_with_their_next_request_are_ended_a_few_at_a_time(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "ENDED_AT_ONCE", 2)
    monkeypatch.setattr(connections, "PAUSE_S", 0.1)
    check, ended_at = connections.Guarded.check, list[float]()

    def noted(connection: connections.Guarded) -> bool:
        is_ended = check(connection)
        if is_ended:
            ended_at.append(time.monotonic())
        return is_ended

    monkeypatch.setattr(connections.Guarded, "check", noted)

    late = [served.connect(WHOLE + HALF) for _ in range(7)]

    assert all(b"HTTP/1.1 408 " in rest_of(one) for one in late)
    assert len(ended_at) == 7
    assert all(later - first >= 0.1 for first, later in zip(ended_at, ended_at[2:], strict=False))


def test_half_a_request_costs_no_more_than_a_socket(
    patient: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = patient
    held = [served.connect(HALF) for _ in range(3)]
    wait_until(
        lambda: served.arrivals.n_waiting == 3 and served.guard.n == 0,
        "the three wait, and nobody is served any more",
    )

    # A request that comes in two parts is served when the second is here.
    held[0].sendall(b"Y: 1\r\nConnection: close\r\n\r\n")

    assert rest_of(held[0]).startswith(b"HTTP/1.1 401 ")
    held[1].close()
    wait_until(lambda: served.arrivals.n_waiting == 1, "who has gone is forgotten")
    monkeypatch.setattr(connections, "HEADERS_S", 0.0)  # Read anew at each look.
    assert rest_of(held[2]).startswith(b"HTTP/1.1 408 ")


def test_without_epoll_connections_are_served_from_their_first_moment(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "HAS_EPOLL", False)
    monkeypatch.setattr(connections, "HEADERS_S", HEADERS_S)
    settings = Settings(data_dir=tmp_path / "data", database_url=sqlite_url, min_free_gb=0)
    served = Served(settings, MOST)

    assert rest_of(served.connect(HALF)).startswith(b"HTTP/1.1 408 ")
    assert rest_of(served.connect(WHOLE + HALF)).startswith(b"HTTP/1.1 200 ")

    served.stop()


def test_a_process_without_a_file_left_takes_connections_when_it_has_one_again(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(arrivals, "OUT_OF_FILES_S", 0.05)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    connection = socket.socket()
    connection.settimeout(PATIENCE_S)
    n_open = int(max(os.listdir("/proc/self/fd"), key=int)) + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open, most[1]))
    try:
        kept = _all_files()
        connection.connect(served.listener.getsockname())
        wait_until(lambda: "server.not_taken" in caplog.text, "a connection could not be taken")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    for file in kept:
        os.close(file)
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert rest_of(connection).startswith(b"HTTP/1.1 200 ")


def _all_files() -> list[int]:
    """Files opened until the process has none left."""
    opened = []
    while True:
        try:
            opened.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            return opened


def test_headers_that_come_byte_by_byte_do_not_last_longer(served: Served) -> None:
    connection = served.connect(HALF)
    connection.settimeout(0.05)
    began, answer = time.monotonic(), b""
    while time.monotonic() - began < PATIENCE_S and not answer:
        try:
            connection.sendall(b"a")
            answer = connection.recv(1000)
        except TimeoutError:
            continue
    assert answer.startswith(b"HTTP/1.1 408 ")
    connection.close()


def test_a_silent_connection_is_closed_without_a_word(served: Served) -> None:
    assert rest_of(served.connect()) == b""


def test_a_second_request_has_the_same_time_for_its_headers(served: Served) -> None:
    connection = served.connect(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HALF)
    answer = rest_of(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answer


def test_a_slow_body_is_answered_with_408(served: Served) -> None:
    connection = served.connect(SLOW_BODY)
    connection.settimeout(0.1)
    began, answer = time.monotonic(), b""
    while time.monotonic() - began < PATIENCE_S and not answer:
        try:
            connection.sendall(b"1")
            answer = connection.recv(1000)
        except TimeoutError:
            continue
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"slower than 1000 bytes per second" in answer + rest_of(connection)


def test_a_large_body_comes_faster(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    # A small body may come as slowly as this machine sends it; a large one may not.
    monkeypatch.setattr(connections, "SLOWEST_BYTES_PER_S", 0)
    monkeypatch.setattr(connections, "LARGE_BODY_BYTES", 3000)
    connection = served.connect(SLOW_BODY)
    connection.settimeout(0.05)
    began, answer, n_sent = time.monotonic(), b"", 0
    while time.monotonic() - began < PATIENCE_S and not answer and n_sent < 4900:
        try:
            connection.sendall(b"1" * 100)
            n_sent += 100
            answer = connection.recv(1000)
        except TimeoutError:
            continue
    answer += rest_of(connection)
    assert n_sent >= 3000
    assert b"slower than 20000 bytes per second" in answer


def test_a_client_that_leaves_in_its_body_is_no_error_of_ours(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "podium.request"):
        served.connect(SLOW_BODY).close()
        wait_until(lambda: "request" in caplog.messages, "the request is logged")
    told = [one for one in caplog.records if one.message == "request"]
    assert [getattr(one, "status", None) for one in told] == [408]
    assert [one.message for one in caplog.records if one.levelname == "ERROR"] == []


def test_a_body_that_is_fast_enough_is_taken(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = connections.Guarded._check_body
    # 5000 bytes a second by its clock: a pause of this machine is none of the client's.
    monkeypatch.setattr(
        connections.Guarded, "_check_body", lambda one, _: check(one, one._n_received / 5000)
    )
    body = json.dumps({"email": "a@b.c", "password": "x" * 100}).encode()
    head = SLOW_BODY.partition(b"Content-Length")[0] + b"Content-Length: 6000\r\n\r\n"
    connection = served.connect(head)
    padding = b" " * (6000 - len(body))
    for start in range(0, len(padding), 500):
        connection.sendall(padding[start : start + 500])
        time.sleep(0.1)
    connection.sendall(body)
    assert connection.recv(1000).startswith(b"HTTP/1.1 401 ")
    connection.close()


def test_the_rest_of_a_refused_body_is_not_read_for_ever(served: Served) -> None:
    head = b"POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
    connection = served.connect(head)
    assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")
    wait_until(lambda: not is_taken(connection, b"x" * 1000), "the server has closed")
    connection.close()


def connect_all(served: Served, n: int, text: bytes) -> list[socket.socket]:
    """Connections on which the same was sent, each answered or ended where it was a request.

    One that is being answered keeps its place: beside many of them whoever comes next has none, or
    takes that of somebody known.
    """
    held = list[socket.socket]()
    for _ in range(n):
        held.append(served.connect(text))
        if text == WHOLE:
            is_ended(held[-1])
    return held


@pytest.mark.parametrize("text", [HALF, WHOLE])
def test_many_half_sent_requests_leave_room_for_others(patient: Served, text: bytes) -> None:
    served = patient
    held = connect_all(served, 4 * MOST, text)
    for _ in range(5):
        answer = httpx.get(
            f"{served.url}/api/v1/me", headers=served.headers, timeout=PATIENCE_S, verify=False
        )
        assert answer.status_code == 200
    wait_until(lambda: served.n <= MOST, "the oldest were closed")
    for connection in held:
        connection.close()


@pytest.mark.parametrize("text", [HALF, WHOLE])
def test_who_has_shown_a_key_keeps_the_connection(patient: Served, text: bytes) -> None:
    served = patient
    with httpx.Client(
        base_url=served.url, headers=served.headers, timeout=PATIENCE_S, verify=False
    ) as client:
        assert client.get("/api/v1/me").status_code == 200
        own = [one for one in list(served.guard._all) if one.person is not None]
        assert len(own) == 1
        held = connect_all(served, 3 * MOST, text)
        wait_until(lambda: served.n >= MOST, "the server is full")
        assert own[0] in served.guard._all
        assert client.get("/api/v1/me").status_code == 200
        for connection in held:
            connection.close()


def test_who_has_just_connected_is_served_though_others_come(patient: Served) -> None:
    idle = connect_all(patient, MOST, WHOLE)
    wait_until(lambda: all(one.is_idle for one in list(patient.guard._all)), "they idle")
    first = patient.connect()
    later = connect_all(patient, 3, HALF)
    wait_until(lambda: patient.arrivals.n_waiting == 4, "all four wait")

    first.sendall(LAST)

    assert rest_of(first).startswith(b"HTTP/1.1 200 ")
    for connection in [*idle, *later]:
        connection.close()


@pytest.mark.parametrize("text", [HALF, WHOLE])
def test_a_stranger_has_a_share_of_the_connections(
    patient: Served, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    served = patient
    monkeypatch.setattr(admission, "MOST_OF_A_STRANGER", 4)
    held = [served.connect(text) for _ in range(8)]
    other = socket.create_connection(
        served.listener.getsockname(), timeout=PATIENCE_S, source_address=("127.0.0.9", 0)
    )
    other.sendall(text)
    wait_until(
        lambda: [served.n_of(f"127.0.0.{n}", text) for n in (1, 9)] == [4, 1],
        "four are left of eight, and the one of another address",
    )
    for connection in [*held, other]:
        connection.close()


def test_one_person_cannot_take_all_connections(patient: Served) -> None:
    served = patient
    _, key = served.annotator()
    held = [served.connect() for _ in range(MOST)]
    assert [served.show(one, key) for one in held] == [200] * MOST
    # Who has fewer keeps them, and who comes next has one.
    with httpx.Client(
        base_url=served.url, headers=served.headers, timeout=PATIENCE_S, verify=False
    ) as other:
        assert [other.get("/api/v1/me").status_code for _ in range(3)] == [200] * 3
        assert rest_of(served.connect(LAST)).startswith(b"HTTP/1.1 200 ")
        assert other.get("/api/v1/me").status_code == 200
    for connection in held:
        connection.close()


def test_a_person_has_a_share_of_the_connections(
    patient: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = patient
    monkeypatch.setattr(admission, "MOST_OF_A_PERSON", 4)
    user, key = served.annotator()
    held = [served.connect() for _ in range(6)]
    assert [served.show(one, key) for one in held] == [200] * 6
    assert served.guard.admission.n_of(Kind.KNOWN, user) == 4
    assert [is_ended(one) for one in held[:2]] == [True, True]
    assert served.show(held[-1], key) == 200
    for connection in held:
        connection.close()


def test_a_connection_on_which_a_revoked_key_is_shown_is_a_strangers(patient: Served) -> None:
    served = patient
    user, key = served.annotator()
    connection = served.connect()
    assert served.show(connection, key) == 200
    deactivate = {"is_active": False}
    url = f"{served.url}/api/v1/users/{user}"
    httpx.patch(url, json=deactivate, headers=served.headers, timeout=PATIENCE_S, verify=False)
    assert served.show(connection, key) == 401
    assert served.guard.admission.n_of(Kind.KNOWN, user) == 0
    assert served.guard.admission.n_of(Kind.STRANGER, "127.0.0.1") >= 1
    connection.close()


def test_when_all_are_busy_a_newcomer_is_told_so(
    patient: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = patient
    held = [served.connect(WHOLE) for _ in range(MOST)]
    wait_until(lambda: served.guard.n >= MOST, "the server is full")
    monkeypatch.setattr(connections.Guarded, "is_waiting", False)
    answer = rest_of(served.connect())
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 1" in answer
    for connection in held:
        connection.close()


OF_HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
REFUSED = [
    (b"GET /healthz HTTP/1.1\r\n\r\n", 400, "no Host header or several"),
    (OF_HEALTH + b"Host: elsewhere\r\n\r\n", 400, "no Host header or several"),
    (b"FETCH /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "not a valid HTTP/1.1"),
    (b"\x16\x03\x01\x02\x00\x01\x00", 400, "not a valid HTTP/1.1 request"),
    (OF_HEALTH + b"Broken : x\r\n\r\n", 400, "not a valid HTTP/1.1 request"),
    (OF_HEALTH + b"X: " + b"a" * 70_000 + b"\r\n\r\n", 431, "more than 65536 bytes"),
    (b"GET /" + b"a" * 70_000, 431, "more than 65536 bytes"),
]


@pytest.mark.parametrize(("text", "status", "said"), REFUSED)
def test_what_is_no_request_is_refused_as_a_problem(
    patient: Served, text: bytes, status: int, said: str
) -> None:
    head, _, body = rest_of(patient.connect(text)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(body)["status"] == status
    assert said in json.loads(body)["detail"]


def statuses(answers: bytes) -> list[int]:
    """Of the answers that follow each other on a connection."""
    found = []
    while answers:
        head, _, rest = answers.partition(b"\r\n\r\n")
        found.append(int(head.split()[1]))
        length = re.search(rb"(?i)content-length: (\d+)", head)
        answers = rest[int(length[1]) if length else 0 :]
    return found


LAST = OF_HEALTH + b"Connection: close\r\n\r\n"


def test_requests_in_one_piece_are_answered_in_their_order(patient: Served) -> None:
    ask = [b"GET /api/v1/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % name for name in (b"me", b"no")]
    answers = rest_of(patient.connect(b"".join([*ask, *ask, LAST])))
    assert statuses(answers) == [401, 404, 401, 404, 200]


def test_a_request_that_comes_while_another_waits_is_answered_after_it(
    patient: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, has_come = patient.server.config.loaded_app, threading.Event()
    first = b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n"

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        while scope["path"] == "/api/v1/me" and not has_come.is_set():
            await asyncio.sleep(0.005)
        await made(scope, receive, send)

    monkeypatch.setattr(patient.server.config, "loaded_app", waiting)
    connection = patient.connect(first)
    held = patient.guard._all
    wait_until(lambda: any(one._is_answering for one in list(held)), "the first request waits")
    (waits,) = held
    connection.sendall(LAST)
    wait_until(lambda: waits._held == LAST, "the second one has come")
    has_come.set()
    assert statuses(rest_of(connection)) == [401, 200]


def test_of_too_many_requests_in_one_piece_those_before_are_answered(patient: Served) -> None:
    asked = OF_HEALTH + b"\r\n"
    answers = statuses(rest_of(patient.connect(asked * (3 * connections.MOST_QUEUED))))
    assert answers == [200] * (connections.MOST_QUEUED + 1)


@pytest.mark.parametrize("rest", [b"no HTTP at all\r\n\r\n", HALF + b": \x00"])
def test_what_was_received_whole_is_answered_before_a_bad_request(
    patient: Served, rest: bytes
) -> None:
    answers = rest_of(patient.connect(OF_HEALTH + b"\r\n" + rest))
    assert statuses(answers)[0] == 200


def test_another_protocol_is_not_spoken(patient: Served) -> None:
    asked = OF_HEALTH + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert statuses(rest_of(patient.connect(asked + b"\x81\x05hello" + LAST))) == [200]


CHUNKED = SLOW_BODY.partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"
CREDENTIALS = json.dumps({"email": "a@b.c", "password": "x" * 100}).encode()
ONE_CHUNK = b"%x;note=1\r\n%s\r\n0\r\n" % (len(CREDENTIALS), CREDENTIALS)


def test_trailers_are_no_headers(patient: Served) -> None:
    authorization = f"Authorization: {patient.headers['Authorization']}\r\n".encode()
    body = b'{"name": "By a trailer"}'
    asked = (
        b"POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(body), body)
    )
    assert statuses(rest_of(patient.connect(asked + authorization + b"\r\n" + LAST))) == [401, 200]


def test_a_chunked_body_is_taken(patient: Served) -> None:
    assert statuses(rest_of(patient.connect(CHUNKED + ONE_CHUNK + b"X: 1\r\n\r\n" + LAST))) == [
        401, 200,
    ]  # fmt: skip


@pytest.mark.parametrize("start", [ONE_CHUNK + b"X: ", b"5;", b"0" * 9])
def test_trailers_and_sizes_of_chunks_that_never_end_are_refused(
    served: Served, start: bytes
) -> None:
    connection = served.connect(CHUNKED + start)
    n_sent = 0
    while n_sent < 2**24 and is_taken(connection, b"0" * 8192):
        n_sent += 8192
    connection.close()
    assert n_sent < 2**24


@pytest.mark.parametrize("trusted", ["", "127.0.0.1"])
def test_the_word_of_a_proxy_counts_if_the_settings_name_it(
    sqlite_url: str, tmp_path: Path, trusted: str
) -> None:
    settings = Settings(
        data_dir=tmp_path / "data", database_url=sqlite_url, min_free_gb=0, trusted_proxies=trusted
    )
    served = Served(settings, MOST)
    database = Database(sqlite_url)
    with database.write() as session:
        link = auth.new_sign_in_link(session, served.url, at=datetime.now(UTC))
    answer = httpx.post(
        f"{served.url}/api/v1/session",
        headers={"X-Forwarded-Proto": "https"},
        json={"token": link.partition("token=")[2]},
        timeout=PATIENCE_S,
        verify=False,
    )
    served.stop()
    database.close()
    assert answer.status_code == 201
    assert ("secure" in answer.headers["set-cookie"].lower()) == bool(trusted)
