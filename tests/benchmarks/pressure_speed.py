"""How annotators fare beside somebody who floods, reads much, half-sends or opens streams.

Each attack runs on both databases, from addresses of its own and then from the annotators' address.
`PODIUM_BENCH_ROUND_TRIPS` shortens it.
"""

import http.client
import json
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import insert

from backend.api.stream import MOST_STREAMS
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Role
from backend.store.metrics import points
from backend.store.runs import runs
from backend.store.runs.runs import NewRun
from backend.store.tables.data import Snapshot, SnapshotLine
from tests.benchmarks.beside import AT, Site, Tally, Target, beside, check_fair

pytestmark = pytest.mark.benchmark

HERE = "tests.benchmarks.pressure_speed"
STEPS, LINES = 25_000, 20_000
HALF_SENT = 3000
STREAMS = 200
JSON = {"Content-Type": "application/json"}
HALF = b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-"


# The attacks.


def _again_and_again(
    count: int, target: Target, tally: Tally, ask: Callable[[http.client.HTTPConnection, int], int]
) -> None:
    """Let `count` threads ask for ever, each over a connection of its own."""

    def go_on(number: int) -> None:
        client = target.http(number)
        while True:
            try:
                tally.add(ask(client, number))
            except (OSError, http.client.HTTPException) as error:
                tally.add(type(error).__name__)
                client.close()
                time.sleep(0.01)
                client = target.http(number)

    for number in range(count):
        threading.Thread(target=go_on, args=(number,), daemon=True).start()


def flood(target: Target, tally: Tally) -> None:
    """One key on 64 connections: half of them read, half of them write."""

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        if number % 2:
            client.request("GET", f"/api/v1/projects/{target.project}", headers=target.headers)
        else:
            body = json.dumps({"project_id": target.project, "name": "flood"})
            client.request("POST", "/api/v1/experiments", body, target.headers)
        answer = client.getresponse()
        answer.read()
        return answer.status

    _again_and_again(64, target, tally, ask)


def wrong_passwords(target: Target, tally: Tally) -> None:
    """Eight connections that guess passwords, each time of another person."""

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        email = f"person{number}-{time.monotonic_ns()}@x.test"
        return _post(client, "/session", {"email": email, "password": "wrong horse!"}, JSON)

    _again_and_again(8, target, tally, ask)


def anonymous_posts(target: Target, tally: Tally) -> None:
    """Eight connections that send 8 MB without credentials."""
    text = json.dumps({"name": "x" * (8 << 20)})

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        return _post(client, "/projects", text, JSON)

    _again_and_again(8, target, tally, ask)


def health(target: Target, tally: Tally) -> None:
    """Sixty-four connections without credentials that ask whether the service is ready."""

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        client.request("GET", "/readyz")
        answer = client.getresponse()
        answer.read()
        return answer.status

    _again_and_again(64, target, tally, ask)


def key_bomb(target: Target, tally: Tally) -> None:
    """Four connections that send objects of 60,000 keys, with a valid key."""
    text = json.dumps({"project_id": target.project, "config": {f"k{n}": n for n in range(60_000)}})

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        return _post(client, "/runs", text, target.headers)

    _again_and_again(4, target, tally, ask)


def hoard_leases(target: Target, tally: Tally) -> None:
    """Eight connections that take comparisons and never judge."""

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        return _post(client, f"/projects/{target.project}/assignments", {}, target.headers)

    _again_and_again(8, target, tally, ask)


def _post(
    client: http.client.HTTPConnection,
    path: str,
    body: str | dict[str, str],
    headers: dict[str, str],
) -> int:
    text = body if isinstance(body, str) else json.dumps(body)
    client.request("POST", f"/api/v1{path}", text, headers)
    answer = client.getresponse()
    answer.read()
    return answer.status


def read_much(target: Target, tally: Tally) -> None:
    """Sixteen connections that read curves and exports, one after the other."""
    paths = (
        f"/api/v1/metrics?runs={target.facts['run']}&points=20000",
        f"/api/v1/snapshots/{target.facts['snapshot']}/export",
    )

    def ask(client: http.client.HTTPConnection, number: int) -> int:
        client.request("GET", paths[number % 2], headers=target.headers)
        answer = client.getresponse()
        while answer.read(1 << 20):
            pass
        return answer.status

    _again_and_again(16, target, tally, ask)


def half_send(target: Target, tally: Tally) -> None:
    """Three thousand requests whose headers never end; closed ones are opened again."""
    waiting = selectors.DefaultSelector()

    def open_one(number: int) -> None:
        try:
            connection = target.connect(number)
            connection.sendall(HALF)
        except OSError as error:
            tally.add(type(error).__name__)
            return
        waiting.register(connection, selectors.EVENT_READ, number)

    for number in range(HALF_SENT):
        open_one(number)
    tally.add("all open")
    while True:
        for key, _ in waiting.select(1):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            try:
                text = connection.recv(4096)
            except OSError as error:
                tally.add(type(error).__name__)
                text = b""
            if text:
                tally.add(text.split(b" ", 2)[1].decode())
                continue
            waiting.unregister(connection)
            connection.close()
            open_one(key.data)


def open_streams(target: Target, tally: Tally) -> None:
    """Two hundred streams within a second, left after a moment, and again."""
    path = f"/api/v1/runs/{target.facts['run']}/stream"

    def one(number: int, is_over: threading.Event) -> None:
        try:
            client = target.http(number)
            client.request("GET", path, headers=target.headers)
            answer = client.getresponse()
            tally.add(answer.status)
            answer.read(1)
            is_over.wait()
            client.close()
        except (OSError, http.client.HTTPException) as error:
            tally.add(type(error).__name__)

    def go_on() -> None:
        while True:
            is_over = threading.Event()
            threads = [
                threading.Thread(target=one, args=(number, is_over), daemon=True)
                for number in range(STREAMS)
            ]
            for thread in threads:
                thread.start()
                time.sleep(1 / STREAMS)
            time.sleep(1)
            is_over.set()
            for thread in threads:
                thread.join()

    threading.Thread(target=go_on, daemon=True).start()


# The proofs.


@pytest.fixture
def site(store_url: str, tmp_path: Path) -> Iterator[Site]:
    """A site with a long run and a snapshot, beside what is ranked."""
    site = Site(store_url, tmp_path / "site")
    new = NewRun(site.project, site.user_ids[0], "long", "sft", {}, schema_version=1)
    with site.database.write() as session:
        run_id = runs.create(session, new, at=AT).id
    for start in range(0, STEPS, 1000):
        lines = [
            MetricLine(
                step=step,
                time=float(step),
                values={f"metric/{n}": (step * 37 + n) % 101 / 7 for n in range(4)},
            )
            for step in range(start, start + 1000)
        ]
        with site.database.write() as session:
            points.append(session, run_id, 1, lines, at=AT + timedelta(seconds=start))
    with site.database.write() as session:
        session.add(
            Snapshot(
                id="snapshot_1",
                created_at=AT,
                project_id=site.project,
                name="all",
                kind="prompts",
                sha256="0" * 64,
                heldout_fraction=0.0,
                seed=0,
                filter={},
                counts={},
            )
        )
        session.flush()
        record = {"messages": [{"role": "user", "content": "What? " * 40}], "split": "train"}
        session.execute(
            insert(SnapshotLine),
            [
                {
                    "snapshot_id": "snapshot_1",
                    "position": n,
                    "split": "train",
                    "line": json.dumps({"prompt_id": f"prompt_{n}", **record}),
                }
                for n in range(LINES)
            ],
        )
    site.facts = {"run": run_id, "snapshot": "snapshot_1"}
    yield site
    site.close()


ATTACKS = (
    "wrong_passwords",
    "anonymous_posts",
    "health",
    "key_bomb",
    "hoard_leases",
    "flood",
    "read_much",
    "half_send",
    "open_streams",
)
# A body that is refused is not kept.
MOST_GROWTH_MB = {"anonymous_posts": 50, "key_bomb": 50}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("has_own_addresses", [True, False], ids=["own addresses", "one address"])
def test_annotators_do_not_notice(site: Site, attack: str, has_own_addresses: bool) -> None:
    baseline, attacked = beside(site, f"{HERE}:{attack}", has_own_addresses=has_own_addresses)
    assert not baseline.failures
    check_fair(baseline, attacked)
    assert attacked.growth_mb <= MOST_GROWTH_MB.get(attack, 1000)
    server_errors = {status for status in attacked.attacker if status.startswith("5")} - {"503"}
    assert not server_errors


def test_two_hundred_streams_open_within_a_second_after_a_restart(site: Site) -> None:
    keys = [site.person(Role.VIEWER, 100 + n) for n in range(STREAMS // MOST_STREAMS)]
    path = f"/api/v1/runs/{site.facts['run']}/stream"
    statuses: list[int] = []
    opened_s: list[float] = []
    is_over = threading.Event()

    def follow(port: int, number: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {keys[number % len(keys)]}"}
        client.request("GET", f"{path}?since=now", headers=headers)
        answer = client.getresponse()
        statuses.append(answer.status)
        answer.read(1)
        opened_s.append(time.monotonic() - began)
        is_over.wait()
        client.close()

    with site.serving() as port:
        threads = [
            threading.Thread(target=follow, args=(port, n), daemon=True) for n in range(STREAMS)
        ]
        me_s: list[float] = []
        headers = {"Authorization": f"Bearer {site.annotator_keys[0]}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
            for thread in threads:
                thread.start()
            while len(statuses) < STREAMS or len(me_s) < 20:
                began = time.monotonic()
                client.get("/api/v1/me", timeout=60).raise_for_status()
                me_s.append(time.monotonic() - began)
        is_over.set()
    print(
        f"\n{STREAMS} streams: the last open after {max(opened_s):.2f} s; "
        f"GET /me at most {max(me_s):.3f} s of {len(me_s)}"
    )
    assert set(statuses) == {200}
    assert max(me_s) < 1
