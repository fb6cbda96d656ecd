"""SHA-256 of files that may be large, read once for as long as nobody touches them.

Part of the worker process, so that all runs of a worker share what was read. A file counts as
untouched while device, inode, size, time of change and time of status change are the same. The last
of them cannot be set by a program, so a copy that keeps size and date is noticed too. Nothing is
kept on disk: a worker that starts trusts nobody and reads again, which also finds bits that have
rotted.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from backend import digest

# Kernels stamp times in ticks, file servers in seconds: a file changed this short a time ago may
# change again without a trace.
_SETTLED_AFTER_NS = 3_000_000_000


class _Stamp(NamedTuple):
    """What every change of a file changes."""

    device: int
    inode: int
    size_bytes: int
    changed_ns: int
    status_changed_ns: int


class Digests:
    """Digests by file; safe in several threads, which may at worst read a file twice."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Stamp, bytes]] = {}

    def of(self, path: Path, check: Callable[[], None] = digest.go_on) -> bytes:
        """The SHA-256 of a file's bytes, as `digest.of_file` reads it."""
        path = path.resolve()
        known = self._known.get(path)
        if known is not None and known[0] == _stamp(path.stat()):
            return known[1]
        return self._read(path, check)

    def _read(self, path: Path, check: Callable[[], None]) -> bytes:
        began_ns = time.time_ns()
        with path.open("rb") as file:
            before = _stamp(os.fstat(file.fileno()))
            sha256 = digest.of_open(file, check)
        last_touched_ns = max(before.changed_ns, before.status_changed_ns)
        is_settled = last_touched_ns + _SETTLED_AFTER_NS < began_ns
        if is_settled and _stamp(path.stat()) == before:
            self._known[path] = (before, sha256)
        else:
            self._known.pop(path, None)
        return sha256


def _stamp(found: os.stat_result) -> _Stamp:
    return _Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
