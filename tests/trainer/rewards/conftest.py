"""The processes that grade, shared by the tests of a folder."""

from collections.abc import Iterator

import pytest

from worker.trainer.rewards.grading.pool import Pool


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Two processes."""
    pool = Pool(2)
    yield pool
    pool.close()
