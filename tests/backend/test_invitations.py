"""Invitations: a link works once, gives no more than its sender has, and ends with its sender."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from backend import auth
from backend.store.tables.credentials import Invitation
from tests.backend.conftest import Service
from tests.backend.test_audit import lines
from tests.backend.test_session import ORIGIN

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
PASSWORD = "correct horse battery"


@pytest.fixture
def project(api: TestClient) -> str:
    """A project that people are invited to."""
    return str(api.post("/projects", json={"name": "P"}).json()["id"])


def invited(client: TestClient, project: str, *names: str, **more: Any) -> list[dict[str, Any]]:
    """The invitations of these people, as annotators unless `role` says otherwise."""
    people = [{"name": name} for name in names or ("Ada",)]
    body = {"people": people, "role": "annotator", **more}
    answer = client.post(f"/projects/{project}/invitations", json=body)
    assert answer.status_code == 201, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def opened(service: Service, token: str) -> Response:
    """The answer to whoever opens a link."""
    return service.anonymous().post("/api/v1/invitation", json={"token": token})


def accept(browser: TestClient, token: str, email: str = "ada@x.test", **more: Any) -> Response:
    """The answer to whoever sets a password."""
    body = {"token": token, "email": email, "password": PASSWORD, **more}
    return browser.post("/api/v1/invitation/accept", json=body, headers=ORIGIN)


def states(client: TestClient, project: str, **query: Any) -> dict[str, str]:
    """The states of a project's invitations by name."""
    listed = client.get(f"/projects/{project}/invitations", params=query).json()["items"]
    return {one["name"]: one["state"] for one in listed}


def test_an_invited_person_sets_a_password_is_signed_in_and_can_come_back(
    service: Service, api: TestClient, project: str
) -> None:
    (ada,) = invited(api, project)
    assert opened(service, ada["token"]).json() == {
        "name": "Ada",
        "email": None,
        "role": "annotator",
        "project_id": project,
        "project_name": "P",
        "expires_at": ada["expires_at"],
    }
    browser = service.anonymous()

    answer = accept(browser, ada["token"], "Ada@x.test")

    assert answer.status_code == 201, answer.text
    assert "HttpOnly" in answer.headers["set-cookie"]
    me = browser.get("/api/v1/me").json()
    assert (me["name"], me["email"], me["role"]) == ("Ada", "ada@x.test", "annotator")
    assert me["memberships"] == [{"project_id": project, "role": "annotator"}]
    assert (
        browser.post(f"/api/v1/projects/{project}/assignments", headers=ORIGIN).status_code == 204
    )
    again = service.anonymous()
    said = {"email": "ada@x.test", "password": PASSWORD}
    assert again.post("/api/v1/session", json=said).json()["id"] == me["id"]
    assert states(api, project) == {"Ada": "used"}


def test_used_expired_revoked_and_unknown_links_have_one_answer(
    service: Service, api: TestClient, project: str
) -> None:
    used, revoked, expired, renewed = invited(api, project, "used", "revoked", "expired", "renewed")
    assert accept(service.anonymous(), used["token"]).status_code == 201
    path = f"/projects/{project}/invitations"
    assert api.delete(f"{path}/{revoked['id']}").status_code == 204
    with service.app.state.database.write() as session:
        past = datetime.now(UTC) - timedelta(seconds=1)
        session.query(Invitation).filter_by(id=expired["id"]).update({"expires_at": past})
    fresh = api.post(f"{path}/{renewed['id']}/renew", json={}).json()

    answers = set()
    dead = [one["token"] for one in (used, revoked, expired, renewed)]
    for token in (*dead, "x" * 43, ""):
        for answer in (opened(service, token), accept(service.anonymous(), token, "b@x.test")):
            said = {**answer.json(), "request_id": None}
            answers.add((answer.status_code, str(said)))
    assert len(answers) == 1
    assert answers.pop()[0] == 404
    assert opened(service, fresh["token"]).status_code == 200
    assert states(api, project) == {
        "used": "used", "revoked": "revoked", "expired": "expired", "renewed": "open"
    }  # fmt: skip
    assert set(states(api, project, state=["open", "expired"])) == {"expired", "renewed"}


def test_one_link_opened_by_eight_at_once_makes_one_account(
    service: Service, api: TestClient, project: str
) -> None:
    (ada,) = invited(api, project)
    barrier = threading.Barrier(4, timeout=120)

    def come(number: int) -> int:
        browser = service.anonymous()
        barrier.wait()
        return accept(browser, ada["token"], f"ada{number}@x.test").status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(come, range(4)))
    assert sorted(statuses) == [201, 404, 404, 404]
    members = api.get(f"/projects/{project}/members").json()["items"]
    assert [one["name"] for one in members if one["role"] == "annotator"] == ["Ada"]


@pytest.mark.parametrize(
    ("sender", "allowed"),
    [
        ("admin", {"admin", "researcher", "viewer", "annotator"}),
        ("researcher", {"researcher", "viewer", "annotator"}),
        ("viewer", set()),
        ("annotator", set()),
    ],
)
def test_nobody_hands_out_a_role_above_their_own_or_of_another_project(
    api: TestClient, new_user: NewUser, project: str, sender: str, allowed: set[str]
) -> None:
    client, _ = (api, None) if sender == "admin" else new_user(sender, project)
    other = api.post("/projects", json={"name": "other"}).json()["id"]
    for role in ("admin", "researcher", "viewer", "annotator"):
        body = {"people": [{"name": "x"}], "role": role}
        here = client.post(f"/projects/{project}/invitations", json=body)
        there = client.post(f"/projects/{other}/invitations", json=body)
        assert here.status_code == (201 if role in allowed else 403)
        assert there.status_code == (201 if sender == "admin" else 404)


def test_who_runs_one_project_only_invites_nobody_into_the_whole_service(
    service: Service, api: TestClient, project: str, new_user: NewUser
) -> None:
    """A researcher by membership alone may not create projects, nor may whom they invite."""
    client, user = new_user("annotator", project)
    roles = {"memberships": [{"project_id": project, "role": "researcher"}]}
    api.patch(f"/users/{user['id']}", json=roles)
    (rosa,) = invited(client, project, "Rosa", role="researcher")
    browser = service.anonymous()
    accept(browser, rosa["token"])

    me = browser.get("/api/v1/me").json()
    assert me["role"] == "annotator"
    assert me["memberships"] == [{"project_id": project, "role": "researcher"}]
    body = {"name": "mine"}
    assert browser.post("/api/v1/projects", json=body, headers=ORIGIN).status_code == 403


@pytest.mark.parametrize(
    "loss", ["deactivated", "demoted", "roles replaced", "key revoked", "key expired"]
)
def test_a_link_is_worth_what_its_sender_may_still_hand_out(
    service: Service, api: TestClient, project: str, loss: str
) -> None:
    body = {"name": "R", "role": "researcher", "project_ids": [project]}
    user = api.post("/users", json=body).json()["id"]
    life = {"expires_in_s": 60} if loss == "key expired" else {}
    key = api.post(f"/users/{user}/keys", json={"name": "k", **life}).json()
    (ada,) = invited(service.client(key["key"]), project)
    assert opened(service, ada["token"]).status_code == 200
    if loss == "key expired":
        assert ada["expires_at"] == key["expires_at"]
        return

    if loss == "deactivated":
        api.patch(f"/users/{user}", json={"is_active": False})
        api.patch(f"/users/{user}", json={"is_active": True})
    elif loss == "demoted":
        api.patch(f"/projects/{project}/members/{user}", json={"role": "viewer"})
        api.patch(f"/projects/{project}/members/{user}", json={"role": "researcher"})
    elif loss == "roles replaced":
        for roles in ([], [{"project_id": project, "role": "researcher"}]):
            change = {"role": "viewer", "memberships": roles}
            assert api.patch(f"/users/{user}", json=change).is_success
    else:
        api.delete(f"/users/{user}/keys/{key['id']}")

    assert opened(service, ada["token"]).status_code == 404
    assert accept(service.anonymous(), ada["token"]).status_code == 404
    assert states(api, project) == {"Ada": "revoked"}


def test_who_has_an_account_joins_with_it_and_loses_nothing(
    service: Service, api: TestClient, project: str
) -> None:
    (ada,) = invited(api, project)
    browser = service.anonymous()
    accept(browser, ada["token"])
    other = api.post("/projects", json={"name": "other"}).json()["id"]
    (again,) = invited(api, other, role="viewer")
    taken = accept(service.anonymous(), again["token"])
    assert taken.status_code == 409
    assert "e-mail" in taken.json()["detail"]

    said = {"token": again["token"]}
    joined = browser.post("/api/v1/invitation/join", json=said, headers=ORIGIN)

    assert joined.status_code == 200, joined.text
    roles = {one["project_id"]: one["role"] for one in joined.json()["memberships"]}
    assert roles == {project: "annotator", other: "viewer"}
    assert opened(service, again["token"]).status_code == 404
    # An administrator who opens a link of an annotator stays one.
    (third,) = invited(api, project, "third")
    assert api.post("/invitation/join", json={"token": third["token"]}).json()["role"] == "admin"


@pytest.mark.parametrize(("held", "offered"), [("annotator", "viewer"), ("viewer", "annotator")])
def test_a_link_to_a_role_beside_ones_own_takes_nothing_away(
    held: str, offered: str, api: TestClient, project: str, new_user: NewUser
) -> None:
    ada, user = new_user(held, project, name="Ada")
    (link,) = invited(api, project, "Ada again", role=offered)

    refused = ada.post("/invitation/join", json={"token": link["token"]})

    assert refused.status_code == 409
    assert f"you have the role {held} in this project" in refused.json()["detail"]
    assert ada.get("/me").json()["memberships"] == [{"project_id": project, "role": held}]
    assert states(api, project) == {"Ada again": "open"}, "who it was meant for can use it"
    (more,) = invited(api, project, "Ada once more", role="researcher")
    joined = ada.post("/invitation/join", json={"token": more["token"]}).json()
    assert joined["memberships"] == [{"project_id": project, "role": "researcher"}]
    assert user["id"] == joined["id"]


def test_an_address_of_the_invitation_is_the_one_that_signs_in(
    service: Service, api: TestClient, project: str
) -> None:
    people = [{"name": "Ada", "email": "Ada@x.test"}, {"name": "Bela"}]
    ada, bela = api.post(
        f"/projects/{project}/invitations", json={"people": people, "role": "annotator"}
    ).json()["items"]
    browser = service.anonymous()
    assert accept(browser, ada["token"], "other@x.test").json()["email"] == "ada@x.test"
    nameless = {"token": bela["token"], "password": PASSWORD}
    refused = service.anonymous().post("/api/v1/invitation/accept", json=nameless)
    assert refused.status_code == 422
    weak = accept(service.anonymous(), bela["token"], "b@x.test", password="password1234")
    assert weak.status_code == 422
    assert opened(service, bela["token"]).status_code == 200, "a refused try uses nothing up"


def test_an_administrator_invites_another(service: Service, api: TestClient, project: str) -> None:
    (ada,) = invited(api, project, role="admin")
    browser = service.anonymous()
    user = accept(browser, ada["token"]).json()
    assert (user["role"], user["memberships"]) == ("admin", [])
    assert browser.get("/api/v1/audit").status_code == 200


def test_a_used_invitation_is_neither_renewed_nor_revoked(
    service: Service, api: TestClient, project: str
) -> None:
    (ada,) = invited(api, project)
    accept(service.anonymous(), ada["token"])
    path = f"/projects/{project}/invitations/{ada['id']}"
    assert api.post(f"{path}/renew", json={}).status_code == 409
    assert api.delete(path).status_code == 409
    other = api.post("/projects", json={"name": "other"}).json()["id"]
    assert api.delete(f"/projects/{other}/invitations/{ada['id']}").status_code == 404


def test_links_that_were_lost_are_renewed_together(
    service: Service, api: TestClient, project: str
) -> None:
    ada, bela, came = invited(api, project, "Ada", "Bela", "Came", expires_in_s=86_400)
    accept(service.anonymous(), came["token"])
    path = f"/projects/{project}/invitations/renew"
    body = {"invitation_ids": [came["id"], bela["id"], ada["id"]], "expires_in_s": 3600}

    answer = api.post(path, json=body)

    assert answer.status_code == 200, answer.text
    renewed = answer.json()["items"]
    assert [one["id"] for one in renewed] == [bela["id"], ada["id"]], "who came has an account"
    for one in renewed:
        life = datetime.fromisoformat(one["expires_at"]) - datetime.now(UTC)
        assert timedelta(minutes=50) < life <= timedelta(hours=1)
    fresh = [one["token"] for one in renewed]
    assert [opened(service, token).status_code for token in fresh] == [200, 200]
    assert [opened(service, one["token"]).status_code for one in (ada, bela)] == [404, 404]
    (line,) = lines(api, action="renew_invitations")
    assert [one["name"] for one in line["data"]["after"]] == ["Bela", "Ada"]
    assert not any(token in str(line) for token in fresh)


def test_links_are_renewed_together_or_not_at_all(
    service: Service, api: TestClient, project: str, new_user: NewUser
) -> None:
    (ada,) = invited(api, project)
    (chief,) = invited(api, project, "Chief", role="admin")
    other = api.post("/projects", json={"name": "other"}).json()["id"]
    (elsewhere,) = invited(api, other, "Elsewhere")
    lead, _ = new_user("researcher", project)
    path = f"/projects/{project}/invitations/renew"

    for client, beside, status in ((api, elsewhere, 404), (lead, chief, 403)):
        body = {"invitation_ids": [ada["id"], beside["id"]]}
        assert client.post(path, json=body).status_code == status
    assert api.post(path, json={"invitation_ids": []}).status_code == 422

    for one in (ada, chief, elsewhere):
        assert opened(service, one["token"]).status_code == 200


def test_a_revoked_invitation_comes_back_by_renewing_it(
    service: Service, api: TestClient, project: str
) -> None:
    (ada,) = invited(api, project)
    path = f"/projects/{project}/invitations/{ada['id']}"
    assert api.delete(path).status_code == 204
    assert api.delete(path).status_code == 204
    renewed = api.post(f"{path}/renew", json={"expires_in_s": 60}).json()
    assert renewed["id"] == ada["id"]
    assert opened(service, renewed["token"]).status_code == 200
    assert opened(service, ada["token"]).status_code == 404


def test_another_site_cannot_accept_and_a_planted_cookie_ends(
    service: Service, api: TestClient, project: str
) -> None:
    ada, bela = invited(api, project, "Ada", "Bela")
    planted = service.anonymous()
    accept(planted, ada["token"])
    victim = service.anonymous()
    victim.cookies.set(auth.COOKIE, planted.cookies[auth.COOKIE])
    body = {"token": bela["token"], "email": "b@x.test", "password": PASSWORD}
    evil = {"Origin": "http://evil.test"}
    path = "/api/v1/invitation/accept"
    assert victim.post(path, json=body, headers=evil).status_code == 403
    assert victim.post(path, json=body, headers=ORIGIN).status_code == 201
    assert planted.get("/api/v1/me").status_code == 401


def test_no_token_stands_in_the_database_or_the_audit(light_service: Service) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    headers = {"Idempotency-Key": "invite"}
    body = {"people": [{"name": "Ada"}, {"name": "Bela"}], "role": "annotator"}
    path = f"/projects/{project}/invitations"
    first = api.post(path, json=body, headers=headers).json()["items"]
    again = api.post(path, json=body, headers=headers).json()["items"]
    accepted = accept(light_service.anonymous(), first[0]["token"]).json()

    assert [one["token"] for one in again] == [None, None]
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert len({one["token"] for one in first}) == 2
    assert all(len(one["token"]) == 43 for one in first), "256 bits"
    url = light_service.app.state.settings.sqlalchemy_url
    dump = "\n".join(sqlite3.connect(url.removeprefix("sqlite:///")).iterdump())
    for one in first:
        assert one["token"] not in dump
    (made,) = lines(api, action="create_invitations")
    assert [one["name"] for one in made["data"]["after"]] == ["Ada", "Bela"]
    (used,) = lines(api, action="accept_invitation")
    assert (used["user_id"], used["object_id"]) == (accepted["id"], accepted["id"])
    assert used["data"]["after"]["memberships"] == [{"project_id": project, "role": "annotator"}]
