"""The mark of an attempt: its guard, its trainer and all they start carry it in their environment.

Set by `worker.process.trainer_process`; supervisor and sweeper look for it where no guard is left
to say who belongs to whom. Needs /proc; elsewhere nothing is found. A process that has emptied its
environment is found through an ancestor that has not.
"""

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from worker.process import processes


class Mark(NamedTuple):
    """One attempt of the run of a directory of this machine, an absolute path."""

    run_dir: Path
    attempt: int

    def variables(self) -> dict[str, str]:
        """The mark as environment variables."""
        return {"PODIUM_RUN_DIR": str(self.run_dir), "PODIUM_ATTEMPT": str(self.attempt)}


def living() -> dict[int, Mark]:
    """The mark of every process that has one, by pid."""
    read = ((pid, _read(processes.variables(pid))) for pid in processes.pids())
    return {pid: mark for pid, mark in read if mark is not None}


def kill(is_meant: Callable[[Mark], bool]) -> int:
    """SIGKILL to every process with such a mark, and to what descends from them.

    Returns how many there were; who needs them gone calls again until there are none.
    """
    found = {pid for pid, mark in living().items() if is_meant(mark)}
    return processes.signal_all(processes.with_descendants(found), signal.SIGKILL) if found else 0


def _read(variables: Mapping[str, str]) -> Mark | None:
    run_dir, attempt = variables.get("PODIUM_RUN_DIR"), variables.get("PODIUM_ATTEMPT", "")
    return Mark(Path(run_dir), int(attempt)) if run_dir and attempt.isdigit() else None
