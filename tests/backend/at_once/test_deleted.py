"""What is changed while another request deletes it is a conflict, not an error of the service."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from sqlalchemy.orm import Session

from backend.store import saved_views
from backend.store.data import practice
from backend.store.people import members
from tests.backend.at_once.beside import Request
from tests.backend.conftest import Service
from tests.backend.test_practice import Class

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


class Thing(NamedTuple):
    """Something of a project: where it is changed, by what, and how it is deleted."""

    path: str
    change: dict[str, Any]
    delete: Callable[[Session], object]


def member(api: TestClient) -> Thing:
    """A role in a project."""
    project = api.post("/projects", json={"name": "P"}).raise_for_status().json()["id"]
    body = {"name": "R", "role": "annotator", "project_ids": [project]}
    user = api.post("/users", json=body).raise_for_status().json()["id"]
    path = f"/projects/{project}/members/{user}"
    return Thing(path, {"role": "viewer"}, lambda session: members.remove(session, project, user))


def view(api: TestClient) -> Thing:
    """A saved view."""
    project = api.post("/projects", json={"name": "P"}).raise_for_status().json()["id"]
    body = {"page": "runs", "name": "v", "query": "a=1"}
    made = api.post(f"/projects/{project}/views", json=body).raise_for_status().json()["id"]
    path = f"/projects/{project}/views/{made}"
    change = {"revision": 1, "name": "w"}
    return Thing(path, change, lambda session: saved_views.delete(session, project, made))


def practice_comparison(api: TestClient) -> Thing:
    """A comparison for practice."""
    room = Class(api, practice=1)
    path = f"{room.path}/comparisons/{room.ids[0]}"
    return Thing(
        path,
        {"explanation": "Better."},
        lambda session: practice.unmark(session, room.project, room.ids[0]),
    )


def changed_beside_its_end(service: Service, thing: Thing) -> Response:
    """What a change answers that comes while the thing is being deleted."""
    api, database = service.client(), service.app.state.database
    with database.write() as session:
        thing.delete(session)
        other = Request(database, lambda: api.patch(thing.path, json=thing.change))
    return other.result()


@pytest.mark.parametrize("make", [view, practice_comparison])
def test_what_is_deleted_meanwhile_is_a_conflict(
    postgres_service: Service, make: Callable[[TestClient], Thing]
) -> None:
    api = postgres_service.client()
    thing = make(api)

    answer = changed_beside_its_end(postgres_service, thing)

    assert answer.status_code == 409
    assert "deleted" in answer.json()["detail"]
    assert api.patch(thing.path, json=thing.change).status_code == 404


def test_who_was_removed_meanwhile_is_no_member(postgres_service: Service) -> None:
    """The change waits for the removal before it looks."""
    thing = member(postgres_service.client())
    assert changed_beside_its_end(postgres_service, thing).status_code == 404
