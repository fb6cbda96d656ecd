"""Annotators who wait are told of work within a look or two, and no more of them than there is."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.domain.assignment import LEASE
from backend.domain.records.formats import read_row
from backend.pressure import waiting_annotators
from backend.pressure.waiting_annotators import WaitingAnnotators, _Waiting
from backend.schemas.comparisons import JudgmentBody
from backend.store.data import assignments, comparisons, judgments
from backend.store.data.candidates import left_for
from backend.store.db import Database
from tests.backend.test_assignments import NOW, Crowd
from tests.backend.test_loop import comparison, upload
from tests.loops import in_a_loop
from tests.served import Server

PATIENCE_S = 60.0
# So many looks pass while nothing may be told.
QUIET_LOOKS = 10


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks follow each other at once."""
    monkeypatch.setattr(waiting_annotators, "LOOK_S", 0.01)


class Hall:
    """People of a crowd who wait, and a clock."""

    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd
        self.at = NOW
        self.looks = 0
        self.waiting = WaitingAnnotators(crowd.database, self._now)
        self.told: list[int] = []
        self._tasks: list[asyncio.Task[None]] = []

    def _now(self) -> datetime:
        self.looks += 1
        return self.at

    async def seat(self, *people: int) -> None:
        """Let these wait, in this order."""
        for person in people:
            self._tasks.append(asyncio.create_task(self._wait(person)))
            await asyncio.sleep(0)

    async def _wait(self, person: int) -> None:
        async for chunk in self.waiting.wait(self.crowd.project, self.crowd.people[person]):
            if chunk.startswith(b"event"):
                assert chunk == b"event: work\ndata: {}\n\n"
                self.told.append(person)

    async def quiet(self) -> list[int]:
        """Who was told by the time that nothing more comes."""
        before = self.looks
        async with asyncio.timeout(PATIENCE_S):
            while self.looks < before + QUIET_LOOKS and self.waiting.n_open:
                await asyncio.sleep(0.01)
        return self.told

    async def until_told(self, count: int) -> list[int]:
        """Who was told, once there are so many."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.told) < count:
                await asyncio.sleep(0.01)
        return self.told

    async def leave(self) -> None:
        """Everybody goes."""
        self.waiting.close()
        await asyncio.gather(*self._tasks)
        assert self.waiting.n_open == 0


def vote(crowd: Crowd, person: int, lease: Any, at: datetime) -> None:
    """Judge what one has leased."""
    body = JudgmentBody(verdict="all_bad", unranked=lease.presented_order)  # type: ignore[arg-type]
    with crowd.database.write() as session:
        judgments.submit(session, lease.id, crowd.people[person], body, at=at)


def test_a_lease_that_ends_wakes_who_waits_and_a_judgment_does_not(database: Database) -> None:
    crowd = Crowd(database, n=2, required=1, annotators=3)
    leases = [crowd.lease(0), crowd.lease(1)]

    async def wait() -> None:
        hall = Hall(crowd)
        await hall.seat(2)
        assert await hall.quiet() == []
        vote(crowd, 0, leases[0], NOW)
        assert await hall.quiet() == []
        hall.at = NOW + LEASE + timedelta(seconds=1)
        assert await hall.until_told(1) == [2]
        await hall.leave()

    in_a_loop(wait())


def test_no_more_are_told_than_there_is_room_for_the_longest_waiting_first(
    database: Database,
) -> None:
    crowd = Crowd(database, n=2, required=1, annotators=6)
    skipped, _ = crowd.lease(0), crowd.lease(1)

    # Without its loop, which may look again before the one who was told has leased.
    waiting = WaitingAnnotators(database, lambda: NOW)
    three = [_Waiting(crowd.project, crowd.people[one]) for one in (5, 4, 3)]
    assert waiting._look(three) == []
    with database.write() as session:
        assignments.skip(session, skipped.id, crowd.people[0], reason="r")
    assert waiting._look(three) == three[:1]
    crowd.lease(5)
    assert waiting._look(three[1:]) == []


def test_who_has_judged_it_is_not_told_of_it_and_new_comparisons_wake_everybody(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=2, annotators=2)
    vote(crowd, 0, crowd.lease(0), NOW)

    async def wait() -> None:
        hall = Hall(crowd)
        await hall.seat(0)
        assert await hall.quiet() == []
        await hall.seat(1)
        assert await hall.until_told(1) == [1]
        crowd.lease(1)
        rows = [read_row("comparisons", "auto", comparison(9, 2))]
        with database.write() as session:
            comparisons.ensure(session, crowd.project, rows, at=NOW)
        assert await hall.until_told(2) == [1, 0]
        await hall.leave()

    in_a_loop(wait())


def test_what_is_left_says_what_is_waited_for(database: Database) -> None:
    crowd = Crowd(database, n=4, required=2, annotators=4)
    first = crowd.lease(0)  # wants a second judgment, of somebody else
    vote(crowd, 0, first, NOW)
    held = crowd.lease(0)
    for person in (1, 2):
        # Both leases of a third one: it comes back if they end.
        with database.write() as session:
            assignments.lease(session, crowd.project, crowd.people[person], held=None, at=NOW)
    with database.read() as session:
        left = [left_for(session, crowd.project, one, NOW) for one in crowd.people]
    assert held.id != first.id
    assert (left[0].wanting, left[0].passed, left[0].held) == (4, 1, 1)
    for one in left:
        assert one.available == one.wanting - one.passed - one.held - one.held_by_others >= 0


def test_over_http_it_is_one_event_for_who_may_rank(store_url: str, tmp_path: Path) -> None:
    server = Server(store_url, tmp_path / "served")
    try:
        api = server.client
        project = api.post("/projects", json={"name": "P"}).json()["id"]
        path = f"/projects/{project}/annotation/stream"
        viewer = api.post("/users", json={"name": "v", "role": "viewer", "project_ids": [project]})
        key = api.post(f"/users/{viewer.json()['id']}/keys", json={"name": "k"}).json()["key"]
        url, held_by = f"{server.url}/api/v1{path}", {"Authorization": f"Bearer {key}"}
        assert httpx.get(url, headers=held_by, timeout=PATIENCE_S, verify=False).status_code == 403
        assert httpx.get(url, timeout=PATIENCE_S, verify=False).status_code == 401
        assert api.get("/projects/project_x/annotation/stream").status_code == 404
        with api.stream("GET", path, timeout=PATIENCE_S) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            upload(api, project, "comparisons", comparison(1))  # type: ignore[arg-type]
            lines = [line for line in response.iter_lines() if line and line[0] != ":"]
        assert lines == ["retry: 2000", "event: work", "data: {}"]
    finally:
        server.close()
