"""Attacks with annotators beside them: one real server, twenty people who rank, one attacker.

A benchmark gives the dotted name of an attack, a function that gets a `Target` and a `Tally` and
goes on until its process is ended, and compares the two phases that `beside` returns: in the first
the attacker sends to a sink, so that its own cost counts in both. Server, sink, annotators and
attacker are processes of their own. It says nothing about what an attack is.
"""

import asyncio
import http.client
import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import insert

from backend import auth
from backend.schemas.vocabulary import Role
from backend.store.data import imports
from backend.store.db import Database
from backend.store.people import users
from backend.store.tables.data import Comparison, Project, Prompt, Response
from tests import processes

MODULE = "tests.benchmarks.beside"
ANNOTATORS = 20
# Round trips of a phase; the bars of the project speak of at least 1,000.
ROUND_TRIPS = int(os.environ.get("PODIUM_BENCH_ROUND_TRIPS", "1000"))
# As many as both phases and their warming-up rank.
COMPARISONS = 3 * ROUND_TRIPS + 100
# What nobody notices; below it twice the baseline is mostly chance.
UNNOTICED_S = 0.050
SINK_ANSWERS_AFTER_S = 0.05
# What API and children log of a transaction that held the database for more than 250 ms.
HELD_LONG = "store.write_held_long"
START_S = 180.0
AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Target:
    """What an attacker knows: where to send, its own key, the project, and where it sends from.

    An attacker with addresses of its own sends from 127.1.0.0/16; else from that of the annotators.
    """

    port: int
    key: str
    project: str
    has_own_addresses: bool
    facts: dict[str, Any] = field(default_factory=dict)

    def connect(self, number: int = 0) -> socket.socket:
        """A connection; `number` chooses the address it comes from, if the attacker has its own."""
        source = (f"127.1.{number // 250 % 250}.{number % 250 + 1}", 0)
        return socket.create_connection(
            ("127.0.0.1", self.port),
            timeout=60,
            source_address=source if self.has_own_addresses else None,
        )

    def http(self, number: int = 0) -> http.client.HTTPConnection:
        """A client over such a connection."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.sock = self.connect(number)
        return client

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request with the attacker's key."""
        return {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}


class Tally:
    """How the attacker's requests ended, by status or by the name of an error."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, what: object) -> None:
        """Count one."""
        with self._lock:
            self._counts[str(what)] += 1

    def counts(self) -> dict[str, int]:
        """What was counted so far."""
        with self._lock:
            return dict(self._counts)


@dataclass(frozen=True)
class Phase:
    """What the annotators saw: seconds of each round trip, and every answer that was not 2xx."""

    seconds: list[float]
    failures: dict[str, int]
    attacker: dict[str, int]
    growth_mb: float

    def quantile(self, share: float) -> float:
        """The round trip that this share of all is at most as long as."""
        order = sorted(self.seconds)
        return order[min(len(order) - 1, int(share * len(order)))]

    def __str__(self) -> str:
        times = ", ".join(f"{name} {self.quantile(q) * 1000:.1f}" for name, q in _QUANTILES)
        return (
            f"{len(self.seconds)} round trips: {times} ms; failures {self.failures or 'none'}; "
            f"server +{self.growth_mb:.0f} MB; attacker {self.attacker}"
        )


_QUANTILES = (("median", 0.5), ("p99", 0.99), ("most", 1.0))


def check_fair(baseline: Phase, attacked: Phase, *, most_s: float | None = None) -> None:
    """Fail unless the annotators were served as if nobody else were there.

    `most_s` replaces the bar of the larger of twice the baseline and 50 ms.
    """
    bar = most_s or max(2 * baseline.quantile(0.99), UNNOTICED_S)
    assert not attacked.failures, attacked.failures
    assert attacked.quantile(0.99) <= bar, f"p99 {attacked.quantile(0.99):.3f} s, bar {bar:.3f} s"


class Site:
    """A served database with a project, comparisons to rank, annotators and one attacker."""

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        comparisons: int = COMPARISONS,
        role: Role = Role.RESEARCHER,
    ) -> None:
        self.url, self.folder = url, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.database = Database(url)
        self.project = "project_1"
        self.facts: dict[str, Any] = {}
        self.user_ids: list[str] = []
        self._plant(comparisons)
        # As after an import of so many.
        self.database.analyze(imports.TABLES)
        self.annotator_keys = [self.person(Role.ANNOTATOR, n) for n in range(ANNOTATORS)]
        self.attacker_key = self.person(role, ANNOTATORS)

    def person(self, role: Role, number: int) -> str:
        """A new member of the project; the answer is its key."""
        with self.database.write() as session:
            user = users.create(
                session, name=f"{role} {number}", role=role, project_ids=[self.project], at=AT
            )
            key = auth.add_key(session, user_id=user.id, name="key", expires_in_s=None, at=AT)
        self.user_ids.append(user.id)
        assert key.key is not None
        return key.key

    @contextmanager
    def serving(self, **settings: str) -> Iterator[int]:
        """The API in a process of its own; gives its port, and its pid as `self.pid`."""
        with _listening() as listener:
            port = listener.getsockname()[1]
            command = [sys.executable, "-m", "backend.ops.serve", str(listener.fileno())]
            env = processes.environment(
                self.folder / "data", PODIUM_DATABASE_URL=self.url, **settings
            )
            with _child(command, env, self.folder / "api.log", listener) as process:
                self.pid = process.pid
                httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=START_S).raise_for_status()
                yield port

    def close(self) -> None:
        """Give back the connections."""
        self.database.close()

    def _plant(self, count: int) -> None:
        rows = range(count)
        ids = {"project_id": self.project, "created_at": AT}
        with self.database.write() as session:
            session.add(Project(id=self.project, created_at=AT, name="beside"))
            session.flush()
            session.execute(
                insert(Prompt),
                [
                    ids
                    | {
                        "id": f"asked_{n}",
                        "messages": [{"role": "user", "content": f"Question {n}?"}],
                        "tags": [],
                        "content_sha256": f"{n:064x}",
                    }
                    for n in rows
                ],
            )
            session.execute(
                insert(Response),
                [
                    ids
                    | {
                        "id": f"response_{n}{side}",
                        "prompt_id": f"asked_{n}",
                        "content": f"Answer {side} to question {n}. " * 8,
                        "content_sha256": f"{n:063x}{side}",
                        "scores": {},
                    }
                    for n in rows
                    for side in "ab"
                ],
            )
            session.execute(
                insert(Comparison),
                [
                    ids
                    | {
                        "id": f"comparison_{n}",
                        "prompt_id": f"asked_{n}",
                        "response_ids": [f"response_{n}a", f"response_{n}b"],
                    }
                    for n in rows
                ],
            )


def beside(
    site: Site, attack: str, *, has_own_addresses: bool, round_trips: int = ROUND_TRIPS
) -> tuple[Phase, Phase]:
    """Annotators beside an attacker who sends to a sink, then beside one who sends to the server.

    `attack` is `module:function`; see the docstring of this module.
    """
    phases = []
    with site.serving() as port, _sink() as sink:
        _annotate(site, port, round_trips // 10)  # A warm server in both phases.
        for to in (sink, port):
            target = Target(to, site.attacker_key, site.project, has_own_addresses, site.facts)
            phases.append(_phase(site, port, attack, target, round_trips))
    where = "own addresses" if has_own_addresses else "one address"
    print(f"\n{attack}, {where}\n  sink:   {phases[0]}\n  attack: {phases[1]}")
    return phases[0], phases[1]


def _phase(site: Site, port: int, attack: str, target: Target, round_trips: int) -> Phase:
    log = site.folder / "attacker.log"
    command = [sys.executable, "-m", MODULE, "attack", attack, json.dumps(asdict(target))]
    with Memory(site.pid) as memory, _child(command, dict(os.environ), log) as attacker:
        seconds, failures = _annotate(site, port, round_trips)
        assert attacker.poll() is None, log.read_text()[-3000:]
    lines = [line for line in log.read_text().splitlines() if line.startswith("{")]
    return Phase(seconds, failures, json.loads(lines[-1]) if lines else {}, memory.own_growth_mb)


def _annotate(site: Site, port: int, round_trips: int) -> tuple[list[float], dict[str, int]]:
    task = {"port": port, "project": site.project, "keys": site.annotator_keys}
    done = subprocess.run(
        [sys.executable, "-m", MODULE, "annotate", str(round_trips), json.dumps(task)],
        cwd=processes.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120 + 20 * round_trips / ANNOTATORS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["failures"]


class Memory:
    """The most that a process and its children have held, and what it was before."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.before = self._sizes()
        self.api, self.children = self.before

    def _sizes(self) -> tuple[int, int]:
        children = 0
        for one in self._process.children(recursive=True):
            try:
                children += one.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return self._process.memory_info().rss, children

    def _watch(self) -> None:
        while not self._is_over.wait(0.05):
            api, children = self._sizes()
            self.api, self.children = max(self.api, api), max(self.children, children)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def growth_mb(self) -> float:
        """How much more process and children have held at most."""
        return (self.api + self.children - sum(self.before)) / 1e6

    @property
    def own_growth_mb(self) -> float:
        """How much more the process itself has held at most."""
        return (self.api - self.before[0]) / 1e6


@contextmanager
def _listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        yield listener


@contextmanager
def _child(
    command: list[str], env: dict[str, str], log: Path, listener: socket.socket | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=processes.ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[] if listener is None else [listener.fileno()],
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _sink() -> Iterator[int]:
    with _listening() as listener:
        port = listener.getsockname()[1]
        command = [sys.executable, "-m", MODULE, "sink", str(listener.fileno())]
        with _child(command, dict(os.environ), Path(os.devnull), listener):
            yield port


# What the processes do.


def _run_annotators(round_trips: int, task: dict[str, Any]) -> None:
    seconds: list[float] = []
    failures: Counter[str] = Counter()
    each = -(-round_trips // len(task["keys"]))
    threads = [
        threading.Thread(target=_rank, args=(number, key, each, task, seconds, failures))
        for number, key in enumerate(task["keys"])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(json.dumps({"seconds": seconds, "failures": failures}) + "\n")


def _rank(
    number: int,
    key: str,
    times: int,
    task: dict[str, Any],
    seconds: list[float],
    failures: Counter[str],
) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    client = http.client.HTTPConnection("127.0.0.1", task["port"], timeout=60)

    def post(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        client.request("POST", f"/api/v1{path}", json.dumps(body), headers)
        answer = client.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    began = time.monotonic() + number / ANNOTATORS
    for turn in range(times):
        # From the moment at which it was due: who waits for a late answer waits for the next, too.
        due = began + turn
        time.sleep(max(0.0, due - time.monotonic()))
        started = time.monotonic()
        try:
            status, assignment = post(f"/projects/{task['project']}/assignments", {"held": []})
            if status == 201:
                body = {"tiers": [[one] for one in assignment["presented_order"]]}
                path = f"/assignments/{assignment['id']}/judgment"
                status, _ = post(path, body | {"verdict": "ranked"})
            if status != 201:
                failures[str(status)] += 1
        except (OSError, http.client.HTTPException) as error:
            failures[type(error).__name__] += 1
            client.close()
        seconds.append(time.monotonic() - started)


def _run_attack(name: str, target: Target) -> None:
    module, _, function = name.partition(":")
    attack = getattr(importlib.import_module(module), function)
    tally = Tally()

    def end(*_: object) -> None:
        sys.stdout.write("\n" + json.dumps(tally.counts()) + "\n")
        sys.stdout.flush()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    attack(target, tally)
    while True:
        signal.pause()


class _Sink(asyncio.Protocol):
    """Answers each whole request after a moment, and reads the rest."""

    def __init__(self) -> None:
        self._unread = b""
        self._body_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._body_bytes:
            taken = min(self._body_bytes, len(data))
            self._body_bytes -= taken
            data = data[taken:]
            if self._body_bytes == 0:
                self._answer()
        self._unread = (self._unread + data)[-65536:]
        if b"\r\n\r\n" in self._unread:
            head, _, rest = self._unread.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            self._unread = b""
            self._body_bytes = max(0, (int(length[1]) if length else 0) - len(rest))
            if self._body_bytes == 0:
                self._answer()

    def _answer(self) -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        loop = asyncio.get_running_loop()
        loop.call_later(SINK_ANSWERS_AFTER_S, self._transport.write, answer)


async def _run_sink(file_descriptor: int) -> None:
    listener = socket.socket(fileno=file_descriptor)
    server = await asyncio.get_running_loop().create_server(_Sink, sock=listener)
    await server.serve_forever()


def main(verb: str, *arguments: str) -> None:
    """What the processes of this module run."""
    if verb == "annotate":
        _run_annotators(int(arguments[0]), json.loads(arguments[1]))
    elif verb == "attack":
        _run_attack(arguments[0], Target(**json.loads(arguments[1])))
    else:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        asyncio.run(_run_sink(int(arguments[0])))


if __name__ == "__main__":
    main(*sys.argv[1:])
