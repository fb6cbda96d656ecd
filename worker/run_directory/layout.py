"""The folder that supervisor and trainer share: names, lock, attempts, what it holds.

Called by all parts of the worker that read or write a run directory. It writes no training data and
reads no events.
"""

import fcntl
import json
import os
import re
import shutil
import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from backend.schemas.run_directory import names

_RUN_ID = re.compile(r"^run_[a-z0-9]{1,60}$")


class RunDirectory:
    """`$PODIUM_DATA_DIR/runs/<run id>/`."""

    def __init__(self, runs_dir: Path, run_id: str) -> None:
        if not _RUN_ID.match(run_id):
            raise ValueError(f"{run_id!r} is not a run id, so it cannot name a folder")
        self.path = runs_dir / run_id
        self.config = self.path / "config.json"
        self.inputs = self.path / "inputs"
        self.events = self.path / names.EVENTS
        self._token_file = self.path / "events.token"
        self.exit_report = self.path / names.EXIT_REPORT
        self.checkpoints = self.path / names.CHECKPOINTS
        self.output = self.path / names.OUTPUT
        self._pins_file = self.path / names.PINS
        self._pins: frozenset[int] | None = None

    def attempt(self, number: int) -> Path:
        """The folder of one attempt's logs."""
        return self.path / names.ATTEMPTS / str(number)

    def attempts(self) -> set[int]:
        """The attempts that ran in this directory, and on no other machine."""
        folders = (self.path / names.ATTEMPTS).glob("*")
        return {int(path.name) for path in folders if path.name.isdecimal()}

    def checkpoint(self, step: int) -> Path:
        """The folder of one checkpoint."""
        return self.checkpoints / names.checkpoint_name(step)

    def try_lock(self) -> int | None:
        """A file descriptor that holds the lock, or None while somebody else does.

        The lock belongs to the open file: guard and trainer inherit it, so it is free only when
        the last of them is gone, even where their worker was killed.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        path = self.path / names.LOCK
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            # `podium prune` has removed the folder in this moment.
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock on a file that prune has removed meanwhile keeps nobody out.
            is_in_place = os.path.samestat(os.fstat(fd), path.stat())
        except OSError:
            is_in_place = False
        if not is_in_place:
            os.close(fd)
            return None
        return fd

    def begin_attempt(self, number: int, events_token: str | None, relayed_bytes: int) -> bool:
        """Make the attempt's folder; returns whether `relayed_bytes` counts in this directory.

        It does if the events that were relayed are those that lie here, as the token tells: then
        what is not relayed yet is still to come. An earlier exit report goes in any case, and so do
        attempts that only a database had which was since restored from its backup.
        """
        for later in self.attempts():
            if later >= number:
                shutil.rmtree(self.attempt(later))
        self.attempt(number).mkdir(parents=True)
        self.exit_report.unlink(missing_ok=True)
        is_same = events_token is not None and self._token() == events_token
        return is_same and self._events_bytes() >= relayed_bytes

    def begin_events(self) -> str:
        """Remove what attempts elsewhere or long ago have told; the token of what follows."""
        self.events.unlink(missing_ok=True)
        token = uuid.uuid4().hex
        unfinished = self._token_file.with_suffix(".part")
        unfinished.write_text(token)
        unfinished.replace(self._token_file)
        return token

    def _token(self) -> str | None:
        try:
            return self._token_file.read_text()
        except FileNotFoundError:
            return None

    def _events_bytes(self) -> int:
        return self.events.stat().st_size if self.events.exists() else 0

    def forget_progress(self) -> None:
        """Remove what a trainer would resume from, and what it has made."""
        for folder in (self.checkpoints, self.output):
            shutil.rmtree(folder, ignore_errors=True)

    def checkpoint_steps(self) -> list[int]:
        """Steps of the checkpoints that are here, ascending; they appear by rename, whole."""
        if not self.checkpoints.is_dir():
            return []
        found = map(names.checkpoint_step, os.listdir(self.checkpoints))
        return sorted(step for step in found if step is not None)

    def pin(self, steps: Collection[int] | None) -> None:
        """Tell the trainer which checkpoints to keep, if that is known and news.

        A disk that cannot be written is no error: the next call tries again.
        """
        if steps is None or self._pins == frozenset(steps):
            return
        unfinished = self._pins_file.with_suffix(".part")
        with suppress(OSError):
            unfinished.write_text(json.dumps({"steps": sorted(steps)}))
            unfinished.replace(self._pins_file)
            self._pins = frozenset(steps)

    def written_here(self, known: Mapping[int, int]) -> set[int]:
        """Keep the steps whose checkpoint lies here and is of one of this directory's attempts.

        `known`: the attempt that wrote each checkpoint, by step.
        """
        own = self.attempts()
        return {step for step in self.checkpoint_steps() if known.get(step) in own}

    def drop_checkpoints_but(self, steps: Collection[int]) -> None:
        """Remove every other checkpoint; one that stepped aside may be the trainer's only one."""
        for step in set(self.checkpoint_steps()) - set(steps):
            shutil.rmtree(self.checkpoint(step), ignore_errors=True)

    def drop_unfinished_checkpoints(self) -> None:
        """Remove what the trainer was writing or replacing, and would put back."""
        for path in self.checkpoints.glob(".*"):
            shutil.rmtree(path, ignore_errors=True)
