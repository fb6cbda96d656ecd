"""Five hundred people for ten minutes: 400 rank, 100 watch ten runs; nobody gets an error.

One real API, one real worker with the fake trainer, SQLite and PostgreSQL. Each annotator thinks
for 20 seconds between two comparisons. At the end some stop thinking, and the server is told to end
while it has work of theirs: what it received whole is answered, and what it has done was told.
`PODIUM_BENCH_MINUTES` shortens it.
"""

import asyncio
import os
import random
import signal
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from sqlalchemy import select

from backend.schemas.vocabulary import Role
from backend.store.tables.data import Judgment
from tests.benchmarks.beside import Site
from tests.worker.floor import Floor

pytestmark = pytest.mark.benchmark

ANNOTATORS, WATCHERS, RUNS = 400, 100, 10
COMPARISONS = 20_000
THINK_S = 20.0
MINUTES = float(os.environ.get("PODIUM_BENCH_MINUTES", "10"))
MOST_P99_S = 0.5
MOST_GROWTH_BYTES = 30e6
# The tests of the worker beat fifty times as often.
AS_SHIPPED = {"PODIUM_BEAT_S": "5", "PODIUM_SWEEP_S": "15"}
# Reading the certificates of the world takes 20 ms: five hundred times that, and all people who
# should have come one after the other come at once.
TRUSTED = ssl.create_default_context()
# Of the memory that is compared with that of the end.
SETTLED_AFTER = 0.3
# Who does not think at the end, fewer than may wait for a turn, and for how many seconds.
HURRIED, HURRY_S = 50, 5.0
# After so many seconds a request that was sent whole over this machine's own network was received.
RECEIVED_S = 0.1


class Sending:
    """When a request was sent whole, as httpx tells it."""

    def __init__(self) -> None:
        self.at = inf

    async def __call__(self, event: str, _: Any) -> None:
        """Hear how far httpx is."""
        if event == "http11.send_request_headers.started":
            self.at = inf
        if event == "http11.send_request_body.complete":
            self.at = time.monotonic()


class Crowd:
    """The people, in one event loop."""

    def __init__(self, port: int, project: str) -> None:
        self.url, self.project = f"http://127.0.0.1:{port}/api/v1", project
        self.seconds: list[float] = []
        self.failures: Counter[str] = Counter()
        self.n_events = 0
        # The assignments whose judgments were answered.
        self.judged: set[str] = set()
        self.hurry = asyncio.Event()
        # From here on the server may refuse what it has not received.
        self.ended_at = inf
        self._unanswered: set[Sending] = set()

    async def rank(self, key: str, *, is_hurried: bool) -> None:
        """Rank until the end, with some thought."""
        async with self._client(key) as client:
            await self._think(random.uniform(0, THINK_S), is_hurried)
            while self.ended_at == inf:
                began, sending = time.monotonic(), Sending()
                try:
                    status = await self._one(client, sending)
                except httpx.HTTPError as error:
                    is_lost = sending.at > self.ended_at - RECEIVED_S
                    status = 0 if is_lost else self._failed(type(error).__name__)
                if status not in (0, 201):
                    self._failed(str(status))
                if not self.hurry.is_set():
                    self.seconds.append(time.monotonic() - began)
                await self._think(THINK_S * random.uniform(0.5, 1.5), is_hurried)

    async def _think(self, seconds: float, is_hurried: bool) -> None:
        if not is_hurried:
            await asyncio.sleep(seconds)
        elif not self.hurry.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.hurry.wait(), seconds)

    async def _one(self, client: httpx.AsyncClient, sending: Sending) -> int:
        path = f"/projects/{self.project}/assignments"
        leased = await self._post(client, sending, path, {"held": []})
        if leased.status_code != 201:
            return leased.status_code
        one = leased.json()
        body = {"tiers": [[each] for each in one["presented_order"]], "verdict": "ranked"}
        path = f"/assignments/{one['id']}/judgment"
        answer = await self._post(client, sending, path, body)
        if answer.status_code == 201:
            self.judged.add(one["id"])
        return answer.status_code

    async def _post(
        self, client: httpx.AsyncClient, sending: Sending, path: str, body: dict[str, Any]
    ) -> httpx.Response:
        sending.at = inf
        self._unanswered.add(sending)
        try:
            return await client.post(path, json=body, extensions={"trace": sending})
        finally:
            self._unanswered.discard(sending)

    def end(self) -> int:
        """Note that the server is told to end now; how many answers it owes."""
        self.ended_at = time.monotonic()
        return sum(one.at < self.ended_at - RECEIVED_S for one in self._unanswered)

    async def watch(self, key: str, run_id: str) -> None:
        """Follow a run as its page does."""
        async with (
            self._client(key) as client,
            client.stream("GET", f"/runs/{run_id}/stream") as answer,
        ):
            if answer.status_code != 200:
                self._failed(f"stream {answer.status_code}")
                return
            try:
                async for line in answer.aiter_lines():
                    self.n_events += line.startswith("data:")
            except httpx.HTTPError:
                pass
            if self.ended_at == inf:
                self._failed("stream ended")

    def _client(self, key: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60, verify=TRUSTED)

    def _failed(self, what: str) -> int:
        self.failures[what] += 1
        return 0


@pytest.fixture
def floor(store_url: str, tmp_path: Path) -> Iterator[Floor]:
    """A worker's side of the same database."""
    floor = Floor(tmp_path / "site" / "data", store_url)
    yield floor
    floor.database.close()


def test_five_hundred_people_for_ten_minutes(floor: Floor, store_url: str, tmp_path: Path) -> None:
    site = Site(store_url, tmp_path / "site", comparisons=COMPARISONS)
    keys = [site.person(Role.ANNOTATOR, 1000 + n) for n in range(ANNOTATORS)]
    site.project = "project_seed"
    watching = [site.person(Role.VIEWER, 2000 + n) for n in range(WATCHERS)]
    site.project = "project_1"
    behaviour: dict[str, Any] = {"steps": 1_000_000, "step_s": 0.5}
    runs = [floor.new_run(behaviour=behaviour) for _ in range(RUNS)]

    async def live(port: int) -> tuple[Crowd, list[int], int]:
        crowd = Crowd(port, site.project)
        tasks = [
            asyncio.create_task(crowd.rank(key, is_hurried=n < HURRIED))
            for n, key in enumerate(keys)
        ]
        tasks += [
            asyncio.create_task(crowd.watch(key, runs[n % RUNS])) for n, key in enumerate(watching)
        ]
        process, memory = psutil.Process(site.pid), []
        for _ in range(round(60 * MINUTES)):
            await asyncio.sleep(1)
            memory.append(process.memory_info().rss)
        crowd.hurry.set()
        await asyncio.sleep(HURRY_S)
        process.send_signal(signal.SIGTERM)
        owed = crowd.end()
        await asyncio.to_thread(process.wait, 30)
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return crowd, memory, owed

    with floor.worker(slots=RUNS, **AS_SHIPPED), site.serving(PODIUM_MIN_FREE_GB="0") as port:
        for run_id in runs:
            floor.wait_for_step(run_id, 1)
        crowd, memory, owed = asyncio.run(live(port))
    with site.database.read() as session:
        stored = set(session.scalars(select(Judgment.assignment_id)))
    site.close()

    order = sorted(crowd.seconds)
    p99 = order[int(0.99 * len(order))]
    early = memory[int(SETTLED_AFTER * len(memory))]
    print(
        f"\n{len(order)} round trips: median {order[len(order) // 2] * 1000:.0f} ms, "
        f"p99 {p99 * 1000:.0f} ms, most {order[-1] * 1000:.0f} ms; "
        f"{crowd.n_events} events to {WATCHERS} watchers; "
        f"failures {dict(crowd.failures) or 'none'}; {owed} answers owed at the end; "
        f"memory {early / 1e6:.0f} MB, at the end {memory[-1] / 1e6:.0f} MB"
    )
    assert not crowd.failures
    assert owed > 0, "the end proves nothing"
    assert stored == crowd.judged
    assert crowd.n_events > WATCHERS
    assert p99 < MOST_P99_S
    assert memory[-1] - early <= MOST_GROWTH_BYTES
