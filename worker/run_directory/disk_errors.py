"""Disks that are full or cannot be written, as failures of a run.

Called by everything that writes into run directories and the artifact store.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from backend.machine.disk_errors import is_unwritable
from backend.schemas.vocabulary import FailureCause
from worker.run_directory.failures import Failure, RunFailed


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn the error of a full or read-only disk into RunFailed."""
    try:
        yield
    except OSError as error:
        if not is_unwritable(error):
            raise
        raise RunFailed(disk_failure(error)) from error


def disk_failure(error: OSError) -> Failure:
    """A full or read-only disk, in words."""
    return Failure(
        FailureCause.DISK,
        f"{error.filename or 'A file of the run'} cannot be written: {error.strerror}.",
        "Free space in the data directory (`podium prune` helps) or make it writable, then retry "
        "the run.",
    )
