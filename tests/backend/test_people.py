"""Shutting a person out: roles, passwords, keys and sessions, at once and everywhere."""

from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from backend import auth
from backend.domain.access import Caller
from backend.errors import Forbidden
from backend.pressure import sign_in_delay
from backend.pressure.sign_in_delay import SignInDelay
from backend.pressure.turns import REFUSE_AFTER_S
from backend.schemas.vocabulary import Role
from tests.backend.conftest import Service
from tests.backend.test_audit_chain import traced
from tests.backend.test_session import ORIGIN

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
PASSWORD = "correct horse battery"


def person(admin: TestClient, email: str, role: str = "annotator") -> str:
    """A user with a password; returns the id."""
    body = {"name": "A", "role": role, "email": email, "password": PASSWORD}
    return str(admin.post("/users", json=body).raise_for_status().json()["id"])


def browser(service: Service, email: str, password: str = PASSWORD) -> TestClient:
    """A browser that is signed in."""
    client = service.anonymous()
    body = {"email": email, "password": password}
    assert client.post("/api/v1/session", json=body).status_code == 201
    client.headers.update(ORIGIN)
    return client


def new_key(client: TestClient, user_id: str, **body: Any) -> dict[str, Any]:
    """A key of this user, made by this client."""
    answer = client.post(f"/users/{user_id}/keys", json={"name": "k", **body})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_a_deactivated_person_is_out_at_once(service: Service) -> None:
    admin = service.client()
    user = person(admin, "a@x.test", "admin")
    key = new_key(admin, user)
    theirs = service.client(key["key"])
    # A key made with theirs, for somebody else, is a door of theirs too.
    other = admin.post("/users", json={"name": "o", "role": "viewer"}).json()["id"]
    child = service.client(new_key(theirs, other)["key"])
    signed_in = browser(service, "a@x.test")
    assert [one.get(path).status_code for one, path in (
        (theirs, "/me"), (child, "/me"), (signed_in, "/api/v1/me"))] == [200] * 3  # fmt: skip

    changed = admin.patch(f"/users/{user}", json={"is_active": False}).json()

    assert changed["is_active"] is False
    assert theirs.get("/me").status_code == 401
    assert child.get("/me").status_code == 401
    assert signed_in.get("/api/v1/me").status_code == 401
    assert user not in [one["id"] for one in admin.get("/users").json()["items"]]
    gone = admin.get("/users", params={"is_active": False}).json()["items"]
    assert [one["id"] for one in gone] == [user]

    # Back again: the password works, the old keys and browsers stay dead.
    admin.patch(f"/users/{user}", json={"is_active": True})
    assert theirs.get("/me").status_code == 401
    assert signed_in.get("/api/v1/me").status_code == 401
    assert browser(service, "a@x.test").get("/api/v1/me").status_code == 200


def test_only_the_right_password_is_told_of_a_deactivated_account(service: Service) -> None:
    admin = service.client()
    user = person(admin, "a@x.test", "annotator")
    admin.patch(f"/users/{user}", json={"is_active": False}).raise_for_status()
    asking = service.anonymous()

    def sign_in(email: str, password: str) -> Any:
        return asking.post("/api/v1/session", json={"email": email, "password": password})

    wrong, unknown = sign_in("a@x.test", "wrong horse battery"), sign_in("b@x.test", PASSWORD)
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert wrong.json()["detail"] == unknown.json()["detail"]
    assert "deactivated" not in wrong.text

    told = sign_in("a@x.test", PASSWORD)
    assert (told.status_code, told.json()["deactivated_user_id"]) == (403, user)
    assert told.json()["detail"] == "this account is deactivated"
    assert "Ask an administrator to activate it again" in told.json()["advice"]
    assert "set-cookie" not in told.headers
    assert asking.get("/api/v1/me").status_code == 401
    outcomes = {line["data"]["outcome"] for line in traced(service, "sign_in")}
    assert outcomes == {"401", "403"}


def test_a_role_taken_away_is_gone_with_the_next_request(
    api: TestClient, new_user: NewUser
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    client, user = new_user("researcher", project)
    assert client.post(f"/projects/{project}/archive").status_code == 200

    viewer = [{"project_id": project, "role": "viewer"}]
    api.patch(f"/users/{user['id']}", json={"memberships": viewer, "role": "viewer"})
    assert client.post(f"/projects/{project}/restore").status_code == 403
    assert client.get(f"/projects/{project}/prompts").status_code == 200
    assert client.post("/projects", json={"name": "Q"}).status_code == 403

    api.patch(f"/users/{user['id']}", json={"memberships": []})
    assert client.get(f"/projects/{project}/prompts").status_code == 404


def test_one_administrator_stays(service: Service) -> None:
    admin = service.client()
    me = admin.get("/me").json()["id"]
    for change in ({"is_active": False}, {"role": "viewer"}):
        refused = admin.patch(f"/users/{me}", json=change)
        assert refused.status_code == 409
        assert "only administrator" in refused.json()["detail"]
    assert admin.get("/me").json()["role"] == "admin"

    person(admin, "second@x.test", "admin")
    assert admin.patch(f"/users/{me}", json={"role": "viewer"}).status_code == 200
    assert admin.get("/audit").status_code == 403


def test_who_administers_no_more_keeps_nothing_of_it(api: TestClient, new_user: NewUser) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    former, bob = new_user("admin", project, name="Bob")
    assert bob["memberships"] == []
    sent = f"/projects/{project}/invitations"
    offer = {"people": [{"name": "x"}], "role": "admin"}
    link = former.post(sent, json=offer).raise_for_status().json()["items"][0]["token"]

    viewer = {"role": "viewer", "memberships": [{"project_id": project, "role": "viewer"}]}
    api.patch(f"/users/{bob['id']}", json=viewer).raise_for_status()

    assert former.get(f"/projects/{project}").status_code == 200
    assert former.post(f"/projects/{project}/archive").status_code == 403
    for role in ("annotator", "admin"):
        assert former.post(sent, json={**offer, "role": role}).status_code == 403
    other, _ = new_user("viewer", project)
    assert other.post("/invitation/join", json={"token": link}).status_code == 404
    assert other.get("/audit").status_code == 403


def test_an_administrator_is_no_member_of_the_projects_it_is_created_with(
    api: TestClient, new_user: NewUser
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    former, bob = new_user("admin", project)
    api.patch(f"/users/{bob['id']}", json={"role": "researcher"}).raise_for_status()
    assert former.get(f"/projects/{project}").status_code == 404
    unknown = {"name": "n", "role": "admin", "project_ids": ["project_nothing"]}
    assert api.post("/users", json=unknown).status_code == 404


@pytest.mark.parametrize("service_role", ["researcher", "annotator", "viewer"])
def test_the_role_admin_in_a_project_gives_nothing(service_role: str) -> None:
    """No row has it; whoever wrote one into the database is no administrator by it."""
    caller = Caller("user_x", "x", Role(service_role), {"project_p": Role.ADMIN})
    assert caller.holds_in("project_p", None), "still a member"
    for wanted in Role:
        assert not caller.holds_in("project_p", wanted)
        with pytest.raises(Forbidden):
            caller.must_hand_out(wanted, "project_p")
    with pytest.raises(Forbidden):
        caller.must_hold_anywhere(Role.ADMIN)


def test_a_new_password_ends_the_other_browsers(light_service: Service) -> None:
    user = person(light_service.client(), "a@x.test")
    here, there = (browser(light_service, "a@x.test") for _ in range(2))
    path = f"/api/v1/users/{user}"

    wrong = here.patch(path, json={"password": "another long one", "current_password": "x" * 12})
    assert wrong.status_code == 403
    right = {"password": "another long one", "current_password": PASSWORD}
    assert here.patch(path, json=right).status_code == 200

    assert here.get("/api/v1/me").status_code == 200
    assert there.get("/api/v1/me").status_code == 401
    body = {"email": "a@x.test", "password": PASSWORD}
    assert light_service.anonymous().post("/api/v1/session", json=body).status_code == 401
    browser(light_service, "a@x.test", "another long one")


def test_an_administrator_proves_their_own_password_before_it_changes(
    light_service: Service,
) -> None:
    admin = light_service.client()
    path = f"/users/{admin.get('/me').json()['id']}"

    first = {"email": "root@x.test", "password": PASSWORD}
    assert admin.patch(path, json=first).status_code == 200, "nothing to prove yet"
    for change in ({"password": "another long one"}, {"email": "thief@x.test"}):
        for current in ({}, {"current_password": "wrong horse!"}):
            light_service.app.state.sign_in_delay = SignInDelay()
            refused = admin.patch(path, json=change | current)
            assert refused.status_code == 403
            assert "podium sign-in --user EMAIL --forget-password" in refused.json()["advice"]
    light_service.app.state.sign_in_delay = SignInDelay()
    assert admin.patch(path, json={"name": "Root"}).status_code == 200
    change = {"email": "me@x.test", "password": "another long one", "current_password": PASSWORD}
    assert admin.patch(path, json=change).status_code == 200
    browser(light_service, "me@x.test", "another long one")
    other = person(admin, "a@x.test")
    assert admin.patch(f"/users/{other}", json={"password": PASSWORD}).status_code == 200


def test_an_administrator_lets_in_who_has_forgotten_a_password(light_service: Service) -> None:
    admin = light_service.client()
    forgetful = person(admin, "a@x.test")
    browsers = [browser(light_service, "a@x.test") for _ in range(2)]
    key = light_service.client(new_key(admin, forgetful)["key"])
    without = admin.post("/users", json={"name": "R", "role": "annotator"}).json()["id"]

    new = {"password": "another long one"}
    assert admin.patch(f"/users/{forgetful}", json=new).status_code == 200
    assert admin.patch(f"/users/{without}", json={**new, "email": "r@x.test"}).is_success

    assert [one.get("/api/v1/me").status_code for one in browsers] == [401, 401]
    assert key.get("/me").status_code == 200
    old = {"email": "a@x.test", "password": PASSWORD}
    assert light_service.anonymous().post("/api/v1/session", json=old).status_code == 401
    for email in ("a@x.test", "r@x.test"):
        browser(light_service, email, "another long one")


def test_guesses_of_the_current_password_wait_as_at_a_sign_in(
    light_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than this process may be stopped between two guesses.
    monkeypatch.setattr(sign_in_delay, "DELAYS_S", (0.0, 0.0, 0.0, 300.0))
    admin = light_service.client()
    user = person(admin, "a@x.test")
    signed_in = browser(light_service, "a@x.test")
    with_key = light_service.client(new_key(admin, user)["key"])

    def guess(client: TestClient, path: str) -> Response:
        body = {"password": "another long one", "current_password": "wrong horse!"}
        return client.patch(f"{path}/users/{user}", json=body)

    statuses = [guess(signed_in, "/api/v1").status_code for _ in range(2)]
    statuses.append(guess(with_key, "").status_code)
    began = monotonic()
    late = guess(with_key, "")

    assert monotonic() - began >= REFUSE_AFTER_S
    assert statuses == [403] * 3
    assert late.status_code == 429
    assert 1 <= int(late.headers["Retry-After"]) <= 300
    assert signed_in.patch(f"/api/v1/users/{user}", json={"name": "B"}).status_code == 200
    browser(light_service, "a@x.test")


@pytest.mark.parametrize(
    "limited", [{"scopes": ["administer"]}, {"scopes": ["administer"], "expires_in_s": 60},
                {"expires_in_s": 3600}],
    ids=["scopes", "both", "end"],
)  # fmt: skip
def test_a_limited_key_gives_nobody_what_outlasts_it(
    light_service: Service, limited: dict[str, Any]
) -> None:
    admin = light_service.client()
    me = admin.get("/me").json()["id"]
    project = admin.post("/projects", json={"name": "P"}).json()["id"]
    other = person(admin, "a@x.test")
    made = light_service.client(new_key(admin, me, **limited)["key"])
    new = {"name": "n", "role": "viewer", "email": "n@x.test"}
    offer = {"people": [{"name": "x"}], "role": "admin"}
    sent = admin.post(f"/projects/{project}/invitations", json=offer).json()["items"][0]

    refused = [
        made.patch(f"/users/{me}", json={"email": "root@x.test", "password": PASSWORD}),
        made.patch(f"/users/{me}", json={"email": "root@x.test"}),
        made.patch(f"/users/{other}", json={"password": PASSWORD}),
        made.patch(f"/users/{other}", json={"role": "admin"}),
        made.post("/users", json={**new, "password": PASSWORD}),
        made.post("/users", json={**new, "role": "admin"}),
        made.post(f"/projects/{project}/invitations", json=offer),
        made.post(f"/projects/{project}/invitations/{sent['id']}/renew", json={}),
    ]

    assert [one.status_code for one in refused] == [403] * len(refused)
    for one in refused:
        assert "a key that lacks a scope or expires cannot" in one.json()["detail"]
        assert "all scopes" in one.json()["advice"]
    # Everything else of its scope it may do.
    assert made.post("/users", json=new).status_code == 201
    assert made.patch(f"/users/{other}", json={"role": "viewer"}).status_code == 200
    whole = light_service.client(new_key(admin, me)["key"])
    assert whole.patch(f"/users/{other}", json={"password": "another long one"}).is_success


@pytest.mark.parametrize(
    "change", [{"role": "admin"}, {"is_active": True}, {"memberships": []}, {"email": "b@x.test"}]
)
def test_nobody_changes_their_own_rights(light_service: Service, change: dict[str, Any]) -> None:
    user = person(light_service.client(), "a@x.test")
    mine = browser(light_service, "a@x.test")
    assert mine.patch(f"/api/v1/users/{user}", json=change).status_code == 403
    assert mine.patch(f"/api/v1/users/{user}", json={"name": "New"}).json()["name"] == "New"


def test_an_administrator_ends_the_sessions_of_another(light_service: Service) -> None:
    admin = light_service.client()
    user = person(admin, "a@x.test")
    browsers = [browser(light_service, "a@x.test") for _ in range(3)]
    assert len(admin.get(f"/users/{user}/sessions").json()["items"]) == 3
    assert admin.delete(f"/users/{user}/sessions").status_code == 204
    assert [one.get("/api/v1/me").status_code for one in browsers] == [401] * 3
    assert admin.get(f"/users/{user}/sessions").json()["items"] == []


def test_signing_in_again_ends_the_session_that_the_browser_had(light_service: Service) -> None:
    """Whoever planted a cookie in a browser is not signed in with whoever signs in there."""
    person(light_service.client(), "a@x.test")
    planted = browser(light_service, "a@x.test")
    victim = light_service.anonymous()
    victim.cookies.set(auth.COOKIE, planted.cookies[auth.COOKIE])
    body = {"email": "a@x.test", "password": PASSWORD}
    assert victim.post("/api/v1/session", json=body).status_code == 201
    assert planted.get("/api/v1/me").status_code == 401


def test_a_key_made_with_a_key_is_no_wider_and_dies_with_it(service: Service) -> None:
    admin = service.client()
    me = admin.get("/me").json()["id"]
    narrow = {"scopes": ["read", "administer"], "expires_in_s": 3600}
    parent = new_key(admin, me, **narrow)
    client = service.client(parent["key"])

    child = new_key(client, me, expires_in_s=86_400)
    assert (child["scopes"], child["parent_id"]) == (["administer", "read"], parent["id"])
    assert child["expires_at"] == parent["expires_at"]
    wider = client.post(f"/users/{me}/keys", json={"name": "k", "scopes": ["read", "run"]})
    assert wider.status_code == 403
    grandchild = new_key(service.client(child["key"]), me)

    assert admin.delete(f"/users/{me}/keys/{parent['id']}").status_code == 204
    for one in (parent, child, grandchild):
        assert service.client(one["key"]).get("/me").status_code == 401
    assert admin.get("/me").status_code == 200


@pytest.mark.parametrize(
    ("scope", "method", "path", "body"),
    [
        ("read", "GET", "/projects", None),
        ("rank", "POST", "/projects/{}/assignments", None),
        ("run", "POST", "/projects", {"name": "P"}),
        ("administer", "POST", "/users", {"name": "n", "role": "viewer"}),
    ],
)
def test_a_key_does_what_its_scopes_say(
    light_service: Service, scope: str, method: str, path: str, body: dict[str, Any] | None
) -> None:
    admin = light_service.client()
    me = admin.get("/me").json()["id"]
    project = admin.post("/projects", json={"name": "P"}).json()["id"]
    for one in ("read", "rank", "run", "administer"):
        client = light_service.client(new_key(admin, me, scopes=[one])["key"])
        answer = client.request(method, path.format(project), json=body)
        assert (answer.status_code == 403) == (one != scope)


@pytest.mark.parametrize("what", ["guidelines", "practice"])
def test_a_key_that_ranks_reads_what_comes_before_ranking(
    light_service: Service, what: str
) -> None:
    admin = light_service.client()
    me = admin.get("/me").json()["id"]
    project = admin.post("/projects", json={"name": "P"}).json()["id"]
    for one in ("read", "rank", "run", "administer"):
        answer = light_service.client(new_key(admin, me, scopes=[one])["key"]).get(
            f"/projects/{project}/{what}"
        )
        assert (answer.status_code == 403) == (one not in {"read", "rank"})
    assert "the scope read or rank; this key has administer" in answer.json()["detail"]


def test_researchers_see_the_people_of_their_projects_only(
    light_service: Service, api: TestClient, new_user: NewUser
) -> None:
    mine, other = (api.post("/projects", json={"name": n}).json()["id"] for n in "AB")
    researcher, me = new_user("researcher", mine)
    _, beside = new_user("annotator", mine, other)
    new_user("annotator", other)
    seen = researcher.get("/users").json()["items"]
    assert {one["id"] for one in seen} == {me["id"], beside["id"]}
    (shown,) = [one for one in seen if one["id"] == beside["id"]]
    assert shown["project_ids"] == [mine]


def test_an_annotator_sees_no_machines_runs_or_people(new_user: NewUser, api: TestClient) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    annotator, _ = new_user("annotator", project)
    for path in ("/workers", "/users", "/runs", "/models", f"/projects/{project}/agreement"):
        assert annotator.get(path).status_code == 403
    assert annotator.get(f"/projects/{project}").json()["counts"] is None
