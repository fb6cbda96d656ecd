"""What is known of a trainer when it has ended: its last lines, and what it used.

Called by the supervisor, before the devices are given back. It reads; what it means is
`worker.run_directory.exit_reading`'s and `backend.domain.failures`'s to say.
"""

import shutil
from pathlib import Path

from backend.domain.failures import Facts
from backend.machine import disk_space
from backend.store.runs.failures import LOG_LINES, Evidence
from backend.store.runs.logs import Printed
from backend.store.tables.runs import Run
from worker.process.trainer_process import Ended
from worker.run_directory import log_reading
from worker.run_directory.layout import RunDirectory


def evidence(
    logs: Path, ended: Ended, *, ran_s: float, gpu_peak_bytes: int | None, directory: RunDirectory
) -> Evidence:
    """The last lines of both streams, errors last, and the resources at the end."""
    used = ended.usage
    resources = {
        "ran_s": round(ran_s, 1),
        "cpu_s": used.cpu_s if used else None,
        "peak_rss_bytes": used.peak_rss_bytes if used else None,
        "gpu_peak_bytes": gpu_peak_bytes,
        "disk_free_bytes": free_bytes(directory),
    }
    return Evidence(_last_lines(logs), resources)


def facts(
    run: Run, first_step: int, ran_s: float, seen: Evidence, directory: RunDirectory
) -> Facts:
    """The numbers that advice is made of, of a run whose attempt began after `first_step`."""
    free = seen.resources.get("disk_free_bytes")
    return Facts(
        phase=run.phase,
        step=run.step,
        steps=run.steps,
        first_step=first_step,
        checkpoint_step=run.checkpoint_step,
        ran_s=ran_s,
        disk_free_bytes=None if free is None else int(free),
        checkpoint_bytes=_largest_checkpoint(directory),
    )


def free_bytes(directory: RunDirectory) -> int | None:
    """Free bytes on the disk of a run directory."""
    try:
        return shutil.disk_usage(directory.path).free
    except OSError:
        return None


def _last_lines(logs: Path) -> list[Printed]:
    errors = _printed(logs, "stderr", LOG_LINES)
    room = LOG_LINES - len(errors)
    return [*(_printed(logs, "stdout", room) if room > 0 else []), *errors]


def _printed(logs: Path, stream: str, lines: int) -> list[Printed]:
    text = log_reading.tail(logs / f"{stream}.log", lines=lines)
    # What `str.splitlines` takes for the end of a line may stand in one.
    return [Printed(stream, line) for line in text.split("\n")] if text else []


def _largest_checkpoint(directory: RunDirectory) -> int | None:
    folders = [directory.checkpoint(step) for step in directory.checkpoint_steps()]
    return max(map(disk_space.size_bytes, folders), default=None)
