"""What a client sees of jobs: answers as before, 202 and a job where it prefers, nobody else's."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.jobs.children import Children
from backend.jobs.runner import Waiter
from backend.schemas.vocabulary import Role
from backend.store.db import Database
from backend.store.people import users
from backend.store.tables.data import SnapshotLine
from backend.store.tables.jobs import Job
from tests import processes
from tests.backend.conftest import Service, serve
from tests.backend.jobs import planted
from tests.backend.test_loop import comparison, upload
from tests.backend.test_models import write_safetensors
from tests.backend.test_snapshots import judge_all

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
ASYNC = {"Prefer": "respond-async"}


def ended(api: TestClient, address: str) -> dict[str, Any]:
    """A job when it has ended."""

    def has_ended() -> bool:
        return api.get(address).raise_for_status().json()["state"] not in ("queued", "running")

    processes.wait_until(has_ended, f"{address} has ended")
    job: dict[str, Any] = api.get(address).json()
    return job


def project_with(api: TestClient, database: Database, prompts: int) -> str:
    """A project with so many prompts."""
    project = str(api.post("/projects", json={"name": "P"}).raise_for_status().json()["id"])
    with database.write() as session:
        planted.prompts(session, project, prompts)
    return project


def kinds(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(Job.kind).order_by(Job.number)))


def test_a_snapshot_that_nobody_waits_for(
    api: TestClient, database: Database, new_user: NewUser
) -> None:
    project = project_with(api, database, 600)
    rosa, user = new_user("researcher", project, name="Rosa")
    body = {"name": "s", "kind": "prompts", "heldout_fraction": 0.5}

    taken = rosa.post(f"/projects/{project}/snapshots", json=body, headers=ASYNC)

    assert taken.status_code == 202
    assert taken.headers["Preference-Applied"] == "respond-async"
    job_id = taken.json()["id"]
    assert taken.headers["Location"] == f"/api/v1/jobs/{job_id}"
    assert taken.json()["state"] in ("queued", "running")
    job = ended(rosa, f"/jobs/{job_id}")
    assert (job["kind"], job["state"], job["project_id"]) == (
        "freeze_snapshot", "succeeded", project
    )  # fmt: skip
    assert job["progress"] == {"done": 600, "total": 600}
    assert job["error"] is None
    assert job["result"] == api.get(f"/snapshots/{job['result']['id']}").json()
    waited = api.post(f"/projects/{project}/snapshots", json=body).json()
    assert waited["sha256"] == job["result"]["sha256"]
    assert waited.keys() == job["result"].keys()
    (line,) = api.get("/audit", params={"action": "create_snapshot", "user_id": user["id"]}).json()[
        "items"
    ]
    assert (line["object_id"], line["user_name"]) == (job["result"]["id"], "Rosa")
    assert line["data"] == {"project_id": project}


def test_jobs_of_others_are_as_if_they_were_not(
    api: TestClient, database: Database, new_user: NewUser
) -> None:
    project = project_with(api, database, 5)
    rosa, _ = new_user("researcher", project)
    paul, _ = new_user("researcher", project)
    body = {"name": "s", "kind": "prompts"}
    job_id = rosa.post(f"/projects/{project}/snapshots", json=body, headers=ASYNC).json()["id"]
    ended(rosa, f"/jobs/{job_id}")
    missing = "job_" + "a" * 20

    for verb in ("GET", "DELETE"):
        told = []
        for one in (job_id, missing):
            answer = paul.request(verb, f"/jobs/{one}", headers={"X-Request-Id": "the-same"})
            assert answer.status_code == 404
            told.append(answer.text.replace(one, "ID"))
        assert told[0] == told[1]
    assert api.get(f"/jobs/{job_id}").json()["state"] == "succeeded", "administrators see all"
    assert rosa.delete(f"/jobs/{job_id}").json()["state"] == "succeeded", "it has ended"


def has_lines(database: Database) -> bool:
    with database.read() as session:
        return session.scalar(select(SnapshotLine.position).limit(1)) is not None


@pytest.fixture
def slow_api(store_url: str, tmp_path: Path, slow_children: Children) -> Iterator[TestClient]:
    """The administrator's client where a snapshot takes as long as a test."""
    for service in serve(store_url, tmp_path / "data", slow_children):
        yield service.client()


def test_a_cancelled_job_leaves_nothing(slow_api: TestClient, database: Database) -> None:
    api = slow_api
    project = project_with(api, database, 12_000)
    body = {"name": "s", "kind": "prompts"}
    job_id = api.post(f"/projects/{project}/snapshots", json=body, headers=ASYNC).json()["id"]
    processes.wait_until(lambda: has_lines(database), "lines are written")
    assert api.get(f"/projects/{project}/snapshots").json()["items"] == []

    assert api.delete(f"/jobs/{job_id}").json()["state"] == "cancelled"

    processes.wait_until(lambda: not has_lines(database), "nothing is left")
    job = api.get(f"/jobs/{job_id}").json()
    assert (job["state"], job["result"]) == ("cancelled", None)
    assert api.get(f"/projects/{project}/snapshots").json()["items"] == []


def test_a_job_that_fails_says_what_its_request_would_have_said(
    api: TestClient, database: Database
) -> None:
    project = project_with(api, database, 0)
    body = {"name": "s", "kind": "prompts"}
    waited = api.post(f"/projects/{project}/snapshots", json=body)
    job_id = api.post(f"/projects/{project}/snapshots", json=body, headers=ASYNC).json()["id"]

    job = ended(api, f"/jobs/{job_id}")

    assert job["state"] == "failed"
    problem = waited.json()
    assert problem["status"] == waited.status_code == 422
    assert job["error"] == {x: problem[x] for x in ("title", "status", "detail", "advice")}


def test_one_key_is_one_snapshot_however_often_and_in_which_way_it_is_sent(
    api: TestClient, service: Service, database: Database
) -> None:
    project = project_with(api, database, 3000)
    address = f"/projects/{project}/snapshots"
    body = {"name": "s", "kind": "prompts"}
    waiting = {"Idempotency-Key": "one"}
    with ThreadPoolExecutor(3) as threads:
        sent = [
            threads.submit(service.client().post, address, json=body, headers=waiting)
            for _ in range(3)
        ]
        answers = [one.result() for one in sent]
    again = api.post(address, json=body, headers=waiting)
    assert {one.status_code for one in [*answers, again]} == {201}
    assert all(one.json() == again.json() for one in answers)
    assert again.headers["Idempotency-Replayed"] == "true"

    coming = {"Idempotency-Key": "two", **ASYNC}
    first, second = (api.post(address, json=body, headers=coming) for _ in range(2))
    assert first.status_code == second.status_code == 202
    assert first.json()["id"] == second.json()["id"]
    ended(api, f"/jobs/{first.json()['id']}")
    third = api.post(address, json=body, headers=coming)
    assert third.json()["id"] == first.json()["id"]
    assert len(api.get(address).json()["items"]) == 2
    other = api.post(address, json={**body, "name": "t"}, headers=waiting)
    assert other.status_code == 409


def test_agreement_is_counted_again_when_somebody_has_judged(
    api: TestClient, database: Database
) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, project, "comparisons", *(comparison(i) for i in range(3)))
    before = kinds(database).count("agreement")
    address = f"/projects/{project}/agreement"
    empty = [api.get(address).json() for _ in range(2)]
    judge_all(api, project, lambda ids: [ids[:1], ids[1:]])
    judged = [api.get(address).json() for _ in range(3)]
    preferring = api.get(address, headers=ASYNC)

    assert empty[0] == empty[1] != judged[0]
    assert judged[0] == judged[1] == judged[2]
    assert judged[0]["annotators"][0]["judgments"] == 3
    assert (preferring.status_code, preferring.json()) == (200, judged[0])
    assert kinds(database).count("agreement") - before == 2


def test_a_model_is_hashed_again_when_a_file_of_it_has_changed(
    service: Service, database: Database
) -> None:
    api = service.client()
    folder = service.data_dir / "models" / "m"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"vocab_size": 4}')
    write_safetensors(folder / "model.safetensors", {"w": ("F32", [2])})
    body = {"name": "m", "kind": "causal_lm", "source": {"path": str(folder)}}

    first, again = (api.post("/models", json=body).raise_for_status().json() for _ in range(2))
    (folder / "config.json").write_text('{"vocab_size": 5}')
    changed = api.post("/models", json=body, headers=ASYNC)
    job = ended(api, f"/jobs/{changed.json()['id']}")

    assert first["sha256"] == again["sha256"] != job["result"]["sha256"]
    assert first["id"] != again["id"]
    assert job["result"] == {
        key: value
        for key, value in api.get(f"/models/{job['result']['id']}").json().items()
        if key not in ("lineage", "has_more_relatives")
    }
    assert kinds(database).count("inspect_model") == 2
    lines = api.get("/audit", params={"action": "register_model"}).json()["items"]
    assert {line["object_id"] for line in lines} == {
        first["id"], again["id"], job["result"]["id"]
    }  # fmt: skip


def test_who_is_out_when_the_job_ends_gets_nothing(
    api: TestClient, database: Database, new_user: NewUser
) -> None:
    project = project_with(api, database, 3000)
    rosa, user = new_user("researcher", project)
    key = api.post(f"/users/{user['id']}/keys", json={"name": "k"}).json()
    rosa.headers["Authorization"] = f"Bearer {key['key']}"
    body = {"name": "s", "kind": "prompts"}
    job_id = rosa.post(f"/projects/{project}/snapshots", json=body, headers=ASYNC).json()["id"]
    api.delete(f"/users/{user['id']}/keys/{key['id']}").raise_for_status()

    job = ended(api, f"/jobs/{job_id}")

    # It may have been done before the key was revoked, and is whole then.
    if job["state"] == "failed":
        assert job["error"]["status"] == 401
        assert api.get(f"/projects/{project}/snapshots").json()["items"] == []
    else:
        assert job["result"]["counts"]["train"]["records"] == 3000


def test_who_lost_the_role_reads_no_answer_and_no_job_any_more(
    api: TestClient, new_user: NewUser
) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, project, "comparisons", comparison(1))
    rosa, user = new_user("researcher", project)
    job_id = rosa.get(f"/projects/{project}/agreement", headers=ASYNC).json()["id"]
    assert ended(rosa, f"/jobs/{job_id}")["result"]["annotators"] == []
    annotator = {"memberships": [{"project_id": project, "role": "annotator"}]}

    api.patch(f"/users/{user['id']}", json=annotator).raise_for_status()

    assert rosa.get(f"/projects/{project}/agreement").status_code == 403
    assert rosa.get(f"/jobs/{job_id}").status_code == 404
    assert rosa.delete(f"/jobs/{job_id}").status_code == 404


def test_who_loses_the_role_while_waiting_gets_no_answer(
    service: Service, api: TestClient, new_user: NewUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    rosa, user = new_user("researcher", project)
    answer = Waiter.answer

    async def shut_out(waiter: Waiter) -> dict[str, Any]:
        found = await answer(waiter)
        with service.app.state.database.write() as session:
            users.set_memberships(session, user["id"], {project: Role.ANNOTATOR})
        return found

    monkeypatch.setattr(Waiter, "answer", shut_out)

    assert rosa.get(f"/projects/{project}/agreement").status_code == 403


@pytest.mark.parametrize("scope", ["read", "rank", "administer", "run"])
def test_a_key_without_the_scope_run_cancels_nothing(
    api: TestClient, service: Service, database: Database, scope: str
) -> None:
    project = project_with(api, database, 1)
    body = {"name": "s", "kind": "prompts"}
    job_id = api.post(f"/projects/{project}/snapshots", json=body, headers=ASYNC).json()["id"]
    me = api.get("/me").json()["id"]
    key = api.post(f"/users/{me}/keys", json={"name": "k", "scopes": [scope]}).json()["key"]

    status = service.client(key).delete(f"/jobs/{job_id}").status_code

    assert status == (200 if scope == "run" else 403)


def test_the_document_says_what_a_route_that_waits_may_answer(light_service: Service) -> None:
    paths = light_service.client().get("/openapi.json").json()["paths"]
    for path, verb in (
        ("/api/v1/projects/{project_id}/snapshots", "post"),
        ("/api/v1/models", "post"),
        ("/api/v1/projects/{project_id}/agreement", "get"),
    ):
        route = paths[path][verb]
        assert "202" in route["responses"], json.dumps(route["responses"])
        assert "prefer" in {one["name"] for one in route["parameters"]}
