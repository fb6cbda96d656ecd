"""PostgreSQL, whose writers do not wait for each other by themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.jobs.children import Children
from backend.store.db import Database
from tests.backend.conftest import Service, serve


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    """A fresh migrated database of PostgreSQL."""
    database = Database(postgres_url)
    yield database
    database.close()


@pytest.fixture
def postgres_service(postgres_url: str, tmp_path: Path, children: Children) -> Iterator[Service]:
    """The application on PostgreSQL alone."""
    yield from serve(postgres_url, tmp_path / "data", children)
