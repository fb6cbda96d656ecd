"""An import of 128 MiB alone and with twenty annotators beside it; what hiding its records costs.

Prints the annotators' round trips (lease and judgment) without and beside the import, how long the
import takes alone and beside them, and how much memory the API and the import's process take more.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from sqlalchemy import func, select

from backend.store import visibility
from backend.store.data import candidates, imports, projects, prompts
from backend.store.data.import_rows import NewImport
from backend.store.paging import Page
from backend.store.tables.data import Prompt
from tests.benchmarks import beside
from tests.benchmarks.beside import AT, Phase, Site

pytestmark = pytest.mark.benchmark

MIB = 1 << 20
FILE_MIB = int(os.environ.get("PODIUM_BENCH_IMPORT_MIB", "128"))
ROUND_TRIPS = beside.ROUND_TRIPS
_ROW = b'{"prompt": "Question %d of part %d? %b", "id": "x%d", "tags": ["bench"]}\n'
_TEXT = b"Explain step by step how the answer follows, and name what you left out. " * 5


def content(part: int) -> bytes:
    """A file of prompts that no other part has."""
    row = len(_ROW % (100_000, part, _TEXT, 100_000))
    return b"".join(_ROW % (n, part, _TEXT, n) for n in range(FILE_MIB * MIB // row))


class Memory:
    """The most that a process and its children have held, and what it was before."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.api = self.children = 0
        self.before = self._sizes()

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
        """API and children together."""
        return (self.api + self.children - sum(self.before)) / 1e6


class Sender:
    """An import that runs in a thread."""

    def __init__(self, site: Site, port: int, part: int) -> None:
        self.seconds = 0.0
        self.answer: Any = None
        self._site, self._port, self._part = site, port, part
        self.thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        file = content(self._part)
        began = time.monotonic()
        answer = httpx.post(
            f"http://127.0.0.1:{self._port}/api/v1/projects/{self._site.project}/imports",
            params={"kind": "prompts"},
            content=file,
            headers={"Authorization": f"Bearer {self._site.attacker_key}"},
            timeout=1800,
        )
        self.seconds = time.monotonic() - began
        self.answer = answer.raise_for_status().json()


@pytest.fixture(params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """Something to rank, once per kind of database."""
    site = Site(request.getfixturevalue(f"{request.param}_url"), tmp_path)
    yield site
    site.close()


def test_twenty_annotators_beside_an_import(site: Site) -> None:
    with site.serving() as port:
        beside._annotate(site, port, ROUND_TRIPS // 10)
        quiet = Phase(*beside._annotate(site, port, ROUND_TRIPS), {}, 0.0)
        with Memory(site.pid) as memory_alone:
            alone = Sender(site, port, 1)
            alone.thread.start()
            alone.thread.join()
        seconds: list[float] = []
        failures: dict[str, int] = {}
        with Memory(site.pid) as memory:
            busy = Sender(site, port, 2)
            busy.thread.start()
            while busy.thread.is_alive():
                some, failed = beside._annotate(site, port, 200)
                seconds += some
                failures |= failed
            busy.thread.join()
        loaded = Phase(seconds, failures, {}, memory.growth_mb)
    rows = alone.answer["accepted"]
    print(
        f"\n{site.database.engine.dialect.name}: {FILE_MIB} MiB, {rows} prompts\n"
        f"  annotators alone:  {quiet}\n  beside the import: {loaded}\n"
        f"  import alone {alone.seconds:.1f} s, beside {busy.seconds:.1f} s "
        f"({busy.seconds / alone.seconds:.2f} x)\n"
        f"  memory alone: {_memory(memory_alone)}\n  memory beside: {_memory(memory)}"
    )
    assert busy.answer["accepted"] == rows
    assert not failures
    assert loaded.quantile(0.99) < 0.5
    assert memory.growth_mb < 300
    assert memory_alone.growth_mb < 300
    assert busy.seconds <= 2 * alone.seconds


def _memory(memory: Memory) -> str:
    api, children = (one / 1e6 for one in memory.before)
    return (
        f"API {api:.0f} -> {memory.api / 1e6:.0f} MB, children {children:.0f} -> "
        f"{memory.children / 1e6:.0f} MB, together {memory.growth_mb:+.0f} MB"
    )


QUERIES: dict[str, Callable[[Any, Site], object]] = {
    "page of prompts": lambda session, site: prompts.listing(session, site.project, Page()),
    "counts of a project": lambda session, site: projects.get(session, site.project),
    "next comparison": lambda session, site: candidates.next_for(session, site.project, "u", AT),
    "all prompts": lambda session, site: session.execute(
        select(func.sum(func.length(Prompt.content_sha256))).where(
            Prompt.project_id == site.project
        )
    ).all(),
}


def _seconds(site: Site, name: str) -> tuple[float, float]:
    """The best of each way to ask, in turns: seeing all records, and leaving out the unfinished."""
    best = {True: float("inf"), False: float("inf")}
    for turn in range(30):
        sees_all = turn % 2 == 0
        with site.database.read() as session:
            if sees_all:
                visibility.see_unfinished(session)
            began = time.perf_counter()
            QUERIES[name](session, site)
            best[sees_all] = min(best[sees_all], time.perf_counter() - began)
    return best[True], best[False]


def test_what_hiding_costs_the_queries(site: Site) -> None:
    ratios: dict[tuple[str, str], float] = {}
    for state in ("no import", "an import of 20,000 prompts"):
        if state != "no import":
            _begin(site)
        for name in QUERIES:
            plain, hiding = _seconds(site, name)
            ratios[state, name] = hiding / plain
            where = f"{site.database.engine.dialect.name}, {state}, {name}"
            print(f"{where}: {plain * 1000:.2f} -> {hiding * 1000:.2f} ms ({hiding / plain:.2f} x)")
    assert max(ratio for (state, _), ratio in ratios.items() if state == "no import") < 2


def _begin(site: Site) -> None:
    from backend.domain.records.imported import PromptInput
    from backend.schemas.records import Message

    with site.database.read() as session:
        user = session.execute(select(func.min(Prompt.id))).scalar() and _some_user(session)
    new = NewImport("import_bench", site.project, user, "prompts", "auto")
    with site.database.write() as session:
        assert imports.begin(session, new, at=AT)
    rows = [PromptInput((Message(role="user", content=f"hidden {n}"),)) for n in range(20_000)]
    for first in range(0, len(rows), 500):
        with site.database.write() as session:
            imports.keep(session, new, list(enumerate(rows[first : first + 500])), at=AT)


def _some_user(session: Any) -> str:
    from backend.store.tables.people import User

    return str(session.execute(select(func.min(User.id))).scalar())
