"""How much memory a part of a job may take: a hostile file ends its import, not the machine."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# More than honest files take; with what the process has it stays below 300 MB.
MOST_MORE_BYTES = 192 << 20


@contextmanager
def limited(more_bytes: int = MOST_MORE_BYTES) -> Iterator[None]:
    """Let this process take at most so many bytes more than it has; beyond is a MemoryError.

    What it may write to counts, not the addresses that it has reserved. For a process of its own:
    the limit holds for all threads. Without a /proc to say what it has there is no limit.
    """
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    now = _writable_bytes()
    if now is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (now + more_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _writable_bytes() -> int | None:
    """Read the bytes that the kernel counts for RLIMIT_DATA; None where there is no /proc."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in status.splitlines())
    return int(sizes["VmData"].split()[0]) * 1024
