"""What a request holds while it waits for its body, a password or another person: nothing."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import anyio
import pytest
from fastapi.testclient import TestClient

from backend.domain.assignment import MOST_LEASES
from backend.errors import TooManyTries
from backend.pressure.passwords import MOST_WAITING, Passwords
from backend.pressure.turns import REFUSE_AFTER_S
from backend.routes import CHECKED_IN_LOOP
from backend.store.db import Database
from tests.backend.conftest import Service
from tests.backend.runs.conftest import plant
from tests.backend.test_assignments import ranked, take
from tests.backend.test_loop import comparison, upload
from tests.loops import in_a_loop
from tests.plans import sent_to

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def project(service: Service) -> str:
    """A project with three comparisons."""
    api = service.client()
    made = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, made, "comparisons", *(comparison(number) for number in range(3)))
    return made


class SlowRequest:
    """A request of which the head has come, and whose body comes when the test says so."""

    def __init__(
        self,
        service: Service,
        key: str,
        body: bytes,
        *,
        length: int | None = None,
        path: str = "/api/v1/projects",
    ) -> None:
        self.body = body
        self.messages: list[dict[str, Any]] = []
        self.is_read = False
        self._service = service
        self._may_send = anyio.Event()
        self._asked = anyio.Event()
        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        headers += [(b"authorization", f"Bearer {key}".encode())] if key else []
        headers += [(b"content-length", str(length).encode())] if length is not None else []
        self._scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": b"",
            "root_path": "", "headers": headers, "server": ("localhost", 80),
            "client": ("127.0.0.1", 1), "asgi": {"version": "3.0"}, "state": {},
        }  # fmt: skip

    async def _receive(self) -> dict[str, Any]:
        self.is_read = True
        self._asked.set()
        await self._may_send.wait()
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def _send(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    def answer(self) -> tuple[int, dict[str, Any]]:
        """Let the body come; status and content of the answer."""
        self._service.portal.call(self._may_send.set)
        self._done.result(timeout=60)
        start, *rest = self.messages
        return start["status"], json.loads(b"".join(one.get("body", b"") for one in rest))

    def start(self, *, until_asked: bool = True) -> None:
        """Send the head and, if the service asks for the body, wait until it has."""
        self._done = self._service.portal.start_task_soon(
            self._service.app, self._scope, self._receive, self._send
        )
        if until_asked:
            self._service.portal.call(self._asked.wait)


@pytest.fixture
def admin_id(service: Service) -> str:
    """The administrator's id."""
    return str(service.client().get("/me").json()["id"])


def test_a_body_that_does_not_come_holds_nobody_up(service: Service) -> None:
    slow = [SlowRequest(service, service.admin_key, b'{"name": "slow"}') for _ in range(40)]
    for one in slow:
        one.start()
    quick = service.client().post("/projects", json={"name": "quick"})
    assert quick.status_code == 201
    assert [one.answer()[0] for one in slow] == [201] * 40


def test_a_person_sends_one_large_body_at_a_time(service: Service) -> None:
    admin = service.client()
    other = admin.post("/users", json={"name": "r", "role": "admin"}).json()["id"]
    key = admin.post(f"/users/{other}/keys", json={"name": "k"}).json()["key"]
    name = json.dumps({"name": "large", "guidelines": "g" * 100}).encode()
    body = name + b" " * CHECKED_IN_LOOP

    def large(key: str) -> SlowRequest:
        return SlowRequest(service, key, body, length=len(body))

    first, second, of_other = large(service.admin_key), large(service.admin_key), large(key)
    first.start()
    second.start(until_asked=False)
    of_other.start()
    assert admin.get("/projects").json()["items"] == []
    assert not second.is_read
    assert first.answer()[0] == 201
    assert of_other.answer()[0] == 201
    assert second.answer()[0] == 201
    assert second.is_read


def test_the_body_of_a_stranger_is_not_read(light_service: Service) -> None:
    for key in ("", "pk_unknown"):
        request = SlowRequest(light_service, key, b"{" * 10_000_000)
        request.start(until_asked=False)
        status, _ = request.answer()
        assert (status, request.is_read) == (401, False)


def test_a_body_too_large_is_not_read(light_service: Service) -> None:
    said = SlowRequest(light_service, light_service.admin_key, b"", length=2 << 20)
    said.start(until_asked=False)
    status, problem = said.answer()
    assert (status, said.is_read) == (413, False)
    assert "1024 KiB" in problem["detail"]
    unsaid = SlowRequest(light_service, light_service.admin_key, b" " * (2 << 20))
    unsaid.start()
    assert unsaid.answer()[0] == 413


def test_who_is_shut_out_while_the_body_comes_changes_nothing(service: Service) -> None:
    admin = service.client()
    user = admin.post("/users", json={"name": "r", "role": "researcher"}).json()["id"]
    made = admin.post(f"/users/{user}/keys", json={"name": "k"}).json()["key"]
    deactivated = SlowRequest(service, made, b'{"name": "late"}')
    deactivated.start()
    admin.patch(f"/users/{user}", json={"is_active": False})
    assert deactivated.answer()[0] == 401
    assert admin.get("/projects").json()["items"] == []


@contextmanager
def nothing_computed(passwords: Passwords) -> Iterator[None]:
    """No hash is made before the end of the block, however little it costs."""
    is_over = threading.Event()
    passwords._thread.submit(is_over.wait)
    try:
        yield
    finally:
        is_over.set()


def test_one_password_is_computed_at_once_and_eight_wait() -> None:
    async def flood() -> list[str]:
        passwords, results = Passwords(), []

        async def try_one() -> None:
            try:
                await passwords.fits(None, "wrong horse", person="eve")
                results.append("computed")
            except TooManyTries:
                results.append("refused")

        async with anyio.create_task_group() as group:
            with nothing_computed(passwords):
                for _ in range(MOST_WAITING + 5):
                    group.start_soon(try_one)
                await anyio.wait_all_tasks_blocked()
        right = await passwords.hash("right one alone", person="ann")
        results.append(str(await passwords.fits(right, "right one alone", person="ann")))
        return results

    results = in_a_loop(flood())
    assert results[:4] == ["refused"] * 4
    assert results[4:] == ["computed"] * (MOST_WAITING + 1) + ["True"]


def test_a_flood_of_one_person_turns_nobody_else_away() -> None:
    async def flood() -> dict[str, list[str]]:
        passwords = Passwords()
        results: dict[str, list[str]] = {"eve": [], "ann": []}

        async def try_one(person: str) -> None:
            try:
                await passwords.fits(None, "wrong horse", person=person)
                results[person].append("computed")
            except TooManyTries:
                results[person].append("refused")

        async with anyio.create_task_group() as group:
            with nothing_computed(passwords):
                for _ in range(MOST_WAITING + 1):
                    group.start_soon(try_one, "eve")
                await anyio.wait_all_tasks_blocked()
                group.start_soon(try_one, "ann")
                await anyio.wait_all_tasks_blocked()
        return results

    results = in_a_loop(flood())
    assert results["ann"] == ["computed"]
    assert sorted(results["eve"]) == ["computed"] * MOST_WAITING + ["refused"]


@contextmanager
def held_writer(service: Service) -> Iterator[None]:
    """Hold the write turn, as a slow transaction would."""
    with service.app.state.database.write():
        yield


def test_wrong_passwords_need_no_write_turn(light_service: Service) -> None:
    body = {"email": "a@x.test", "password": "wrong horse!"}
    with held_writer(light_service):
        answer = light_service.anonymous().post("/api/v1/session", json=body)
    assert answer.status_code == 401


def test_what_is_not_valid_needs_no_write_turn(light_service: Service) -> None:
    client: TestClient = light_service.client()
    with held_writer(light_service):
        assert client.post("/projects", json={"nmae": 1}).status_code == 422
        assert client.post("/runs/run_nothing/cancel").status_code == 404


def test_a_config_is_validated_without_a_write_turn(light_service: Service) -> None:
    seed = plant(light_service.app.state.database)
    client: TestClient = light_service.client()
    with held_writer(light_service):
        good = client.post("/runs/validate", json=seed.body(seed.sft()))
        bad = client.post("/runs/validate", json=seed.body({"method": "sft"}))
    assert (good.status_code, good.json()["valid"]) == (200, True)
    assert (bad.status_code, bad.json()["valid"]) == (200, False)


def test_who_ranks_is_asked_for_once_with_each_request_of_postgresql(
    service: Service, new_user: NewUser, project: str
) -> None:
    annotator, _ = new_user("annotator", project)
    take(annotator, project)
    database: Database = service.app.state.database
    with sent_to(database) as sent:
        lease = take(annotator, project)
        path = f"/assignments/{lease['id']}/judgment"
        assert annotator.post(path, json=ranked(lease)).status_code == 201

    asked = sum("api_keys.key_sha256" in one.statement for one in sent)
    # SQLite's only writer is not taken for somebody who may be refused.
    assert asked == (4 if database.is_sqlite else 2)


def test_who_may_not_rank_is_told_so_whatever_is_sent(
    service: Service, new_user: NewUser, project: str
) -> None:
    api = service.client()
    annotator, user = new_user("annotator", project)
    path = f"/assignments/{take(api, project)['id']}/judgment"
    take(annotator, project)
    assert annotator.post(path, json={}).status_code == 404
    assert annotator.post(path, content=b"{", headers=JSON).status_code == 404
    api.patch(f"/projects/{project}/members/{user['id']}", json={"role": "viewer"})
    wrong = f"/projects/{project}/assignments"
    assert annotator.post(wrong, json={"held": 1}).status_code == 403
    assert annotator.post(wrong, json={"held": []}).status_code == 403

    api.patch(f"/users/{user['id']}", json={"is_active": False})
    assert annotator.post(wrong, json={"held": 1}).status_code == 401
    assert annotator.post(wrong, json={"held": []}).status_code == 401


def test_the_body_of_who_was_shut_out_is_not_read(service: Service, project: str) -> None:
    """Who is known is so from the first good request to the first that is refused."""
    admin = service.client()
    user = admin.post("/users", json={"name": "r", "role": "admin"}).json()["id"]
    key = admin.post(f"/users/{user}/keys", json={"name": "k"}).json()["key"]
    path = f"/api/v1/projects/{project}/assignments"
    take(service.client(key), project)
    admin.patch(f"/users/{user}", json={"is_active": False})
    for is_read in (not service.app.state.database.is_sqlite, False):
        late = SlowRequest(service, key, b"{}", path=path)
        late.start(until_asked=is_read)
        status, _ = late.answer()
        assert (status, late.is_read) == (401, is_read)


def test_a_judgment_that_is_sent_again_is_answered_as_before(
    service: Service, new_user: NewUser, project: str
) -> None:
    annotator, _ = new_user("annotator", project)
    lease = take(annotator, project)
    path, key = f"/assignments/{lease['id']}/judgment", {"Idempotency-Key": "once"}
    first, again = (annotator.post(path, json=ranked(lease), headers=key) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    other = annotator.post(path, json=ranked(lease, comment="other"), headers=key)
    assert other.status_code == 409
    long = annotator.post(path, json=ranked(lease), headers={"Idempotency-Key": "k" * 201})
    assert long.status_code == 422


def test_who_asks_again_for_more_than_they_may_hold_waits(service: Service) -> None:
    api = service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    rows = (comparison(number, k=2) for number in range(MOST_LEASES + 1))
    upload(api, project, "comparisons", *rows)
    for _ in range(MOST_LEASES):
        take(api, project)
    began = monotonic()
    for _ in range(2):
        refused = api.post(f"/projects/{project}/assignments")
        assert refused.status_code == 409
        assert f"you hold {MOST_LEASES} comparisons" in refused.json()["detail"]
    assert monotonic() - began >= REFUSE_AFTER_S
