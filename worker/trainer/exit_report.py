"""`exit.json`: the trainer's last word, written even when the disk is full.

Called by `__main__` alone. 64 kB are set aside at the start; the report is written into them and
renamed, so that reporting a full disk needs no free block.
"""

import os
from pathlib import Path

from backend.schemas.run_directory.events import ExitReport
from backend.schemas.run_directory.names import EXIT_REPORT
from worker.trainer.errors import disk_error

RESERVE_BYTES = 64 * 1024
LONGEST_MESSAGE = 16_000


def reserve(run_dir: Path) -> None:
    """Remove an old report and set the space for this one aside.

    Raises DiskError if the directory is full or not writable.
    """
    try:
        (run_dir / EXIT_REPORT).unlink(missing_ok=True)
        with _reserved(run_dir).open("wb") as file:
            file.write(b" " * RESERVE_BYTES)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise disk_error(error, f"{run_dir}/{EXIT_REPORT}") from error


def write(run_dir: Path, report: ExitReport) -> None:
    """Put the report in place, atomically; uses the reserve if there is one."""
    if report.message is not None and len(report.message) > LONGEST_MESSAGE:
        report = report.model_copy(update={"message": report.message[-LONGEST_MESSAGE:]})
    content = report.model_dump_json().encode()
    path = _reserved(run_dir)
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    path.replace(run_dir / EXIT_REPORT)


def _reserved(run_dir: Path) -> Path:
    return run_dir / f".{EXIT_REPORT}.reserve"
