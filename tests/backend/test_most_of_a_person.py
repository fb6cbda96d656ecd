"""How much one person may have of what every request or every withdrawal reads."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from backend.schemas.people import MOST_MEMBERSHIPS
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.people.invitations import MOST_OPEN
from backend.store.people.keys import MOST_KEYS
from backend.store.tables.credentials import ApiKey, Invitation
from backend.store.tables.data import Project
from backend.store.tables.people import Membership
from tests.backend.conftest import Service
from tests.backend.test_invitations import invited
from tests.plans import sent_to

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def plant_projects(database: Database, user_id: str, count: int) -> list[str]:
    """Projects of which somebody is a member."""
    ids = [f"project_{n}" for n in range(count)]
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


def plant_invitations(
    database: Database, user_id: str, project_ids: list[str], expires_at: datetime, **more: Any
) -> None:
    """An open link to each of these projects, sent by somebody."""
    row = {"name": "n", "role": "annotator", "invited_by": user_id, "created_at": AT, **more}
    rows = [
        {
            **row,
            "id": new_id("invitation"),
            "project_id": one,
            "token_sha256": new_id("t"),
            "expires_at": expires_at,
        }
        for one in project_ids
    ]
    with database.write() as session:
        session.execute(insert(Invitation), rows)


def test_nobody_has_more_keys_than_can_be_ended_at_once(
    service: Service, api: TestClient, new_user: NewUser
) -> None:
    ada, user = new_user("annotator")
    path = f"/users/{user['id']}/keys"
    made = [ada.post(path, json={"name": "k"}).status_code for _ in range(MOST_KEYS - 1)]
    assert set(made) == {201}

    # Nor does an administrator make more for them.
    for client in (ada, api):
        full = client.post(path, json={"name": "one too many"})
        assert full.status_code == 409
        assert "100 keys" in full.json()["detail"]
        assert "Revoke" in full.json()["advice"]

    # What has expired gives way, and what was made with it.
    with service.app.state.database.write() as session:
        own = select(ApiKey).where(ApiKey.user_id == user["id"]).order_by(ApiKey.number.desc())
        for key in session.scalars(own.limit(2)):
            key.expires_at = AT
    assert ada.post(path, json={"name": "k"}).status_code == 201
    assert ada.post(path, json={"name": "k"}).status_code == 201
    assert ada.post(path, json={"name": "k"}).status_code == 409
    # An administrator has a hundred of their own.
    assert api.post(f"/users/{api.get('/me').json()['id']}/keys", json={"name": "k"}).is_success


def test_nobody_has_more_open_invitations_than_can_be_ended_at_once(
    service: Service, api: TestClient, new_user: NewUser
) -> None:
    project, other = (str(api.post("/projects", json={"name": n}).json()["id"]) for n in "PQ")
    rosa, user = new_user("researcher", project, other)
    later = datetime.now(UTC) + timedelta(days=1)
    plant_invitations(
        service.app.state.database, user["id"], [project, other] * (MOST_OPEN // 2 - 1), later
    )
    (last, open_one) = invited(rosa, project, "Ada", "Grace")

    full = rosa.post(
        f"/projects/{other}/invitations", json={"people": [{"name": "n"}], "role": "annotator"}
    )
    assert full.status_code == 409
    assert "1,000 of your invitations are open" in full.json()["detail"]
    assert "Revoke" in full.json()["advice"]

    # Another link for one that is open is no more than there were.
    path = f"/projects/{project}/invitations"
    assert rosa.post(f"{path}/{open_one['id']}/renew", json={}).status_code == 200
    (of_another,) = invited(api, project)
    assert rosa.post(f"{path}/{of_another['id']}/renew", json={}).status_code == 409
    # Others have as many of their own, and one that is over makes room.
    assert rosa.delete(f"{path}/{last['id']}").status_code == 204
    assert rosa.post(f"{path}/{of_another['id']}/renew", json={}).status_code == 200
    assert rosa.post(f"{path}/{last['id']}/renew", json={}).status_code == 409


def test_whoever_takes_a_role_away_ends_a_thousand_links_in_one_statement(
    service: Service, api: TestClient, new_user: NewUser
) -> None:
    database: Database = service.app.state.database
    project, other = (str(api.post("/projects", json={"name": n}).json()["id"]) for n in "PQ")
    _, user = new_user("researcher", project, other)
    now = datetime.now(UTC)
    plant_invitations(database, user["id"], [project] * 900 + [other] * 90, now + timedelta(days=1))
    plant_invitations(database, user["id"], [project] * 10, now - timedelta(days=1))
    plant_invitations(database, user["id"], [project] * 10, now + timedelta(days=1), role="viewer")

    with sent_to(database) as sent:
        changed = api.patch(f"/projects/{project}/members/{user['id']}", json={"role": "viewer"})
    assert changed.status_code == 200

    of_links = [one for one in sent if "UPDATE invitations" in one.statement]
    assert [one.times for one in of_links] == [1]
    assert len(sent) < 40
    with database.read() as session:
        counted = (
            select(Invitation.project_id, Invitation.role, func.count())
            .where(Invitation.revoked_at.is_not(None))
            .group_by(Invitation.project_id, Invitation.role)
        )
        assert [tuple(row) for row in session.execute(counted)] == [(project, "annotator", 900)]


def test_a_hundred_are_invited_in_as_many_statements_as_one(
    service: Service, api: TestClient
) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    names = [f"Person {n}" for n in range(100)]
    counts = []
    for some in (names[:1], names):
        with sent_to(service.app.state.database) as sent:
            made = invited(api, project, *some)
        counts.append(sum(one.times for one in sent if not one.statement.startswith("INSERT")))
        assert [one["name"] for one in made] == some
        assert len({one["token"] for one in made}) == len(some)
    assert counts[1] <= counts[0]
    listed = api.get(f"/projects/{project}/invitations", params={"limit": 100}).json()["items"]
    assert [one["name"] for one in listed] == names[::-1]


def test_a_thousand_roles_are_given_in_as_many_statements_as_one(
    service: Service, api: TestClient, new_user: NewUser
) -> None:
    database: Database = service.app.state.database
    _, user = new_user("researcher")
    ids = plant_projects(database, user["id"], MOST_MEMBERSHIPS)
    ada = str(api.post("/users", json={"name": "Ada", "role": "viewer"}).json()["id"])
    counts = []
    for some in (ids[:1], ids):
        roles = [{"project_id": one, "role": "annotator"} for one in some]
        with sent_to(database) as sent:
            changed = api.patch(f"/users/{ada}", json={"memberships": roles})
        assert changed.json()["project_ids"] == sorted(some)
        counts.append(sum(one.times for one in sent if not one.statement.startswith("INSERT")))
    assert counts[1] <= counts[0]
    unknown = [*roles[:-1], {"project_id": "project_none", "role": "annotator"}]
    assert api.patch(f"/users/{ada}", json={"memberships": unknown}).status_code == 404
