"""The API with children whose long jobs last until a test ends them: the program."""

import pytest

from backend.ops import serve
from tests.backend.jobs.slow_child import use_slow_children

if __name__ == "__main__":
    use_slow_children(pytest.MonkeyPatch())
    serve.main()
