"""A child whose long jobs last until a test ends them, however fast the machine: the program.

It hashes a model of any size, and freezes a few lines at a time. It loads no more than it has to:
each test starts some.
"""

import sys
from collections.abc import Callable
from functools import partial

from backend import model_files
from backend.jobs import child, children, pace
from backend.machine.child_process import ChildProcess


def use_slow_children(assign: Callable[[object, str, object], None]) -> None:
    """Let those who start a child in this process start this one; `assign`: as `setattr` does."""
    assign(children, "ChildProcess", partial(_slow, ChildProcess))


def _slow(start: type[ChildProcess], _: str) -> ChildProcess:
    return start(__spec__.name)


if __name__ == "__main__":
    model_files.LARGEST_HASHED = 1 << 62
    pace.HOLD_S = 0.0
    pace.LEAST_PAUSE_S = 0.1
    child.main(int(sys.argv[1]))
