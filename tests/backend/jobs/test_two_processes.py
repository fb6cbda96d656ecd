"""One request that comes to two API processes at once is one job."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.api import waiting
from backend.jobs.children import Children
from backend.phases import Phases
from backend.store.tables.jobs import Job
from tests.backend.conftest import Service, serve
from tests.backend.jobs.test_job_routes import ASYNC, ended, project_with


@pytest.fixture
def other_service(
    service: Service, store_url: str, tmp_path: Path, children: Children
) -> Iterator[Service]:
    """A second application on the same database and folder."""
    yield from serve(store_url, tmp_path / "data", children)


def test_one_idempotency_key_is_one_job(
    service: Service, other_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = [service.client(), other_service.client()]
    database = service.app.state.database
    project = project_with(clients[0], database, 5)
    is_new, both = waiting.must_be_new, threading.Barrier(2, timeout=120)

    async def must_be_new(phases: Phases, used: dict[str, str] | None) -> None:
        """Neither is kept when the other looks."""
        await is_new(phases, used)
        await asyncio.to_thread(both.wait)

    monkeypatch.setattr(waiting, "must_be_new", must_be_new)

    def freeze(client: TestClient) -> tuple[int, str, str | None]:
        answer = client.post(
            f"/projects/{project}/snapshots",
            json={"name": "s", "kind": "prompts"},
            headers=ASYNC | {"Idempotency-Key": "one"},
        )
        replayed = answer.headers.get("Idempotency-Replayed")
        return answer.status_code, answer.json()["id"], replayed

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(freeze, clients)

    assert first[:2] == second[:2]
    assert sorted([first[2] or "", second[2] or ""]) == ["", "true"]
    ended(clients[0], f"/jobs/{first[1]}")
    with database.read() as session:
        assert session.scalars(select(Job.id)).all() == [first[1]]
    assert len(clients[0].get(f"/projects/{project}/snapshots").json()["items"]) == 1
