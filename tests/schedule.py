"""How tests share a machine when pytest-xdist runs several processes of them (`make test`).

A test goes to the next process that is free. Two kinds stay together or apart:

- Files whose tests share an installation (`_TOGETHER`) each stay on one process, which starts it
  once; those of the browser, a third of all work, on two. They go first, then the other tests
  marked `slow`, so that the short ones fill up the end.
- A test marked `serial` has the machine to itself: it starts when the tests beside it have ended,
  those of `frontend/` too, and no other starts before it has. They go last.

Used by `tests/conftest.py`. Without pytest-xdist, tests run one by one in the order of their files.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import processes

_BROWSER = "tests/e2e/"
# What begins so shares what is expensive to start: the longest first.
_TOGETHER = (
    _BROWSER,
    "tests/chaos/test_kills.py",
    "tests/backend/imports/test_bombs.py",
    "tests/backend/test_launcher.py",
    "tests/backend/test_plans.py",
)


class Scheduling(LoadScopeScheduling):
    """Gives a process the next test, or the next tests that belong together."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(_BROWSER):
            return f"{_BROWSER}{crc32(nodeid.partition('::')[0].encode()) % 2}"
        return next((part for part in _TOGETHER if nodeid.startswith(part)), nodeid)


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests in the order in which processes take them."""
    return sorted(items, key=_rank)


def _rank(item: pytest.Item) -> int:
    together = [n for n, part in enumerate(_TOGETHER) if item.nodeid.startswith(part)]
    if together:
        return together[0]
    if item.get_closest_marker("serial"):
        return len(_TOGETHER) + 2
    return len(_TOGETHER) + (0 if item.get_closest_marker("slow") else 1)


@contextmanager
def turn(item: pytest.Item, folder: Path) -> Iterator[None]:
    """Hold the machine while a test runs: alone if it is marked `serial`, else beside others.

    The locks are files in `folder`, which the processes of one run share. Whoever waits to be alone
    holds the door shut, so that those who share do not take turns for ever.
    """
    is_alone = item.get_closest_marker("serial") is not None
    with (folder / "room.lock").open("w") as room:
        with (folder / "door.lock").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(room, fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH)
            fcntl.flock(door, fcntl.LOCK_UN)
        if is_alone:
            _wait_for_those_of_the_frontend()
        try:
            yield
        finally:
            # A process that the test has forked may still hold the file open.
            fcntl.flock(room, fcntl.LOCK_UN)


def _wait_for_those_of_the_frontend() -> None:
    """`make test` runs them beside these, in the process that it names."""
    beside = int(os.environ.get("PODIUM_TEST_BESIDE", "0"))
    if beside:
        processes.wait_until(
            lambda: not processes.is_alive(beside), "the tests of frontend/ have ended"
        )
