"""What a trainer and its descendants used: memory at most, CPU time, and whether the kernel killed.

Called by the guard, every second and at the end. Standard library only. Memory is the sum of what
each process has resident, so pages that several share count for each.
"""

import os
import resource
import sys
from collections import deque
from pathlib import Path
from typing import Any

from worker.process import processes

# Seconds between two looks.
LOOK_S = 1.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# The kernel counts Kibibytes, macOS bytes.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Usage:
    """What one trainer and its descendants have used since its start."""

    def __init__(self) -> None:
        self._peak_bytes = 0
        self._cpu_s = 0.0
        # An old kill of another's process must not count: only what happened since two looks ago.
        self._kills = deque([oom_kills()], maxlen=2)

    def look(self, root: int) -> None:
        """Add up what the descendants of `root` have in memory now."""
        total = sum(map(_resident_bytes, processes.members(root)))
        self._peak_bytes = max(self._peak_bytes, total)
        self._kills.append(oom_kills())

    def add(self, used: resource.struct_rusage) -> None:
        """Count a process that has ended."""
        self._peak_bytes = max(self._peak_bytes, used.ru_maxrss * _RSS_UNIT)
        self._cpu_s += used.ru_utime + used.ru_stime

    def told(self) -> dict[str, Any]:
        """Return everything as the guard reports it."""
        return {
            "peak_rss_bytes": self._peak_bytes,
            "cpu_s": round(self._cpu_s, 3),
            "is_oom_kill": oom_kills() > self._kills[0],
        }


def oom_kills() -> int:
    """How many processes of this machine the kernel has killed for want of memory; 0 = unknown."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    counts = (line.split() for line in lines if line.startswith("oom_kill "))
    return next((int(count) for _, count in counts), 0)


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0
