"""Children for jobs that last until a test ends them."""

from collections.abc import Iterator

import pytest

from backend.jobs.children import Children
from tests.backend.jobs.slow_child import use_slow_children


@pytest.fixture
def slow_children(monkeypatch: pytest.MonkeyPatch, warm_children: None) -> Iterator[Children]:
    """Processes whose long jobs last until the test ends them."""
    use_slow_children(monkeypatch.setattr)
    children = Children()
    yield children
    children.close()
