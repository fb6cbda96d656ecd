"""What twenty annotators notice of a snapshot, of agreement and of hashing.

A round trip is lease and judgment, one per annotator and second, over a real server; the baseline
is the same without a job. Printed beside them: how long jobs take and what memory the API needs.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pytest
from sqlalchemy import func, insert, select

from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.tables.data import Judgment, Prompt
from tests.backend.jobs import planted
from tests.backend.jobs.test_leaving import Site, serving
from tests.backend.test_models import write_safetensors

pytestmark = pytest.mark.benchmark

ANNOTATORS = 20
ROUNDS = int(os.environ.get("PODIUM_BENCH_ROUND_TRIPS", "1000"))
PROMPTS = int(os.environ.get("PODIUM_BENCH_PROMPTS", "1000000"))
JUDGED = int(os.environ.get("PODIUM_BENCH_JUDGED", "20000"))
BESIDE_A_SNAPSHOT_S = 0.5
_AT_ONCE = 10_000
LEAST_BAR_S = 0.05
MOST_GROWTH_BYTES = 50e6


class Ranking:
    """Annotators with a project of their own for each phase."""

    def __init__(self, site: Site, database: Database) -> None:
        self.site = site
        self.database = database
        self.worst_memory = 0

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
            memory = asyncio.create_task(self._watch_memory(is_done))
            if job is not None:
                await job(attacker)
            while len(times) < ROUNDS and not any(one.done() for one in rounds):
                await asyncio.sleep(0.1)
            is_done.set()
            await asyncio.gather(*rounds, memory)
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

    async def _watch_memory(self, done: asyncio.Event) -> None:
        while not done.is_set():
            self.worst_memory = max(self.worst_memory, self.site.process.memory_info().rss)
            await asyncio.sleep(0.1)


@contextmanager
def ranking(url: str, tmp_path: Path) -> Iterator[Ranking]:
    """A server, and annotators who have their baseline behind them."""
    database = Database(url)
    with serving(url, tmp_path) as site:
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


def test_annotators_beside_jobs(store_url: str, tmp_path: Path) -> None:
    kind = store_url.partition(":")[0]
    with ranking(store_url, tmp_path) as people:
        jobs = Beside(people, tmp_path / "data")
        base = told(f"{kind}, no job", people.beside(None))
        before = people.worst_memory
        bar = max(2 * base, LEAST_BAR_S)
        snapshot = told(f"{kind}, snapshot of {PROMPTS}", people.beside(jobs.snapshot), jobs.said)
        agreement = told(f"{kind}, agreement of {JUDGED}", people.beside(jobs.agreement), jobs.said)
        hashing = told(f"{kind}, hashing of 2 GB", people.beside(jobs.hashing), jobs.said)
        growth = people.worst_memory - before
        sys.stdout.write(f"the API grew by {growth / 1e6:.0f} MB\n")
        assert snapshot < BESIDE_A_SNAPSHOT_S
        assert agreement <= bar
        assert hashing <= bar
        assert growth <= MOST_GROWTH_BYTES


class Beside:
    """The jobs, and what is to be said of them."""

    def __init__(self, people: Ranking, data_dir: Path) -> None:
        self._database = people.database
        self._process: psutil.Process = people.site.process
        self.said = ""
        with self._database.write() as session:
            self._large, user = planted.project(session, "large")
            self._judged, other = planted.project(session, "judged")
        for first in range(0, PROMPTS, _AT_ONCE):
            self._plant(self._large, first, min(_AT_ONCE, PROMPTS - first))
        for first in range(0, JUDGED, _AT_ONCE):
            ids = self._plant(self._judged, first, min(_AT_ONCE, JUDGED - first))
            with self._database.write() as session:
                planted.judged(session, self._judged, [user, other], ids, random.Random(first))
        self._model = data_dir / "models" / "large"
        self._model.mkdir(parents=True)
        (self._model / "config.json").write_text("{}")
        write_safetensors(self._model / "model.safetensors", {"w": ("F32", [1])})
        os.truncate(self._model / "model.safetensors", 2**31 - 4096)

    def _plant(self, project: str, first: int, count: int) -> list[str]:
        rows = planted.prompt_rows(project, first, count)
        with self._database.write() as session:
            session.execute(insert(Prompt), rows)
        return [str(row["id"]) for row in rows]

    async def snapshot(self, api: httpx.AsyncClient) -> None:
        """One, of everything."""
        body = {"name": "s", "kind": "prompts", "heldout_fraction": 0.1}
        began = time.monotonic()
        made = await api.post(f"/projects/{self._large}/snapshots", json=body)
        took = time.monotonic() - began
        assert made.status_code == 201, made.text
        memory = max(one.memory_info().rss for one in self._process.children())
        self.said = f"; it took {took:.0f} s, its process has {memory / 1e6:.0f} MB"

    async def agreement(self, api: httpx.AsyncClient) -> None:
        """Three clients, who ask again whenever somebody has judged."""
        times = []
        until = time.monotonic() + ROUNDS / ANNOTATORS
        while time.monotonic() < until:
            await asyncio.to_thread(self._judge)
            began = time.monotonic()
            address = f"/projects/{self._judged}/agreement"
            asked = await asyncio.gather(*(api.get(address) for _ in range(3)))
            times.append(time.monotonic() - began)
            assert {one.status_code for one in asked} == {200}
        began = time.monotonic()
        await api.get(f"/projects/{self._judged}/agreement")
        again = time.monotonic() - began
        self.said = f"; {len(times)} times {np.median(times):.1f} s, known {again * 1e3:.0f} ms"

    def _judge(self) -> None:
        """Somebody revises a judgment."""
        with self._database.write() as session:
            row = session.scalars(
                select(Judgment).where(Judgment.project_id == self._judged).limit(1)
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

    async def hashing(self, api: httpx.AsyncClient) -> None:
        """Again and again, for the file is touched."""
        times = []
        until = time.monotonic() + ROUNDS / ANNOTATORS
        while time.monotonic() < until:
            os.utime(self._model / "model.safetensors")
            body = {"name": "m", "kind": "causal_lm", "source": {"path": str(self._model)}}
            began = time.monotonic()
            made = await api.post("/models", json=body)
            times.append(time.monotonic() - began)
            assert made.status_code == 201, made.text
        self.said = f"; {len(times)} times {np.median(times):.1f} s"
