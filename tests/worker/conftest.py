"""Fixtures for the tests of the worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worker.floor import Floor


@pytest.fixture
def floor(store_url: str, tmp_path: Path) -> Iterator[Floor]:
    """Something to run, once per kind of database, on the filesystem broker."""
    made = Floor(tmp_path / "data", store_url)
    yield made
    made.database.close()


@pytest.fixture
def sqlite_floor(sqlite_url: str, tmp_path: Path) -> Iterator[Floor]:
    """The same on SQLite alone, for what has nothing to do with the database."""
    made = Floor(tmp_path / "data", sqlite_url)
    yield made
    made.database.close()


@pytest.fixture
def redis_floor(postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[Floor]:
    """PostgreSQL and Redis, as in production."""
    made = Floor(tmp_path / "data", postgres_url, redis_url)
    yield made
    made.database.close()
