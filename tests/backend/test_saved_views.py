"""Saved views: named addresses of a project's pages, for everybody who reads it."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.store import saved_views

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
VIEW = {"page": "compare", "name": "learning rates", "query": "runs=run_a,run_b&by=gold%2Freward"}


@pytest.fixture
def views(api: TestClient) -> str:
    """The address of the views of a project."""
    project = api.post("/projects", json={"name": "p"}).json()["id"]
    return f"/projects/{project}/views"


def test_a_view_is_found_by_everybody_who_reads_the_project(
    api: TestClient, new_user: NewUser, views: str
) -> None:
    project = views.split("/")[2]
    author, user = new_user("researcher", project, name="Ada")
    viewer, _ = new_user("viewer", project)
    annotator, _ = new_user("annotator", project)
    made = author.post(views, json=VIEW).raise_for_status().json()
    api.post(views, json=VIEW | {"page": "runs"}).raise_for_status()

    assert (made["query"], made["user_name"]) == (VIEW["query"], user["name"])
    assert viewer.get(views, params={"of": "compare"}).json()["items"] == [made]
    assert viewer.get(f"{views}/{made['id']}").json() == made
    assert len(viewer.get(views).json()["items"]) == 2
    assert viewer.delete(f"{views}/{made['id']}").status_code == 403
    assert annotator.get(views).status_code == 403


def test_whoever_changed_a_view_last_is_not_overwritten(api: TestClient, views: str) -> None:
    view = f"{views}/{api.post(views, json=VIEW).json()['id']}"

    first = api.patch(view, json={"revision": 1, "query": "runs=run_c"})
    second = api.patch(view, json={"revision": 1, "name": "mine"})

    assert (first.json()["query"], first.json()["revision"]) == ("runs=run_c", 2)
    assert first.json()["name"] == VIEW["name"]
    assert second.status_code == 409
    assert "the newest is revision 2" in second.json()["detail"]
    assert api.delete(view).status_code == 204
    assert api.get(view).status_code == 404


def test_a_name_is_given_once_on_each_page(api: TestClient, views: str) -> None:
    api.post(views, json=VIEW).raise_for_status()
    other = api.post(views, json=VIEW | {"name": "other"}).json()

    assert api.post(views, json=VIEW).status_code == 409
    renamed = api.patch(f"{views}/{other['id']}", json={"revision": 1, "name": VIEW["name"]})
    assert renamed.status_code == 409


def test_a_view_of_another_project_is_missing(api: TestClient, views: str) -> None:
    made = api.post(views, json=VIEW).json()["id"]
    other = api.post("/projects", json={"name": "q"}).json()["id"]

    assert api.get(f"/projects/{other}/views/{made}").status_code == 404
    assert api.delete(f"/projects/{other}/views/{made}").status_code == 404


def test_only_what_a_browser_writes_into_an_address_is_kept(api: TestClient, views: str) -> None:
    refused = ["?runs=a", "javascript:alert(1)#<b>", "runs=a\nSet-Cookie: b", "runs=ü", "a" * 8001]
    for query in refused:
        assert api.post(views, json=VIEW | {"query": query}).status_code == 422


def test_a_page_has_a_bounded_number_of_views(
    api: TestClient, views: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 1)
    api.post(views, json=VIEW).raise_for_status()

    assert api.post(views, json=VIEW | {"name": "second"}).status_code == 409
    assert api.post(views, json=VIEW | {"page": "runs"}).status_code == 201
