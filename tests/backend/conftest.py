"""A running application over a migrated database, and clients signed in with each role."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal
from fastapi import FastAPI
from fastapi.testclient import TestClient

from backend.jobs.children import Children
from backend.main import create_app
from backend.settings import Settings
from tests.direct_client import DirectClient


@dataclass
class Service:
    """The application and its administrator's key."""

    app: FastAPI
    data_dir: Path
    admin_key: str
    portal: BlockingPortal

    def client(self, key: str | None = None) -> TestClient:
        """A client with a key, the administrator's by default; lifespan runs already."""
        headers = {"Authorization": f"Bearer {key or self.admin_key}"}
        return DirectClient(
            self.app, self.portal, base_url="http://localhost/api/v1", headers=headers
        )

    def anonymous(self) -> TestClient:
        """A client without credentials."""
        return DirectClient(self.app, self.portal, base_url="http://localhost")


@pytest.fixture(scope="session")
def children() -> Iterator[Children]:
    """Processes for the jobs of all tests: each costs a start of Python."""
    children = Children()
    yield children
    children.close()


def serve(
    url: str, data_dir: Path, children: Children, *, min_free_gb: float = 0
) -> Iterator[Service]:
    app = create_app(
        Settings(data_dir=data_dir, database_url=url, min_free_gb=min_free_gb), children=children
    )
    with TestClient(app) as lifespan:
        assert lifespan.portal is not None
        key_file = data_dir / "admin.key"
        assert stat.S_IMODE(os.stat(key_file).st_mode) == 0o600
        yield Service(app, data_dir, key_file.read_text().strip(), lifespan.portal)


@pytest.fixture
def service(store_url: str, tmp_path: Path, children: Children) -> Iterator[Service]:
    """The application, once per kind of database."""
    yield from serve(store_url, tmp_path / "data", children)


@pytest.fixture
def light_service(sqlite_url: str, tmp_path: Path, children: Children) -> Iterator[Service]:
    """The application on SQLite alone, for what no database can change."""
    yield from serve(sqlite_url, tmp_path / "data", children)


@pytest.fixture(scope="module")
def lasting_service(
    lasting_url: str, tmp_path_factory: pytest.TempPathFactory, children: Children
) -> Iterator[Service]:
    """The application, once per kind of database, for tests of a module that change nothing."""
    yield from serve(lasting_url, tmp_path_factory.mktemp("service") / "data", children)


@pytest.fixture
def api(service: Service) -> TestClient:
    """The administrator's client."""
    return service.client()


@pytest.fixture
def new_user(service: Service) -> Callable[..., tuple[TestClient, dict[str, Any]]]:
    """Make a user with a role and give a client with its key."""
    admin = service.client()

    def make(role: str, *project_ids: str, name: str = "") -> tuple[TestClient, dict[str, Any]]:
        body = {"name": name or role, "role": role, "project_ids": list(project_ids)}
        user = admin.post("/users", json=body).raise_for_status().json()
        key = admin.post(f"/users/{user['id']}/keys", json={"name": "test"}).json()["key"]
        return service.client(key), user

    return make
