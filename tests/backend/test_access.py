"""Who may call what: one table over all routes; a route that stands in no row fails."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.main import ROUTERS
from tests.backend.conftest import Service
from tests.backend.test_loop import comparison, upload

ROLES = ("admin", "researcher", "annotator", "viewer")
NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]

ANYBODY = frozenset(ROLES)
ADMIN = frozenset({"admin"})
WRITING = frozenset({"admin", "researcher"})
READING = frozenset({"admin", "researcher", "viewer"})
JUDGING = frozenset({"admin", "researcher", "annotator"})

RULES: dict[str, frozenset[str] | None] = {
    "POST /session": None,  # gives the credentials that the others want
    "GET /me": ANYBODY,
    "DELETE /session": ANYBODY,
    "POST /users": ADMIN,
    "GET /users": WRITING,
    # One's own keys; those of others are an administrator's.
    "POST /users/{user_id}/keys": ADMIN,
    "GET /users/{user_id}/keys": ADMIN,
    "DELETE /users/{user_id}/keys/{key_id}": ADMIN,
    "POST /projects": WRITING,
    "GET /projects": ANYBODY,
    "GET /projects/{project_id}": ANYBODY,
    "POST /projects/{project_id}/archive": WRITING,
    "POST /projects/{project_id}/restore": WRITING,
    "POST /projects/{project_id}/imports": WRITING,
    "GET /projects/{project_id}/prompts": READING,
    "GET /projects/{project_id}/demonstrations": READING,
    "GET /projects/{project_id}/solutions": READING,
    "GET /projects/{project_id}/responses": READING,
    "POST /projects/{project_id}/comparisons": WRITING,
    "GET /projects/{project_id}/comparisons": READING,
    "GET /projects/{project_id}/judgments": ANYBODY,
    "GET /projects/{project_id}/agreement": READING,
    "POST /projects/{project_id}/assignments": JUDGING,
    "GET /projects/{project_id}/annotation": JUDGING,
    "POST /assignments/{assignment_id}/judgment": JUDGING,
    "POST /assignments/{assignment_id}/skip": JUDGING,
    "POST /assignments/{assignment_id}/renew": JUDGING,
    "POST /projects/{project_id}/snapshots": WRITING,
    "GET /projects/{project_id}/snapshots": READING,
    "GET /snapshots/{snapshot_id}": READING,
    "GET /snapshots/{snapshot_id}/lines": READING,
    "GET /snapshots/{snapshot_id}/export": READING,
    "POST /snapshots/{snapshot_id}/archive": WRITING,
    "POST /snapshots/{snapshot_id}/restore": WRITING,
    "POST /models": WRITING,
    "GET /models": READING,
    "GET /models/{model_id}": READING,
    "POST /models/{model_id}/archive": WRITING,
    "POST /models/{model_id}/restore": WRITING,
    "POST /runs": WRITING,
    "POST /runs/validate": WRITING,
    "GET /runs": READING,
    "GET /runs/{run_id}": READING,
    "POST /runs/{run_id}/cancel": WRITING,
    "POST /runs/{run_id}/pause": WRITING,
    "POST /runs/{run_id}/resume": WRITING,
    "POST /runs/{run_id}/retry": WRITING,
    "POST /runs/{run_id}/clone": WRITING,
    "POST /runs/{run_id}/archive": WRITING,
    "POST /runs/{run_id}/restore": WRITING,
    "GET /runs/{run_id}/events": READING,
    "GET /runs/{run_id}/logs": READING,
    "GET /runs/{run_id}/checkpoints": READING,
    "POST /runs/{run_id}/checkpoints/{step}/pin": WRITING,
    "POST /runs/{run_id}/checkpoints/{step}/unpin": WRITING,
    "GET /runs/{run_id}/failures": READING,
    "GET /runs/{run_id}/artifacts": READING,
    "POST /experiments": WRITING,
    "GET /experiments": READING,
    "GET /experiments/{experiment_id}": READING,
    "GET /metrics": READING,
    "POST /runs/{run_id}/metrics": WRITING,
    "GET /runs/{run_id}/samples": READING,
    "GET /stream": READING,
    "GET /runs/{run_id}/stream": READING,
    "GET /jobs/{job_id}": ANYBODY,
    "DELETE /jobs/{job_id}": ANYBODY,
    "GET /methods": ANYBODY,
    "GET /workers": ANYBODY,
    "GET /version": ANYBODY,
    "GET /audit": ADMIN,
}


def every_route() -> set[str]:
    """Method and path of each route below /api/v1."""
    return {
        f"{method} {route.path}"  # type: ignore[attr-defined]
        for router in ROUTERS
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined]
    }


def call(client: TestClient, rule: str) -> int:
    """The status of a call with ids of nothing and an empty body."""
    method, path = rule.split()
    objects = ("user", "key", "assignment", "snapshot", "model", "run", "experiment", "project")
    for name in (*objects, "job"):
        path = path.replace(f"{{{name}_id}}", f"{name}_nothing").replace("{step}", "1")
    body: dict[str, Any] | None = {} if method == "POST" else None
    return client.request(method, path, json=body).status_code


def test_every_route_stands_in_the_table_of_rules() -> None:
    assert every_route() == set(RULES)


def test_each_role_may_call_what_the_table_says_and_nothing_else(
    light_service: Service,
) -> None:
    admin = light_service.client()
    clients = {}
    for role in ROLES:
        user = admin.post("/users", json={"name": role, "role": role}).json()
        key = admin.post(f"/users/{user['id']}/keys", json={"name": "k"}).json()["key"]
        clients[role] = light_service.client(key)
    nobody = light_service.client("pk_unknown")

    wrong = []
    for rule, holders in RULES.items():
        if holders is None:
            continue
        if call(nobody, rule) != 401:
            wrong.append(f"{rule} answers without a key")
        for role, client in clients.items():
            refused = call(client, rule) in (401, 403)
            if refused == (role in holders):
                wrong.append(f"{rule} {'refuses' if refused else 'lets in'} {role}")
    assert wrong == []


def test_what_belongs_to_a_foreign_project_does_not_exist(
    api: TestClient, new_user: NewUser
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", comparison(1))
    upload(api, project, "prompts", {"prompt": "hello"})
    body = {"name": "s", "kind": "prompts"}
    snapshot = api.post(f"/projects/{project}/snapshots", json=body).json()["id"]
    model = {"name": "m", "source": {"hub_id": "a/b"}, "project_id": project}
    model_id = api.post("/models", json=model).json()["id"]
    addresses = [f"/snapshots/{snapshot}", f"/snapshots/{snapshot}/export", f"/models/{model_id}"]
    addresses += [
        path.split()[1].replace("{project_id}", project)
        for path in RULES
        if path.startswith("GET /projects/{project_id}")
    ]

    stranger, _ = new_user("researcher")
    member, _ = new_user("researcher", project)
    assert [stranger.get(one).status_code for one in addresses] == [404] * len(addresses)
    assert [member.get(one).status_code for one in addresses] == [200] * len(addresses)
    assert stranger.get("/projects").json()["items"] == []
    assert stranger.get("/models").json()["items"] == []
    refused = stranger.post(f"/projects/{project}/imports?kind=prompts", content=b'{"prompt":"x"}')
    assert refused.status_code == 404


def test_a_researcher_sees_the_project_it_creates(api: TestClient, new_user: NewUser) -> None:
    client, _ = new_user("researcher")
    project = client.post("/projects", json={"name": "mine"}).json()
    assert client.get(f"/projects/{project['id']}").status_code == 200
    assert client.get("/me").json()["project_ids"] == [project["id"]]


@pytest.mark.parametrize("role", ["researcher", "annotator", "viewer"])
def test_everybody_makes_and_revokes_keys_of_their_own(new_user: NewUser, role: str) -> None:
    client, user = new_user(role)
    made = client.post(f"/users/{user['id']}/keys", json={"name": "mine"}).json()
    listed = client.get(f"/users/{user['id']}/keys").json()["items"]

    assert made["key"].startswith(made["prefix"])
    assert [one["key"] for one in listed] == [None, None]
    assert client.delete(f"/users/{user['id']}/keys/{made['id']}").status_code == 204
    client.headers["Authorization"] = f"Bearer {made['key']}"
    assert client.get("/me").status_code == 401
