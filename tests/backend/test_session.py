"""Signing in by link, password and key; cookies and their Origin; answers kept by key."""

import runpy
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY
from fastapi.testclient import TestClient

from backend import auth
from backend.domain.own_address import OwnAddress
from backend.errors import NotSignedIn, TooBusy
from backend.pressure import passwords, sign_in_delay
from backend.pressure.passwords import Passwords
from backend.pressure.turns import REFUSE_AFTER_S
from backend.schemas.vocabulary import Role
from backend.store.db import Database
from backend.store.people import users
from backend.store.tables.credentials import SignInToken
from tests.backend.conftest import Service
from tests.loops import in_a_loop

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ORIGIN = {"Origin": "http://localhost"}
PAGE_OF = "X-Podium-User"


def link(service: Service) -> str:
    """The token of a fresh sign-in link."""
    with service.app.state.database.write() as session:
        url = auth.new_sign_in_link(session, "http://localhost/", at=datetime.now(UTC))
    parts = urlsplit(url)
    assert (parts.path, parts.query) == ("/sign-in", "")
    return parts.fragment.removeprefix("token=")


def test_a_sign_in_link_works_once_and_gives_a_strict_cookie(service: Service) -> None:
    token = link(service)
    browser = service.anonymous()
    answer = browser.post("/api/v1/session", json={"token": token}, headers=ORIGIN)

    assert answer.status_code == 201
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert browser.get("/api/v1/me").json()["role"] == "admin"
    again = service.anonymous().post("/api/v1/session", json={"token": token})
    assert again.status_code == 401
    assert "used before" in again.json()["detail"]


def test_two_browsers_with_one_link_at_once_sign_in_once(service: Service) -> None:
    token = link(service)
    barrier = threading.Barrier(8, timeout=120)

    def sign_in(_: int) -> int:
        browser = service.anonymous()
        barrier.wait()
        return browser.post("/api/v1/session", json={"token": token}).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(sign_in, range(8)))
    assert sorted(statuses) == [201] + [401] * 7


def test_a_link_is_dead_after_ten_minutes(database: Database, tmp_path: Path) -> None:
    with database.write() as session:
        auth.ensure_admin(session, tmp_path, at=NOW)
        token = auth.new_sign_in_link(session, "http://x", at=NOW).split("token=")[1]
    late = NOW + timedelta(minutes=10, seconds=1)
    with pytest.raises(NotSignedIn), database.write() as session:
        auth.use_link(session, token, at=late)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.test"}, 403),
        (ORIGIN, 201),
    ],
)
def test_a_cookie_changes_something_only_from_our_own_origin(
    light_service: Service, headers: dict[str, str], status: int
) -> None:
    browser = light_service.anonymous()
    browser.post("/api/v1/session", json={"token": link(light_service)})

    answer = browser.post("/api/v1/projects", json={"name": "P"}, headers=headers)
    assert answer.status_code == status
    assert len(browser.get("/api/v1/projects").json()["items"]) == (status == 201)


def test_the_page_of_one_user_does_nothing_as_another(light_service: Service) -> None:
    browser = light_service.anonymous()
    answer = browser.post("/api/v1/session", json={"token": link(light_service)}, headers=ORIGIN)
    as_user = answer.json()["id"]
    body = {"name": "Theirs"}

    refused = browser.post("/api/v1/projects", json=body, headers=ORIGIN | {PAGE_OF: "usr_other"})
    assert refused.status_code == 401
    assert "another user" in refused.json()["detail"]
    own = browser.post("/api/v1/projects", json=body, headers=ORIGIN | {PAGE_OF: as_user})
    assert own.status_code == 201
    assert browser.get("/api/v1/me", headers={PAGE_OF: "usr_other"}).status_code == 401


def test_a_signed_out_cookie_is_worth_nothing(light_service: Service) -> None:
    browser = light_service.anonymous()
    browser.post("/api/v1/session", json={"token": link(light_service)})
    cookie = browser.cookies[auth.COOKIE]

    assert browser.delete("/api/v1/session", headers=ORIGIN).status_code == 204
    thief = light_service.anonymous()
    thief.cookies.set(auth.COOKIE, cookie)
    assert thief.get("/api/v1/me").status_code == 401


def test_a_password_signs_in_and_a_wrong_one_says_no_more_than_that(
    light_service: Service,
) -> None:
    person = {"name": "A", "role": "annotator", "email": "A@x.test", "password": "correct horse"}
    assert light_service.client().post("/users", json=person).status_code == 201
    browser = light_service.anonymous()

    right = {"email": "a@X.test", "password": "correct horse"}
    assert browser.post("/api/v1/session", json=right).status_code == 201
    wrong = browser.post("/api/v1/session", json={**right, "password": "wrong horse!"})
    unknown = browser.post("/api/v1/session", json={**right, "email": "b@x.test"})
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert wrong.json()["detail"] == unknown.json()["detail"]


def test_wrong_passwords_make_their_sender_wait_and_nobody_else(
    light_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than this process may be stopped between two guesses.
    monkeypatch.setattr(sign_in_delay, "DELAYS_S", (0.0, 0.0, 0.0, 300.0))
    browser = light_service.anonymous()
    body = {"email": "a@x.test", "password": "wrong horse!"}
    answers = [browser.post("/api/v1/session", json=body) for _ in range(3)]
    began = monotonic()
    answers.append(browser.post("/api/v1/session", json=body))
    # Else asking again and again would cost those who work more than a guess does.
    assert monotonic() - began >= REFUSE_AFTER_S
    assert [one.status_code for one in answers] == [401] * 3 + [429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 300
    other = browser.post("/api/v1/session", json={**body, "email": "b@x.test"})
    assert other.status_code == 401


@pytest.fixture
def own_cost() -> Iterator[None]:
    """Passwords at the service's own cost; all other tests hash them at the least."""
    own = runpy.run_path(passwords.__file__)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_hasher", "_DUMMY_HASH"):
            patch.setattr(passwords, name, own[name])
        yield


@pytest.mark.usefixtures("own_cost")
def test_a_hash_costs_what_the_library_advises_and_so_does_looking_for_nobody() -> None:
    kept = in_a_loop(Passwords().hash("correct horse", person="ann"))
    assert extract_parameters(kept) == RFC_9106_LOW_MEMORY
    assert extract_parameters(passwords._DUMMY_HASH) == RFC_9106_LOW_MEMORY


@pytest.mark.usefixtures("own_cost")
@pytest.mark.parametrize("is_busy", [False, True])
def test_a_hash_of_older_parameters_is_renewed_and_never_in_the_way(
    light_service: Service, monkeypatch: pytest.MonkeyPatch, is_busy: bool
) -> None:
    """Nobody is turned away who has the right password, however common it is today."""
    email, password = "old@x.test", "password123"
    older = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(password)
    database = light_service.app.state.database
    with database.write() as session:
        users.create(
            session, name="O", role=Role.VIEWER, email=email, password_hash=older, at=NOW
        )  # fmt: skip
    if is_busy:
        line = light_service.app.state.passwords._line
        turn = line.turn

        def full_after_one(person: str) -> Any:
            monkeypatch.setattr(line, "turn", refuse)
            return turn(person)

        def refuse(person: str) -> Any:
            raise TooBusy("full", advice="Wait.")

        monkeypatch.setattr(line, "turn", full_after_one)

    body = {"email": email, "password": password}
    assert light_service.anonymous().post("/api/v1/session", json=body).status_code == 201

    with database.read() as session:
        found = users.password_hash(session, email)
    assert found is not None
    kept = found.hash
    assert (kept == older) == is_busy
    assert (extract_parameters(kept) == RFC_9106_LOW_MEMORY) == (not is_busy)
    monkeypatch.undo()
    assert light_service.anonymous().post("/api/v1/session", json=body).status_code == 201


def test_links_that_nobody_has_used_are_forgotten_after_their_time(
    database: Database, tmp_path: Path
) -> None:
    with database.write() as session:
        auth.ensure_admin(session, tmp_path, at=NOW)
        for hours in (0, 0, 1):
            auth.new_sign_in_link(session, "http://x", at=NOW + timedelta(hours=hours))

    with database.read() as session:
        assert session.query(SignInToken).count() == 1


def test_an_expired_key_is_refused(database: Database, tmp_path: Path) -> None:
    with database.write() as session:
        auth.ensure_admin(session, tmp_path, at=NOW)
        user_id = users.find_admin(session)
        assert user_id is not None
        key = auth.add_key(session, user_id=user_id, name="k", expires_in_s=60, at=NOW).key
        sent = auth.Credentials("GET", f"Bearer {key}", None, None, "x", "http")
        sender = auth.authenticate(session, sent, at=NOW, own=OwnAddress())
        assert sender.caller.id == user_id
        with pytest.raises(NotSignedIn):
            auth.authenticate(session, sent, at=NOW + timedelta(seconds=61), own=OwnAddress())


def test_no_secret_stands_in_the_database(light_service: Service, tmp_path: Path) -> None:
    api = light_service.client()
    me = api.get("/me").json()["id"]
    headers = {"Idempotency-Key": "make-a-key"}
    made = api.post(f"/users/{me}/keys", json={"name": "k"}, headers=headers).json()
    again = api.post(f"/users/{me}/keys", json={"name": "k"}, headers=headers).json()
    token = link(light_service)
    light_service.anonymous().post("/api/v1/session", json={"token": token})

    assert again == {**made, "key": None}
    url = light_service.app.state.settings.sqlalchemy_url
    dump = "\n".join(sqlite3.connect(url.removeprefix("sqlite:///")).iterdump())
    for secret in (made["key"], light_service.admin_key, token):
        assert secret not in dump


def test_the_same_idempotency_key_and_body_do_the_work_once(api: TestClient) -> None:
    headers = {"Idempotency-Key": "one"}
    first = api.post("/projects", json={"name": "P"}, headers=headers)
    again = api.post("/projects", json={"name": "P"}, headers=headers)

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    other = api.post("/projects", json={"name": "Q"}, headers=headers)
    assert other.status_code == 409
    assert "another request" in other.json()["detail"]
    assert len(api.get("/projects").json()["items"]) == 1


def test_twenty_requests_at_once_with_one_key_create_one_project(service: Service) -> None:
    client = service.client()

    def create(_: int) -> str:
        headers = {"Idempotency-Key": "same"}
        answer = client.post("/projects", json={"name": "P"}, headers=headers)
        return str(answer.raise_for_status().json()["id"])

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(create, range(20)))) == 1
    assert len(client.get("/projects").json()["items"]) == 1


def test_a_refused_request_leaves_its_key_free(api: TestClient) -> None:
    headers = {"Idempotency-Key": "two"}
    assert api.post("/projects", json={"name": ""}, headers=headers).status_code == 422
    assert api.post("/projects", json={"name": "P"}, headers=headers).status_code == 201


def test_keys_of_two_people_do_not_meet(api: TestClient, service: Service) -> None:
    headers = {"Idempotency-Key": "three"}
    mine = api.post("/projects", json={"name": "P"}, headers=headers).json()["id"]
    other = api.post("/users", json={"name": "R", "role": "researcher"}).json()["id"]
    key = api.post(f"/users/{other}/keys", json={"name": "k"}).json()["key"]
    theirs = service.client(key).post("/projects", json={"name": "P"}, headers=headers).json()
    assert theirs["id"] != mine


def test_every_post_that_creates_documents_its_idempotency_key(light_service: Service) -> None:
    paths = light_service.client().get("/openapi.json").json()["paths"]
    without = [
        path
        for path, methods in paths.items()
        if "201" in methods.get("post", {}).get("responses", {})
        # Who has no key yet cannot be told from others who send the same one.
        and path not in ("/api/v1/session", "/api/v1/invitation/accept")
        and "idempotency-key" not in {p["name"] for p in methods["post"].get("parameters", [])}
    ]
    assert without == []
