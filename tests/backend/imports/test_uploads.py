"""Uploads: one a person, two imported at once, on a disk with room, and gone afterwards."""

import fcntl
import os
import socket
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from backend.errors import NoSpace, TooBusy, TooLarge
from backend.jobs import import_process
from backend.jobs.children import Child, Children
from backend.phases import Phases
from backend.store.data.import_rows import ImportOutcome
from backend.store.db import IMPORTS
from backend.store.tables.people import User
from backend.uploads import limits
from backend.uploads.spool import remove_left_overs, require_space, spooled
from backend.uploads.turns import (
    FILES,
    MOST_WAITING,
    MOST_WAITING_OF_ONE,
    UploadTurns,
)
from tests.backend.conftest import Service, serve
from tests.backend.imports.work import texts
from tests.backend.test_own_judgments import NewUser
from tests.loops import looped
from tests.processes import wait_until
from tests.served import Server


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    """A body as it comes."""
    for part in parts:
        yield part


@looped
async def test_an_upload_is_there_for_its_owner_alone_and_then_gone(tmp_path: Path) -> None:
    folder = tmp_path / "uploads"
    async with spooled(chunks(b"ab", b"c" * 3_000_000), folder, min_free_bytes=0) as upload:
        assert upload.path.read_bytes() == b"ab" + b"c" * 3_000_000
        assert upload.size == 3_000_002
        assert stat.S_IMODE(upload.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.iterdir()) == []


@looped
async def test_what_comes_in_part_or_is_too_large_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (2 * limits.MIB)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        async with spooled(broken(), tmp_path, min_free_bytes=0):
            pass
    monkeypatch.setattr(limits, "LARGEST_FILE", 1000)
    with pytest.raises(TooLarge):
        async with spooled(chunks(b"x" * 1001), tmp_path, min_free_bytes=0):
            pass
    assert list(tmp_path.iterdir()) == []


@looped
async def test_nothing_is_taken_on_a_disk_without_room(tmp_path: Path) -> None:
    taken = []

    async def body() -> AsyncIterator[bytes]:
        taken.append(1)
        yield b"x"

    with pytest.raises(NoSpace, match="PODIUM_MIN_FREE_GB"):
        async with spooled(body(), tmp_path, min_free_bytes=10**18):
            pass
    assert taken == []
    assert list(tmp_path.iterdir()) == []
    require_space(tmp_path, 0)


def test_files_of_dead_processes_are_removed_and_those_in_use_are_not(tmp_path: Path) -> None:
    for name in ("upload-old", "upload-used", "upload-fresh", "other"):
        (tmp_path / name).write_bytes(b"x")
        if name != "upload-fresh":
            os.utime(tmp_path / name, (time.time() - 60,) * 2)
    with (tmp_path / "upload-used").open("rb") as used:
        fcntl.flock(used, fcntl.LOCK_EX)
        remove_left_overs(tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"upload-used", "upload-fresh", "other"}
    remove_left_overs(tmp_path / "nowhere")


class Crowd:
    """People who upload, or projects that are imported into, until they are told to stop."""

    def __init__(self, turn: Callable[[str], AbstractAsyncContextManager[None]]) -> None:
        self.turn = turn
        self.busy: list[str] = []
        self.most: dict[str, int] = {}
        self.refused: list[TooBusy] = []

    async def upload(self, person: str, seconds: float) -> None:
        """One upload."""
        try:
            async with self.turn(person):
                self.busy.append(person)
                for one in (person, "all"):
                    now = len(self.busy) if one == "all" else self.busy.count(one)
                    self.most[one] = max(self.most.get(one, 0), now)
                await anyio.sleep(seconds)
                self.busy.remove(person)
        except TooBusy as error:
            self.refused.append(error)


@looped
async def test_one_upload_a_person_and_few_in_all() -> None:
    crowd = Crowd(UploadTurns().turn)
    async with anyio.create_task_group() as tasks:
        for n in range(FILES + MOST_WAITING):
            tasks.start_soon(crowd.upload, f"p{n % (FILES + 4)}", 0.01)
    assert crowd.refused == []
    assert crowd.most == {"all": FILES, **{f"p{n}": 1 for n in range(FILES + 4)}}


@looped
async def test_one_import_a_project_and_two_in_all() -> None:
    crowd = Crowd(UploadTurns(longest_wait_s=0.0).importing)
    async with anyio.create_task_group() as tasks:
        for n in range(12):
            tasks.start_soon(crowd.upload, f"p{n % 4}", 0.01)
    assert crowd.refused == []
    assert crowd.most == {"all": IMPORTS, "p0": 1, "p1": 1, "p2": 1, "p3": 1}


@looped
async def test_an_import_that_waits_for_its_project_keeps_no_place_from_others() -> None:
    turns, done = UploadTurns(), list[str]()

    async def import_into(project_id: str) -> None:
        async with turns.importing(project_id):
            done.append(project_id)

    async with anyio.create_task_group() as tasks, turns.importing("p"):
        for project_id in ("p", "p", "q", "r"):
            tasks.start_soon(import_into, project_id)
        await anyio.wait_all_tasks_blocked()
        assert done == ["q", "r"]
    assert done == ["q", "r", "p", "p"]


@looped
async def test_who_waits_too_long_or_in_a_crowd_comes_again() -> None:
    crowd = Crowd(UploadTurns(longest_wait_s=0.05).turn)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(crowd.upload, "a", 0.5)
        await anyio.sleep(0)
        tasks.start_soon(crowd.upload, "a", 0.0)
    assert len(crowd.refused) == 1
    assert "your previous upload" in crowd.refused[0].detail
    assert crowd.refused[0].retry_after_s is not None

    crowd = Crowd(UploadTurns().turn)
    async with anyio.create_task_group() as tasks:
        for _ in range(MOST_WAITING_OF_ONE + 3):
            tasks.start_soon(crowd.upload, "a", 0.01)
    assert len(crowd.refused) == 2

    crowd = Crowd(UploadTurns().turn)
    async with anyio.create_task_group() as tasks:
        for n in range(FILES + MOST_WAITING + 5):
            tasks.start_soon(crowd.upload, f"p{n}", 0.01)
    assert len(crowd.refused) >= 5


@looped
async def test_a_turn_is_free_again_after_a_failure_or_a_client_that_left() -> None:
    turns = UploadTurns(longest_wait_s=0.05)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"):
            async with turns.turn("a"):
                raise ValueError("x")
        with anyio.move_on_after(0.01):
            async with turns.turn("a"):
                await anyio.sleep(1)
    async with turns.turn("b"):
        with anyio.move_on_after(0.01):
            async with turns.turn("b"):
                pass
    async with turns.turn("b"):
        pass


@pytest.fixture
def full_service(sqlite_url: str, tmp_path: Path, children: Children) -> Iterator[Service]:
    """A service that wants more room than any disk has."""
    yield from serve(sqlite_url, tmp_path / "data", children, min_free_gb=1_000_000)


def test_the_route_says_that_there_is_no_room(full_service: Service) -> None:
    client = full_service.client()
    project = client.post("/projects", json={"name": "P"}).json()["id"]
    refused = client.post(f"/projects/{project}/imports?kind=prompts", content=texts("a"))
    assert refused.status_code == 507
    assert "PODIUM_MIN_FREE_GB" in refused.json()["detail"]
    assert list((full_service.data_dir / "uploads").iterdir()) == []


def test_the_route_says_when_to_come_again(light_service: Service) -> None:
    client = light_service.client()
    project = client.post("/projects", json={"name": "P"}).json()["id"]
    user = client.get("/me").json()["id"]
    turns = light_service.app.state.upload_turns = UploadTurns(longest_wait_s=0.05)
    turns._files.busy.add(user)
    address = f"/projects/{project}/imports?kind=prompts"
    refused = client.post(address, content=texts("a"))
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    turns._files.busy.clear()
    assert client.post(address, content=texts("a")).json()["accepted"] == 1
    assert list((light_service.data_dir / "uploads").iterdir()) == []


def rows(service: Service) -> dict[str, int]:
    """How many prompts and imports there are, seen or not."""
    with service.app.state.database.engine.connect() as connection:
        return {
            name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
            for name in ("prompts", "imports")
        }


def audited(service: Service) -> list[str]:
    """The projects into which the audit says that a file was imported."""
    found = service.client().get("/audit", params={"action": "import_file"}).json()["items"]
    return [one["object_id"] for one in found]


def test_who_is_deactivated_while_a_file_is_written_imports_nothing(
    service: Service, new_user: NewUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.client().post("/projects", json={"name": "P"}).json()["id"]
    client, user = new_user("researcher", project)
    run = import_process.run

    async def run_and_lose_the_account(*asked: Any) -> ImportOutcome:
        outcome = await run(*asked)
        with service.app.state.database.write() as session:
            session.execute(update(User).where(User.id == user["id"]).values(is_active=False))
        return outcome

    monkeypatch.setattr(import_process, "run", run_and_lose_the_account)
    refused = client.post(f"/projects/{project}/imports?kind=prompts", content=texts("a", "b"))

    assert refused.status_code == 401
    assert rows(service) == {"prompts": 0, "imports": 0}
    assert audited(service) == []


def test_a_file_is_imported_though_the_waiting_child_is_just_ending(
    light_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = light_service.client().post("/projects", json={"name": "P"}).json()["id"]
    children = Children()
    monkeypatch.setattr(import_process, "_CHILDREN", children)
    ending = Child()
    ending.kill()
    wait_until(lambda: not ending.lives(), "it has ended")
    # It was alive when it was looked at.
    monkeypatch.setattr(ending, "lives", lambda: True)
    children.give_back(ending)

    address = f"/projects/{project}/imports?kind=prompts"
    sent = light_service.client().post(address, content=texts("a", "b"))

    children.close()
    assert (sent.status_code, sent.json().get("accepted")) == (201, 2)


def test_a_file_is_imported_though_its_client_has_left(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.client().post("/projects", json={"name": "P"}).json()["id"]
    run, is_written = import_process.run, anyio.Event()

    async def run_and_be_left(*asked: Any) -> ImportOutcome:
        outcome = await run(*asked)
        is_written.set()
        await anyio.sleep(0)
        return outcome

    monkeypatch.setattr(import_process, "run", run_and_be_left)
    body = iter([{"type": "http.request", "body": texts("a", "b"), "more_body": False}])
    said: list[Any] = []

    async def receive() -> Any:
        for message in body:
            return message
        await is_written.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        said.append(message)

    address = f"/api/v1/projects/{project}/imports"
    scope = {
        "type": "http", "method": "POST", "path": address, "raw_path": address.encode(),
        "query_string": b"kind=prompts", "scheme": "http", "http_version": "1.1", "root_path": "",
        "headers": [
            (b"host", b"localhost"), (b"authorization", f"Bearer {service.admin_key}".encode()),
        ],
        "client": ("testclient", 1), "server": ("localhost", 80),
    }  # fmt: skip
    service.portal.call(service.app, scope, receive, send)

    assert said[0]["status"] == 201
    assert rows(service) == {"prompts": 2, "imports": 1}
    assert audited(service) == [project]


def test_an_import_that_finds_all_turns_taken_waits_for_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = service.client()
    project = client.post("/projects", json={"name": "P"}).json()["id"]
    write, refusals = Phases.write, iter([TooBusy("all turns are taken"), None])

    async def busy_at_first(phases: Phases, work: Any) -> Any:
        if (refusal := next(refusals, None)) is not None:
            raise refusal
        return await write(phases, work)

    monkeypatch.setattr(Phases, "write", busy_at_first)
    path = f"/projects/{project}/imports?kind=prompts"
    assert client.post(path, content=texts("a")).json()["accepted"] == 1
    assert rows(service) == {"prompts": 1, "imports": 1}


def test_an_import_and_its_audit_line_are_one(service: Service) -> None:
    client = service.client()
    project = client.post("/projects", json={"name": "P"}).json()["id"]
    path = f"/projects/{project}/imports?kind=prompts"
    assert client.post(path, content=texts("a")).json()["accepted"] == 1

    assert audited(service) == [project]


def test_nobody_but_a_researcher_of_the_project_uploads(
    light_service: Service,
) -> None:
    client = light_service.client()
    project = client.post("/projects", json={"name": "P"}).json()["id"]
    path = f"/projects/{project}/imports?kind=prompts"
    anonymous = light_service.anonymous().post(f"/api/v1{path}", content=texts("a"))
    assert anonymous.status_code == 401
    assert not (light_service.data_dir / "uploads").exists()
    wrong = client.post(f"/projects/{project}/imports?kind=nothing", content=texts("a"))
    assert wrong.status_code == 422
    assert not (light_service.data_dir / "uploads").exists()


SLOW = b"""\
POST /api/v1/projects/%s/imports?kind=prompts HTTP/1.1\r
Host: localhost\r
Authorization: Bearer %s\r
Content-Type: application/x-ndjson\r
Content-Length: 1000000\r
\r
{"prompt":"""


def test_people_who_send_slowly_delay_no_import(sqlite_url: str, tmp_path: Path) -> None:
    server = Server(sqlite_url, tmp_path / "data", PODIUM_MIN_FREE_GB="0")
    admin, uploads = server.client, tmp_path / "data" / "uploads"
    project = admin.post("/projects", json={"name": "P"}).json()["id"]
    member = {"name": "R", "role": "researcher", "project_ids": [project]}
    with ExitStack() as slow:
        slow.callback(server.close)
        users = [admin.post("/users", json=member).json()["id"] for _ in range(3)]
        named = {"name": "k"}
        keys = [admin.post(f"/users/{user}/keys", json=named).json()["key"] for user in users]
        connections = [
            slow.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in keys
        ]
        for connection, key in zip(connections, keys, strict=True):
            connection.sendall(SLOW % (project.encode(), key.encode()))

        def are_arriving() -> bool:
            # Who sends nothing for some seconds is cut off.
            for connection in connections:
                connection.sendall(b" " * 1000)
            return len(list(uploads.glob("upload-*"))) == 3

        wait_until(are_arriving, "three files are arriving")
        done = admin.post(f"/projects/{project}/imports?kind=prompts", content=texts("a"))
        assert done.json()["accepted"] == 1
