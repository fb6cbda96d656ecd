"""The seed of the tests of runs, for those of their filters."""

import pytest

from backend.store.db import Database
from tests.backend.runs.conftest import Seed, plant


@pytest.fixture
def seed(database: Database) -> Seed:
    """A store with something to run, once per kind of database."""
    return plant(database)
