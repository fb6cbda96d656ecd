"""An import of 128 MiB alone and with twenty annotators beside it; what hiding its records costs.

Prints the annotators' round trips (lease and judgment) without and beside the import, how long the
import takes alone and beside them, and how much memory the API and the import's process take more.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.store import visibility
from backend.store.data import candidates, imports, projects, prompts
from backend.store.data.candidates import Candidate
from backend.store.data.import_rows import NewImport
from backend.store.paging import Page
from backend.store.tables.data import Prompt
from tests.benchmarks import beside
from tests.benchmarks.beside import AT, HELD_LONG, Memory, Phase, Site

pytestmark = pytest.mark.benchmark

MIB = 1 << 20
FILE_MIB = int(os.environ.get("PODIUM_BENCH_IMPORT_MIB", "128"))
ROUND_TRIPS = beside.ROUND_TRIPS
# For as long as the imports last.
COMPARISONS = 10 * ROUND_TRIPS
_ROW = b'{"prompt": "Question %d of part %d? %b", "id": "x%d", "tags": ["bench"]}\n'
_TEXT = b"Explain step by step how the answer follows, and name what you left out. " * 5


def content(part: int) -> bytes:
    """A file of prompts that no other part has."""
    row = len(_ROW % (100_000, part, _TEXT, 100_000))
    return b"".join(_ROW % (n, part, _TEXT, n) for n in range(FILE_MIB * MIB // row))


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
    url = request.getfixturevalue(f"{request.param}_url")
    site = Site(url, tmp_path, comparisons=COMPARISONS)
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
        with Memory(site.pid) as memory:
            seconds, failures, sent = _annotate_beside_imports(site, port)
        loaded = Phase(seconds, failures, {}, memory.growth_mb)
    rows = alone.answer["accepted"]
    busy_s = max(one.seconds for one in sent)
    print(
        f"\n{site.database.engine.dialect.name}: {FILE_MIB} MiB, {rows} prompts\n"
        f"  annotators alone:  {quiet}\n  beside the import: {loaded}\n"
        f"  import alone {alone.seconds:.1f} s, beside {busy_s:.1f} s at most, "
        f"{len(sent)} times ({busy_s / alone.seconds:.2f} x)\n"
        f"  memory alone: {_memory(memory_alone)}\n  memory beside: {_memory(memory)}"
    )
    assert {one.answer["accepted"] for one in sent} == {rows}
    assert not failures
    assert len(seconds) >= ROUND_TRIPS
    assert loaded.quantile(0.99) < 0.5
    assert memory.growth_mb < 300
    assert memory_alone.growth_mb < 300
    assert busy_s <= 2 * alone.seconds
    assert HELD_LONG not in (site.folder / "api.log").read_text()


def _annotate_beside_imports(
    site: Site, port: int
) -> tuple[list[float], dict[str, int], list[Sender]]:
    """Round trips beside an import, and beside more of them until there are enough round trips."""
    seconds: list[float] = []
    failures: Counter[str] = Counter()
    sent: list[Sender] = []
    while len(seconds) < ROUND_TRIPS:
        sent.append(Sender(site, port, len(sent) + 2))
        sent[-1].thread.start()
        while sent[-1].thread.is_alive():
            some, failed = beside._annotate(site, port, 200)
            seconds += some
            failures.update(failed)
        sent[-1].thread.join()
    return seconds, dict(failures), sent


def _memory(memory: Memory) -> str:
    api, children = (one / 1e6 for one in memory.before)
    return (
        f"API {api:.0f} -> {memory.api / 1e6:.0f} MB, children {children:.0f} -> "
        f"{memory.children / 1e6:.0f} MB, together {memory.growth_mb:+.0f} MB"
    )


def next_comparison(session: Session, project_id: str) -> Candidate | None:
    """What somebody who has done nothing yet is offered."""
    begin = candidates.begin(session, project_id, "u")
    return next(candidates.offers(session, project_id, "u", AT, begin), None)


QUERIES: dict[str, Callable[[Any, Site], object]] = {
    "page of prompts": lambda session, site: prompts.listing(session, site.project, Page()),
    "counts of a project": lambda session, site: projects.get(session, site.project),
    "next comparison": lambda session, site: next_comparison(session, site.project),
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
        # PostgreSQL locks the row of the next comparison, which a session that only reads may not.
        with site.database.write() as session:
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
