"""How much one person may have of what every request or every withdrawal reads."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import insert

from backend.schemas.people import MOST_MEMBERSHIPS
from backend.store.db import Database
from backend.store.tables.data import Project
from backend.store.tables.people import Membership
from tests.backend.conftest import Service
from tests.backend.test_invitations import invited

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def plant_projects(database: Database, user_id: str, count: int) -> list[str]:
    """Projects of which somebody is a member."""
    ids = [f"project_{user_id}_{n}" for n in range(count)]
    with database.write() as session:
        session.execute(
            insert(Project), [{"id": one, "name": one, "created_at": AT} for one in ids]
        )
        session.execute(
            insert(Membership),
            [{"user_id": user_id, "project_id": one, "role": "researcher"} for one in ids],
        )
    return ids


def test_nobody_has_a_role_in_more_projects_than_a_request_should_read(
    service: Service, api: TestClient, new_user: NewUser
) -> None:
    rosa, user = new_user("researcher")
    ids = plant_projects(service.app.state.database, user["id"], MOST_MEMBERSHIPS - 1)
    assert rosa.post("/projects", json={"name": "the last"}).status_code == 201

    full = rosa.post("/projects", json={"name": "one too many"})

    assert full.status_code == 409
    assert "1,000 projects" in full.json()["detail"]
    assert "Remove yourself" in full.json()["advice"]
    assert len(rosa.get("/me").json()["memberships"]) == MOST_MEMBERSHIPS
    # Nor is a project left that nobody asked for.
    names = [one["name"] for one in api.get("/projects").json()["items"]]
    assert "one too many" not in names

    other = str(api.post("/projects", json={"name": "other"}).json()["id"])
    (link,) = invited(api, other)
    assert rosa.post("/invitation/join", json={"token": link["token"]}).status_code == 409
    # A better role where one has a role already is nothing more.
    api.patch(f"/projects/{ids[0]}/members/{user['id']}", json={"role": "annotator"})
    (better,) = invited(api, ids[0], role="researcher")
    assert rosa.post("/invitation/join", json={"token": better["token"]}).status_code == 200

    assert rosa.delete(f"/projects/{ids[1]}/members/{user['id']}").status_code == 204
    assert rosa.post("/invitation/join", json={"token": link["token"]}).status_code == 200
