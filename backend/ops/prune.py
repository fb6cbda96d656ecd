"""`podium prune`: frees the disk of what was archived, and of copies; rows and curves stay.

Called by the command line, which asks first. What a model or a run still needs keeps its files:
`backend.store.runs.needs` says what that is. Each thing is looked at again, and marked, in a
transaction of its own before its files go; a kill in between leaves files that the next prune
deletes.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from backend.artifacts import ARRIVING, ArtifactStore
from backend.machine import disk_space
from backend.machine.wall_clock import now
from backend.ops.places import Places
from backend.schemas.run_directory.names import CHECKPOINTS, LOCK, checkpoint_name
from backend.settings import Settings
from backend.store.db import Database
from backend.store.models import pruning
from backend.store.models.pruning import RunFiles

# A worker may be about to name what it has just uploaded, or still fetch.
LEFT_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class Item:
    """Files that may go: where they lie, their bytes, and how to delete them.

    `delete` is False where something needs them meanwhile.
    """

    place: str
    size_bytes: int
    delete: Callable[[], bool]


@dataclass(frozen=True)
class Plan:
    """What may go."""

    items: list[Item]

    def describe(self) -> str:
        """What would be deleted, a line each."""
        if not self.items:
            return (
                "There is nothing to delete: archived runs and models have no files that may go, "
                "and nothing is left over."
            )
        lines = [f"{_mb(item.size_bytes)}  {item.place}" for item in self.items]
        return "\n".join([*lines, f"{_mb(_total(self.items))}  in all"])

    def carry_out(self) -> str:
        """Delete it, except for what somebody needs by now."""
        kept = [item for item in self.items if not item.delete()]
        freed = f"Freed {(_total(self.items) - _total(kept)) / 1e6:.1f} MB."
        notes = (f"Kept, because it is needed again: {one.place}" for one in kept)
        return "\n".join([freed, *notes])


class Prune:
    """The files of one installation, as far as they lie on this machine or in its bucket."""

    def __init__(self, settings: Settings) -> None:
        self._artifacts = ArtifactStore(settings.resolved_artifact_url)
        self._database = Database(settings.sqlalchemy_url)
        artifacts = settings.resolved_artifact_url
        self._places = Places(
            runs=settings.runs_dir,
            artifacts=None if "://" in artifacts else Path(artifacts),
            cache=settings.data_dir / "cache",
        )

    def close(self) -> None:
        """Close the connection to the database."""
        self._database.close()

    def plan(self) -> Plan:
        """Find what nobody needs: files of archived runs and models, unnamed artifacts, copies."""
        with self._database.read() as session:
            runs = pruning.archived_runs(session, self._places.look_up)
            models = pruning.archived_models(session, self._places.look_up)
        items = [self._run_item(files) for files in runs]
        items += [self._model_item(model_id, key) for model_id, key in models.items()]
        planned = {key for files in runs for key in files.keys} | set(models.values())
        items += self._left_items(planned)
        items += self._copy_items(planned)
        items += self._arriving_items()
        return Plan([item for item in items if item.size_bytes])

    def _run_item(self, files: RunFiles) -> Item:
        folder = self._places.runs / files.run_id
        size_bytes = sum(disk_space.size_bytes(path) for path in _doomed(folder, files.kept_steps))
        size_bytes += sum(self._artifacts.size_bytes(key) for key in files.keys)
        return Item(str(folder), size_bytes, lambda: self._delete_run(files.run_id, folder))

    def _delete_run(self, run_id: str, folder: Path) -> bool:
        is_here = folder.is_dir()
        with _locked(folder) if is_here else nullcontext(True) as is_ours:
            if not is_ours:
                return False
            with self._database.write() as session:
                files = pruning.mark_run(session, run_id, self._places.look_up, at=now())
            if files is None:
                return False
            if is_here:
                _clear(folder, files.kept_steps)
        for key in files.keys:
            self._artifacts.remove(key)
        return True

    def _model_item(self, model_id: str, key: str) -> Item:
        cached = self._places.cache / key
        size_bytes = self._artifacts.size_bytes(key) + disk_space.size_bytes(cached)
        place = self._artifacts.where(key)
        return Item(place, size_bytes, lambda: self._delete_model(model_id, cached))

    def _delete_model(self, model_id: str, cached: Path) -> bool:
        with self._database.write() as session:
            key = pruning.mark_model(session, model_id, self._places.look_up, at=now())
        if key is None:
            return False
        self._artifacts.remove(key)
        shutil.rmtree(cached, ignore_errors=True)
        return True

    def _left_items(self, planned: set[str]) -> Iterator[Item]:
        """Yield what workers uploaded and no row names, since they died before or it was left."""
        before = now() - LEFT_AFTER
        found = {one.key: one for one in self._artifacts.folders() if one.modified_at < before}
        with self._database.read() as session:
            unnamed = pruning.unnamed(session, found.keys() - planned, self._places.look_up)
        for key in sorted(unnamed):
            place = self._artifacts.where(key)
            yield Item(place, found[key].size_bytes, partial(self._delete_left, key))

    def _delete_left(self, key: str) -> bool:
        # Keys hold the number of an attempt: one that is over is never named again.
        with self._database.write() as session:
            is_left = pruning.mark_left(session, key, self._places.look_up, at=now())
        if is_left:
            self._artifacts.remove(key)
        return is_left

    def _copy_items(self, planned: set[str]) -> Iterator[Item]:
        """Yield the copies of models in the bucket that can be fetched again, or never will be."""
        copies = {key: copy for key, copy in self._copies() if key not in planned}
        with self._database.read() as session:
            spare = pruning.spare_copies(session, copies.keys(), self._places.look_up)
        for key, is_usable in sorted(spare.items()):
            copy = copies[key]
            if _is_left(copy) and (self._artifacts.size_bytes(key) or not is_usable):
                size_bytes = disk_space.size_bytes(copy)
                yield Item(str(copy), size_bytes, partial(self._delete_copy, key, copy))

    def _copies(self) -> Iterator[tuple[str, Path]]:
        for copy in self._places.cache.glob("runs/*/*"):
            if not copy.name.startswith(ARRIVING) and copy.is_dir():
                yield copy.relative_to(self._places.cache).as_posix(), copy

    def _delete_copy(self, key: str, copy: Path) -> bool:
        with self._database.write() as session:
            if not pruning.hold_spare_copy(session, key, self._places.look_up):
                return False
            # Within the transaction: a run that takes the model into use later finds no copy.
            aside = Path(tempfile.mkdtemp(dir=copy.parent, prefix=ARRIVING))
            # Another prune may have been here.
            with suppress(FileNotFoundError):
                copy.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
        return True

    def _arriving_items(self) -> Iterator[Item]:
        """Yield what a process had begun to fetch or to put here when it was killed."""
        for root in filter(None, (self._places.artifacts, self._places.cache)):
            for folder in sorted(root.glob(f"runs/*/{ARRIVING}*")):
                if _is_left(folder):
                    yield Item(
                        str(folder),
                        disk_space.size_bytes(folder),
                        partial(_delete_arriving, folder),
                    )


def _is_left(folder: Path) -> bool:
    """Whether nothing was written into a folder for so long that nobody is at it."""
    try:
        newest = max(path.stat().st_mtime for path in (folder, *folder.rglob("*")))
    except FileNotFoundError:
        # It has become whole, or was broken off, at this moment.
        return False
    return datetime.fromtimestamp(newest, UTC) < now() - LEFT_AFTER


def _delete_arriving(folder: Path) -> bool:
    if not _is_left(folder):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """The lock of a run directory, which its supervisor holds too; False while it is taken."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def _doomed(folder: Path, kept_steps: frozenset[int]) -> list[Path]:
    """List what goes of a run directory; the lock goes last, and only with everything else."""
    kept = {folder / CHECKPOINTS / checkpoint_name(step) for step in kept_steps}
    kept = {path for path in kept if path.is_dir()}
    if not folder.is_dir():
        return []
    top = [path for path in folder.iterdir() if path.name != LOCK]
    if not kept:
        return top
    checkpoints = folder / CHECKPOINTS
    below = [path for path in checkpoints.iterdir() if path not in kept]
    return [*(path for path in top if path != checkpoints), *below]


def _clear(folder: Path, kept_steps: frozenset[int]) -> None:
    for path in _doomed(folder, kept_steps):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if [path.name for path in folder.iterdir()] == [LOCK]:
        (folder / LOCK).unlink()
        folder.rmdir()


def _total(items: list[Item]) -> int:
    return sum(item.size_bytes for item in items)


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:10.1f} MB"
