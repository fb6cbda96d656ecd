"""Problem sets that have to wait: for a place to import, or for an import of another process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.jobs import runner
from backend.jobs.children import Children
from backend.jobs.withdrawal import withdraw
from backend.uploads.turns import UploadTurns
from tests.backend.conftest import Service, serve
from tests.backend.imports.work import Place, begin
from tests.backend.jobs.test_job_routes import ASYNC, ended
from tests.processes import wait_until

ASKED = {"set": "lists", "levels": [2], "count": 5}


def projects(api: TestClient) -> list[str]:
    return [str(api.post("/projects", json={"name": name}).json()["id"]) for name in "PQ"]


def ask(api: TestClient, project: str) -> str:
    """A problem set that somebody comes back for; the address of its job."""
    answer = api.post(f"/projects/{project}/problem-sets", json=ASKED, headers=ASYNC)
    return f"/jobs/{answer.raise_for_status().json()['id']}"


def state(api: TestClient, job: str) -> Any:
    return api.get(job).json()["state"]


def made(api: TestClient, job: str) -> int:
    """How many prompts a job has brought that succeeds."""
    found = ended(api, job)
    assert found["state"] == "succeeded", found
    return int(found["result"]["accepted"])


def test_an_import_of_another_process_keeps_its_own_project_waiting_alone(
    service: Service, tmp_path: Path
) -> None:
    api, database = service.client(), service.app.state.database
    waiting, free = projects(api)
    user = api.get("/me").json()["id"]
    place = Place(database, tmp_path / "other", user=user, project=waiting)
    new = begin(place, "prompts", {"prompt": "a"})

    late, soon = ask(api, waiting), ask(api, free)
    assert made(api, soon) == 5
    assert state(api, late) == "queued"
    withdraw(database, new.id)
    assert made(api, late) == 5


def test_a_file_that_is_imported_keeps_its_own_project_waiting_alone(
    light_service: Service,
) -> None:
    api = light_service.client()
    waiting, free = projects(api)
    turns: UploadTurns = light_service.app.state.upload_turns
    with light_service.portal.wrap_async_context_manager(turns.importing(waiting)):
        late, soon = ask(api, waiting), ask(api, free)
        assert made(api, soon) == 5
        assert state(api, late) == "queued"
    assert made(api, late) == 5


@pytest.fixture
def seldom(
    sqlite_url: str, tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    """A service that never looks at the rows of its jobs."""
    monkeypatch.setattr(runner, "BEAT_S", 3600.0)
    yield from serve(sqlite_url, tmp_path / "data", children)


def test_one_that_is_cancelled_leaves_the_line_at_once(seldom: Service) -> None:
    api = seldom.client()
    waiting, _ = projects(api)
    turns: UploadTurns = seldom.app.state.upload_turns
    with seldom.portal.wrap_async_context_manager(turns.importing(waiting)):
        jobs = [ask(api, waiting) for _ in range(runner.MOST_OF_A_PERSON)]
        address = f"/projects/{waiting}/problem-sets"
        assert api.post(address, json=ASKED, headers=ASYNC).status_code == 429
        assert api.delete(jobs[0]).json()["state"] == "cancelled"
        # Its row is ended in a thread.
        wait_until(
            lambda: api.post(address, json=ASKED, headers=ASYNC).status_code == 202, "there is room"
        )
    assert made(api, jobs[1]) == 5
    assert state(api, jobs[0]) == "cancelled"
