"""How much memory a part of a job may take: a hostile file ends its import, not the machine."""

import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# More than honest files take; with what the process has it stays below 300 MB.
MOST_MORE_BYTES = 192 << 20


@dataclass
class _Process:
    """The limit that this process had before the first part came, and how many parts run."""

    n_parts: int = 0
    before: tuple[int, int] = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    lock: threading.Lock = field(default_factory=threading.Lock)


_PROCESS = _Process()


@contextmanager
def limited(more_bytes: int = MOST_MORE_BYTES) -> Iterator[None]:
    """Let this process take at most so many bytes more than it has; beyond is a MemoryError.

    What it may write to counts, not the addresses that it has reserved. For a process of its own:
    the limit holds for all threads, and of two parts that overlap the later one's counts, until
    the last has ended. Without a /proc to say what the process has there is no limit.
    """
    _begin(more_bytes)
    try:
        yield
    finally:
        _end()


def _begin(more_bytes: int) -> None:
    with _PROCESS.lock:
        standing = resource.getrlimit(resource.RLIMIT_DATA)
        if _PROCESS.n_parts == 0:
            _PROCESS.before = standing
        _PROCESS.n_parts += 1
        now = _writable_bytes()
        if now is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (now + more_bytes, standing[1]))


def _end() -> None:
    with _PROCESS.lock:
        _PROCESS.n_parts -= 1
        if _PROCESS.n_parts == 0:
            resource.setrlimit(resource.RLIMIT_DATA, _PROCESS.before)


def _writable_bytes() -> int | None:
    """Read the bytes that the kernel counts for RLIMIT_DATA; None where there is no /proc."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in status.splitlines())
    return int(sizes["VmData"].split()[0]) * 1024
