"""Clients that leave, and an API that is killed, with a real server."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from sqlalchemy import func, select

from backend.store.db import Database
from backend.store.tables.data import Snapshot, SnapshotLine
from backend.store.tables.jobs import Job
from tests import processes, servers
from tests.backend.jobs import planted, slow_api
from tests.backend.test_models import write_safetensors
from tests.warm.process import WarmProcess

SLOW_CHILD = "tests.backend.jobs.slow_child"


@dataclass
class Site:
    """A running API and a way to speak to it."""

    api: httpx.Client
    port: int
    process: psutil.Process

    def children(self) -> set[int]:
        """The processes for jobs that it has."""
        return {
            one.pid
            for one in self.process.children()
            if one.status() != psutil.STATUS_ZOMBIE and SLOW_CHILD in one.cmdline()
        }

    def half_asked(self, verb: str, path: str, body: bytes = b"") -> socket.socket:
        """A connection on which something was asked for, and nothing was read yet."""
        connection = socket.create_connection(("127.0.0.1", self.port))
        head = (
            f"{verb} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: {self.api.headers['Authorization']}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        return connection


@contextmanager
def slow(env: dict[str, str], log: Path) -> Iterator[processes.Process]:
    """The API whose long jobs last until somebody ends them."""
    process = WarmProcess(slow_api.main, [], env, log)
    with processes.ending(process):
        yield process


Started = Callable[[dict[str, str], Path], AbstractContextManager[processes.Process]]


@contextmanager
def serving(url: str, tmp_path: Path, name: str = "api", started: Started = slow) -> Iterator[Site]:
    """The API as a process of its own."""
    port, log = servers.free_port(), tmp_path / f"{name}.log"
    given = {"PODIUM_DATABASE_URL": url, "PODIUM_PORT": str(port)}
    env = processes.environment(tmp_path / "data", **given)
    with started(env, log) as process:
        ready = f"http://127.0.0.1:{port}/readyz"
        processes.wait_until(
            lambda: processes.answers(ready), "the API answers", process=process, log=log
        )
        key = (tmp_path / "data" / "admin.key").read_text().strip()
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=120, verify=False
        ) as api:
            yield Site(api, port, psutil.Process(process.pid))


def plant(database: Database, prompts: int) -> str:
    """A project with so many prompts."""
    with database.write() as session:
        project = planted.project(session)[0]
        planted.prompts(session, project, prompts)
    return project


def states(database: Database, kind: str) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(Job.state).where(Job.kind == kind)))


def lines(database: Database) -> int:
    with database.read() as session:
        rows = session.scalar(select(func.count()).select_from(Snapshot)) or 0
        return rows + (session.scalar(select(func.count()).select_from(SnapshotLine)) or 0)


def large_model(data_dir: Path) -> bytes:
    """A terabyte to hash, which takes no disk; the body that registers it."""
    folder = data_dir / "models" / "large"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    write_safetensors(folder / "model.safetensors", {"w": ("F32", [1])})
    os.truncate(folder / "model.safetensors", 2**40)
    return b'{"name": "m", "kind": "causal_lm", "source": {"path": "%s"}}' % str(folder).encode()


def test_what_nobody_waits_for_any_more_is_cancelled_and_leaves_nothing(
    store_url: str, database: Database, tmp_path: Path
) -> None:
    project = plant(database, 12_000)
    model = large_model(tmp_path / "data")
    with serving(store_url, tmp_path) as site:
        hashing = site.half_asked("POST", "/models", model)
        processes.wait_until(lambda: states(database, "inspect_model") == ["running"], "it hashes")
        hashing.close()
        processes.wait_until(lambda: states(database, "inspect_model") == ["cancelled"], "an end")
        assert site.api.get("/models").json()["items"] == []

        freezing = site.half_asked(
            "POST", f"/projects/{project}/snapshots", b'{"name": "s", "kind": "prompts"}'
        )
        processes.wait_until(lambda: lines(database) > 100, "lines are written")
        freezing.close()
        processes.wait_until(lambda: states(database, "freeze_snapshot") == ["cancelled"], "an end")
        processes.wait_until(lambda: lines(database) == 0, "nothing is left")
        assert site.api.get(f"/projects/{project}/snapshots").json()["items"] == []


def test_an_api_that_is_killed_takes_its_children_along_and_another_ends_its_jobs(
    store_url: str, database: Database, tmp_path: Path
) -> None:
    project = plant(database, 12_000)
    with serving(store_url, tmp_path) as site:
        body = {"name": "s", "kind": "prompts"}
        headers = {"Prefer": "respond-async"}
        taken = site.api.post(f"/projects/{project}/snapshots", json=body, headers=headers)
        job = taken.raise_for_status().json()["id"]
        processes.wait_until(lambda: lines(database) > 100, "lines are written")
        children = site.children()
        assert len(children) == 1
        processes.kill(site.process.pid)
        processes.wait_until(
            lambda: not any(processes.is_alive(pid) for pid in children), "its child has ended"
        )
    with serving(store_url, tmp_path, "another") as site:
        processes.wait_until(
            lambda: site.api.get(f"/jobs/{job}").json()["state"] == "failed", "the job was ended"
        )
        processes.wait_until(lambda: lines(database) == 0, "nothing is left")
        assert site.api.get(f"/jobs/{job}").json()["error"]["status"] == 503


def test_an_api_that_is_asked_to_end_does_so_though_somebody_waits(
    sqlite_url: str, tmp_path: Path
) -> None:
    database = Database(sqlite_url)
    model = large_model(tmp_path / "data")
    with serving(sqlite_url, tmp_path) as site:
        connection = site.half_asked("POST", "/models", model)
        processes.wait_until(lambda: states(database, "inspect_model") == ["running"], "it runs")
        children = site.children()
        site.process.terminate()
        processes.wait_until(lambda: not processes.is_alive(site.process.pid), "the API has ended")
        assert not any(processes.is_alive(pid) for pid in children)
        connection.close()
    assert states(database, "inspect_model")[0] not in ("queued", "running")
    database.close()
