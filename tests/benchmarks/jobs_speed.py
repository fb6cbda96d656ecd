"""What twenty annotators notice of hashing, of agreement and of a snapshot.

A round trip is lease and judgment, one per annotator and second, over a real server; the baseline
is the same without a job. Printed beside them: how long jobs take, and what memory the API and the
processes of its jobs need.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import httpx
import numpy as np
import pytest
from sqlalchemy import func, insert, select

from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.tables.data import Judgment, Prompt
from tests import processes
from tests.backend.jobs import planted
from tests.backend.jobs.test_leaving import Site, serving
from tests.backend.test_models import write_safetensors
from tests.benchmarks.beside import HELD_LONG, Memory

pytestmark = pytest.mark.benchmark

ANNOTATORS = 20
ROUNDS = int(os.environ.get("PODIUM_BENCH_ROUND_TRIPS", "1000"))
PROMPTS = int(os.environ.get("PODIUM_BENCH_PROMPTS", "1000000"))
JUDGED = int(os.environ.get("PODIUM_BENCH_JUDGED", "20000"))
BESIDE_A_SNAPSHOT_S = 0.5
_AT_ONCE = 10_000
LEAST_BAR_S = 0.05
# What the API may need more than before the job, and with the processes of its jobs.
MOST_GROWTH_MB, MOST_GROWTH_TOGETHER_MB = 50, 300


class Ranking:
    """Annotators with a project of their own for each phase."""

    def __init__(self, site: Site, database: Database) -> None:
        self.site = site
        self.database = database

    def _prepare(self, count: int) -> list[tuple[str, str]]:
        """(project, key) of each annotator."""
        api = self.site.api
        with self.database.write() as session:
            project, _ = planted.project(session)
            ids = planted.prompts(session, project, count)
            planted.judged(session, project, [], ids, random.Random(1), required=ANNOTATORS)
        body = {"name": "a", "role": "annotator", "project_ids": [project]}
        users = [api.post("/users", json=body).json()["id"] for _ in range(ANNOTATORS)]
        made = [api.post(f"/users/{one}/keys", json={"name": "k"}).json() for one in users]
        return [(project, one["key"]) for one in made]

    def beside(self, job: Callable[[httpx.AsyncClient], Awaitable[None]] | None) -> np.ndarray:
        """Seconds of each round trip, while the job is done and for ROUNDS of them at least."""
        return asyncio.run(self._beside(job))

    async def _beside(self, job: Callable[[httpx.AsyncClient], Awaitable[None]] | None) -> Any:
        people = await asyncio.to_thread(self._prepare, ROUNDS)
        times: list[float] = []
        is_done = asyncio.Event()
        address = str(self.site.api.base_url)
        admin = dict(self.site.api.headers)
        async with httpx.AsyncClient(base_url=address, headers=admin, timeout=900) as attacker:
            rounds = [
                asyncio.create_task(self._rank(n, *one, address, times, is_done))
                for n, one in enumerate(people)
            ]
            if job is not None:
                await job(attacker)
            while len(times) < ROUNDS and not any(one.done() for one in rounds):
                await asyncio.sleep(0.1)
            is_done.set()
            await asyncio.gather(*rounds)
        return np.array(times)

    async def _rank(
        self, n: int, project: str, key: str, address: str, times: list[float], done: asyncio.Event
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as own:
            await asyncio.sleep(n / ANNOTATORS)
            while not done.is_set():
                began = time.monotonic()
                taken = await own.post(f"/projects/{project}/assignments")
                taken.raise_for_status()
                ids = [one["id"] for one in taken.json()["comparison"]["responses"]]
                body = {"verdict": "ranked", "tiers": [[one] for one in ids]}
                judged = await own.post(f"/assignments/{taken.json()['id']}/judgment", json=body)
                judged.raise_for_status()
                took = time.monotonic() - began
                times.append(took)
                await asyncio.sleep(max(0.0, 1 - took))


@contextmanager
def ranking(url: str, tmp_path: Path) -> Iterator[Ranking]:
    """A server, and its annotators."""
    database = Database(url)
    started = partial(processes.running, [sys.executable, "-m", "backend.ops.serve"])
    with serving(url, tmp_path, started=started) as site:
        yield Ranking(site, database)
    database.close()


def told(name: str, seconds: np.ndarray, more: str = "") -> float:
    """The 99th percentile, printed."""
    median, p99, most = np.percentile(seconds, [50, 99, 100])
    sys.stdout.write(
        f"\n{name}: {len(seconds)} round trips, median {median * 1e3:.0f} ms, "
        f"p99 {p99 * 1e3:.0f} ms, most {most * 1e3:.0f} ms{more}\n"
    )
    sys.stdout.flush()
    return float(p99)


class Beside(Protocol):
    """A job that is done again and again beside the annotators, and what is to be said of it."""

    said: str

    def __init__(self, people: Ranking, data_dir: Path) -> None:
        """Plant what the job is about."""

    async def do(self, api: httpx.AsyncClient) -> None:
        """Ask for the job, and wait for it."""


def plant(database: Database, project: str, first: int, count: int) -> list[str]:
    """The ids of new prompts of a project."""
    rows = planted.prompt_rows(project, first, count)
    with database.write() as session:
        session.execute(insert(Prompt), rows)
    return [str(row["id"]) for row in rows]


class Hashing:
    """Of 2 GB, again and again, for the file is touched."""

    def __init__(self, people: Ranking, data_dir: Path) -> None:
        self.said = ""
        self._model = data_dir / "models" / "large"
        self._model.mkdir(parents=True)
        (self._model / "config.json").write_text("{}")
        write_safetensors(self._model / "model.safetensors", {"w": ("F32", [1])})
        os.truncate(self._model / "model.safetensors", 2**31 - 4096)

    async def do(self, api: httpx.AsyncClient) -> None:
        times = []
        until = time.monotonic() + ROUNDS / ANNOTATORS
        while time.monotonic() < until:
            os.utime(self._model / "model.safetensors")
            body = {"name": "m", "kind": "causal_lm", "source": {"path": str(self._model)}}
            began = time.monotonic()
            made = await api.post("/models", json=body)
            times.append(time.monotonic() - began)
            assert made.status_code == 201, made.text
        self.said = f"; 2 GB, {len(times)} times {np.median(times):.1f} s"


class Agreement:
    """Three clients, who ask again whenever somebody has judged."""

    def __init__(self, people: Ranking, data_dir: Path) -> None:
        self.said = ""
        self._database = people.database
        with self._database.write() as session:
            self._project, user = planted.project(session, "judged")
            other = planted.project(session, "empty")[1]
        for first in range(0, JUDGED, _AT_ONCE):
            ids = plant(self._database, self._project, first, min(_AT_ONCE, JUDGED - first))
            with self._database.write() as session:
                planted.judged(session, self._project, [user, other], ids, random.Random(first))

    async def do(self, api: httpx.AsyncClient) -> None:
        times = []
        address = f"/projects/{self._project}/agreement"
        until = time.monotonic() + ROUNDS / ANNOTATORS
        while time.monotonic() < until:
            await asyncio.to_thread(self._judge)
            began = time.monotonic()
            asked = await asyncio.gather(*(api.get(address) for _ in range(3)))
            times.append(time.monotonic() - began)
            assert {one.status_code for one in asked} == {200}
        began = time.monotonic()
        await api.get(address)
        again = time.monotonic() - began
        self.said = (
            f"; {JUDGED} comparisons, {len(times)} times {np.median(times):.1f} s, "
            f"known {again * 1e3:.0f} ms"
        )

    def _judge(self) -> None:
        """Somebody revises a judgment."""
        with self._database.write() as session:
            row = session.scalars(
                select(Judgment).where(Judgment.project_id == self._project).limit(1)
            ).one()
            values = {
                column.key: getattr(row, column.key)
                for column in Judgment.__table__.columns
                if column.key not in ("number", "id", "revision")
            }
            newest = session.scalar(
                select(func.max(Judgment.revision)).where(
                    Judgment.assignment_id == row.assignment_id
                )
            )
            session.add(Judgment(**values, id=new_id("judgment"), revision=(newest or 0) + 1))


class Freezing:
    """One snapshot of everything."""

    def __init__(self, people: Ranking, data_dir: Path) -> None:
        self.said = ""
        with people.database.write() as session:
            self._project, _ = planted.project(session, "large")
        for first in range(0, PROMPTS, _AT_ONCE):
            plant(people.database, self._project, first, min(_AT_ONCE, PROMPTS - first))

    async def do(self, api: httpx.AsyncClient) -> None:
        body = {"name": "s", "kind": "prompts", "heldout_fraction": 0.1}
        began = time.monotonic()
        made = await api.post(f"/projects/{self._project}/snapshots", json=body)
        took = time.monotonic() - began
        assert made.status_code == 201, made.text
        self.said = f"; {PROMPTS} prompts, it took {took:.0f} s"


JOBS: dict[str, type[Beside]] = {
    "hashing": Hashing,
    "agreement": Agreement,
    "snapshot": Freezing,
}


@pytest.mark.parametrize("name", JOBS)
def test_annotators_beside_a_job(store_url: str, tmp_path: Path, name: str) -> None:
    kind = store_url.partition(":")[0]
    with ranking(store_url, tmp_path) as people:
        job = JOBS[name](people, tmp_path / "data")
        base = told(f"{kind}, no job", people.beside(None))
        with Memory(people.site.process.pid) as memory:
            seconds = people.beside(job.do)
        beside = told(f"{kind}, {name}", seconds, job.said)
    sys.stdout.write(
        f"the API grew by {memory.own_growth_mb:.0f} MB, by {memory.growth_mb:.0f} MB with the "
        "processes of its jobs\n"
    )

    assert len(seconds) >= ROUNDS
    assert beside <= (BESIDE_A_SNAPSHOT_S if name == "snapshot" else max(2 * base, LEAST_BAR_S))
    assert memory.own_growth_mb <= MOST_GROWTH_MB
    assert memory.growth_mb < MOST_GROWTH_TOGETHER_MB
    assert HELD_LONG not in (tmp_path / "api.log").read_text()
