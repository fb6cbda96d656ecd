"""What the operating system knows of processes: who descends from whom, and which one this is.

Called by guard, sweeper and worker process, and for usage and attempt tags. Standard library only,
so that the guard starts in milliseconds; it signals nobody except through `signal_all`.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Set
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class Process(NamedTuple):
    """One row of the process table; `started` tells a reused pid apart from its predecessor."""

    pid: int
    parent: int
    session: int
    started: str


def pids() -> list[int]:
    """Every process there is; empty where there is no /proc."""
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()] if _PROC.is_dir() else []


def members(root: int) -> list[int]:
    """Every descendant of `root` and every other process of its session, without `root` itself."""
    table = _table()
    in_session = {process.pid for process in table if process.session == root}
    return sorted(_with_descendants(in_session | {root}, table) - {root})


def with_descendants(some: Set[int]) -> list[int]:
    """List these processes, those that they have started, and so on."""
    return sorted(_with_descendants(some, _table()))


def _with_descendants(some: Set[int], table: list[Process]) -> Set[int]:
    children = {process.pid for process in table if process.parent in some}
    return some if children <= some else _with_descendants(some | children, table)


def signal_members(root: int, number: signal.Signals) -> int:
    """Send a signal to all `members` of root and return how many there were."""
    return signal_all(members(root), number)


def signal_all(some: list[int], number: signal.Signals) -> int:
    """Send a signal to these processes and return how many they are."""
    for pid in some:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return len(some)


def variables(pid: int) -> dict[str, str]:
    """The environment a process was started with; empty if it is gone or another user's."""
    try:
        text = (_PROC / str(pid) / "environ").read_text(errors="replace")
    except OSError:
        return {}
    pairs = (pair.partition("=") for pair in text.split("\0") if pair)
    return {name: value for name, _, value in pairs}


def identity(pid: int) -> str | None:
    """Boot, pid namespace and start time of a process, or None if there is no such process.

    Equal identities of equal pids mean one and the same process, whatever the clock did.
    """
    process = _read(pid)
    return None if process is None else f"{namespace()}/{process.started}"


def namespace() -> str:
    """The boot and pid namespace in which pids of this process mean something."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return f"{os.uname().nodename}/0"


def uptime_s() -> float:
    """Seconds since the machine has started, its sleep included: one clock for all processes."""
    try:
        return float((_PROC / "uptime").read_text().split()[0])
    except OSError:
        return time.monotonic()


def _table() -> list[Process]:
    if not _PROC.is_dir():
        return list(_listed_by_ps(["-A"]))
    return [process for process in map(_read, pids()) if process is not None]


def _read(pid: int) -> Process | None:
    if not _PROC.is_dir():
        return next(iter(_listed_by_ps(["-p", str(pid)])), None)
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command's name stands in brackets and may hold anything, brackets too.
    fields = text.rpartition(")")[2].split()
    state, parent, session, started = fields[0], fields[1], fields[3], fields[19]
    if state in "ZX":
        return None
    return Process(pid, int(parent), int(session), started)


def _listed_by_ps(which: list[str]) -> Iterable[Process]:
    """The same table where there is no /proc (macOS), whose `ps` does not tell sessions."""
    command = ["ps", "-o", "pid=,ppid=,lstart=", *which]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ps:
        answer = ps.communicate()[0]
    for line in answer.splitlines():
        pid, parent, started = line.split(maxsplit=2)
        try:
            session = os.getsid(int(pid))
        except OSError:  # among them `ps` itself, which is gone
            continue
        yield Process(int(pid), int(parent), session, started)
