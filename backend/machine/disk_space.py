"""Room on a disk, whether it is enough for another run, and what of it files take.

Called by `/readyz`, `podium doctor`, `podium prune`, the artifact store and the worker; what they
say about it is their own.
"""

import shutil
from pathlib import Path
from typing import NamedTuple


class DiskSpace(NamedTuple):
    """Bytes of a disk; with less free than needed a worker takes no new run."""

    free_bytes: int
    total_bytes: int
    needed_bytes: int

    @property
    def is_low(self) -> bool:
        """Whether no new run may start."""
        return self.free_bytes < self.needed_bytes


def look_at(folder: Path, needed_bytes: int) -> DiskSpace:
    """The disk that holds a folder; raises OSError if that is not there."""
    usage = shutil.disk_usage(folder)
    return DiskSpace(usage.free, usage.total, needed_bytes)


def size_bytes(path: Path) -> int:
    """How large a file is, or all files of a folder together; 0 if there is nothing."""
    if path.is_file():
        return path.stat().st_size
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
