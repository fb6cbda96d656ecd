"""A project to import into, without a server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.store.db import Database
from tests.backend.imports.work import Place


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    """A project, once per kind of database."""
    return Place(database, tmp_path / "data")


@pytest.fixture
def light_place(sqlite_url: str, tmp_path: Path) -> Iterator[Place]:
    """A project on SQLite alone, for what no database can change."""
    database = Database(sqlite_url)
    yield Place(database, tmp_path / "data")
    database.close()
