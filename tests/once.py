"""What one process of tests makes, and all processes of the same run of tests read.

`make test` runs several processes, and a fixture of a session is made in each of them. A folder
that nobody changes, such as a model or a trained run, is made by who asks for it first.
"""

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path


class Once:
    """Folders by their names, in a folder that the processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def folder(self, name: str, make: Callable[[Path], object]) -> Path:
        """The folder of this name, which `make` makes if nobody has; it is only to be read."""
        made, is_made = self._folder / name, self._folder / f"{name}.made"
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                if not is_made.exists():
                    # What a process has left that failed to make it.
                    shutil.rmtree(made, ignore_errors=True)
                    make(made)
                    is_made.touch()
            finally:
                # A process that was forked meanwhile may still hold the file open.
                fcntl.flock(lock, fcntl.LOCK_UN)
        return made
