"""The API with children whose long jobs last until a test ends them: the program."""

import sys
from collections.abc import Sequence

from tests.backend.jobs.slow_child import use_slow_children
from tests.warm import hosts


def main(_: Sequence[str]) -> int:
    """Serve until SIGTERM."""
    from backend.ops import serve

    sys.executable = hosts.executable()
    use_slow_children(setattr)
    serve.main()
    return 0
