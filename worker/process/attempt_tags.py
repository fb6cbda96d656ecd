"""The tag of an attempt: guard, trainer and every process they start carry it in their environment.

Set by `worker.process.trainer_process`; supervisor and sweeper look for it where no guard is left
to say who belongs to whom. Needs /proc; elsewhere nothing is found. A process that has emptied its
environment is found through an ancestor that has not.
"""

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from worker.process import processes


class AttemptTag(NamedTuple):
    """One attempt of the run of a directory of this machine, an absolute path."""

    run_dir: Path
    attempt: int

    def variables(self) -> dict[str, str]:
        """The tag as environment variables."""
        return {"PODIUM_RUN_DIR": str(self.run_dir), "PODIUM_ATTEMPT": str(self.attempt)}


def living() -> dict[int, AttemptTag]:
    """The tag of every process that has one, by pid."""
    read = ((pid, _read(processes.variables(pid))) for pid in processes.pids())
    return {pid: tag for pid, tag in read if tag is not None}


def kill(is_meant: Callable[[AttemptTag], bool]) -> int:
    """Kill every process with such a tag, and what descends from them.

    Returns how many there were; who needs them gone calls again until there are none.
    """
    found = {pid for pid, tag in living().items() if is_meant(tag)}
    return processes.signal_all(processes.with_descendants(found), signal.SIGKILL) if found else 0


def _read(variables: Mapping[str, str]) -> AttemptTag | None:
    run_dir, attempt = variables.get("PODIUM_RUN_DIR"), variables.get("PODIUM_ATTEMPT", "")
    return AttemptTag(Path(run_dir), int(attempt)) if run_dir and attempt.isdigit() else None
