"""PostgreSQL, whose writers do not wait for each other by themselves."""

from collections.abc import Iterator

import pytest

from backend.store.db import Database


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    """A fresh migrated database of PostgreSQL."""
    database = Database(postgres_url)
    yield database
    database.close()
