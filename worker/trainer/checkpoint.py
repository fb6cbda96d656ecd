"""Checkpoints that appear whole or not at all: `checkpoints/step-N/`.

The loops save and load through here. A checkpoint is a few safetensors files, `state.json` and a
`manifest.json` with the sha256 of each; it is written beside its place and renamed. No pickle.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from backend.schemas.numbers import gb
from backend.schemas.run_directory.names import MANIFEST, PINS, checkpoint_name, checkpoint_step
from worker.trainer.errors import DiskError, disk_error

FORMAT = 2
_REPLACED = ".replaced"
# Work that a crash may cost where the config does not say how many steps, seconds.
AT_RISK_S = 600.0
# A checkpoint that is larger than what it displaces by less than this takes no more room.
_AS_LARGE = 1.01


@dataclass(frozen=True)
class Checkpoint:
    """A state after `step`: named groups of tensors, and everything else as plain JSON."""

    step: int
    state: dict[str, Any]
    tensors: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    is_best: bool = False


class Schedule:
    """The steps after which to save: every so many; 0 = after none, None = by time.

    By time, a checkpoint is due as soon as one more turn as long as the longest so far could end
    more than `AT_RISK_S` after the last one. A turn is a step with its evaluation and its saving.
    When a checkpoint is written changes nothing in training.
    """

    def __init__(self, every: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._every, self._clock = every, clock
        self._saved_at = self._asked_at = clock()
        self._longest_s = 0.0

    def is_due(self, step: int) -> bool:
        """Whether to save after this step; ask once after each step, and save at once if so."""
        if self._every is not None:
            return self._every > 0 and step % self._every == 0
        now = self._clock()
        self._longest_s = max(self._longest_s, now - self._asked_at)
        self._asked_at = now
        is_due = now + self._longest_s - self._saved_at > AT_RISK_S
        if is_due:
            self._saved_at = now
        return is_due


def save(folder: Path, checkpoint: Checkpoint, *, keep: int, min_free_bytes: int = 0) -> Path:
    """Write a checkpoint, rename it into place, then drop what need not be kept.

    Kept are the newest `keep`, the best one, and those that `pins.json` beside the folder names.
    One of the same step steps aside until the new one is in its place.
    Raises DiskError, also where less than `min_free_bytes` would stay free; what the new one does
    not displace stays loadable.
    """
    target = folder / checkpoint_name(checkpoint.step)
    partial, replaced = folder / f".{target.name}.partial", folder / f".{target.name}{_REPLACED}"
    try:
        _settle(folder)
        shutil.rmtree(partial, ignore_errors=True)
        _make_room(folder, checkpoint, keep=keep, min_free_bytes=min_free_bytes)
        partial.mkdir(parents=True)
        _write_files(partial, checkpoint)
        if target.exists():
            target.rename(replaced)
        partial.rename(target)
        _sync(folder)
        _settle(folder)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):
            _settle(folder)
        cause = error if isinstance(error, OSError) else OSError(str(error))
        raise disk_error(cause, f"checkpoint {target.name}") from error
    _drop(folder, checkpoint, keep=keep)
    return target


def _settle(folder: Path) -> None:
    """Remove what has been replaced, and put back what was to be and has not."""
    for replaced in folder.glob(f".*{_REPLACED}"):
        target = folder / replaced.name.removeprefix(".").removesuffix(_REPLACED)
        if target.exists():
            shutil.rmtree(replaced, ignore_errors=True)
        else:
            replaced.rename(target)


def _make_room(folder: Path, checkpoint: Checkpoint, *, keep: int, min_free_bytes: int) -> None:
    """Raise DiskError if this checkpoint would take the room that is to stay free.

    Where room is short, what it displaces is dropped before, so that a run that keeps two or more
    and takes no more room than it had goes on, whoever has filled the disk.
    """
    folder.mkdir(parents=True, exist_ok=True)
    needed = _n_bytes(checkpoint)
    free = shutil.disk_usage(folder).free
    if free - needed >= min_free_bytes:
        return
    # The only one stays until the new one is there.
    displaced = _droppable(folder, checkpoint, keep=keep) if keep > 1 else set()
    freed = sum(_size_bytes(folder / checkpoint_name(old)) for old in displaced)
    if needed > freed * _AS_LARGE and free + freed - needed < min_free_bytes:
        if min_free_bytes == 0:
            return  # The disk itself says whether it fits.
        name = checkpoint_name(checkpoint.step)
        raise DiskError(
            f"checkpoint {name} takes {gb(needed)}, and {gb(free)} are free "
            f"on the disk of the run directory, of which {gb(min_free_bytes)} must stay free "
            "(PODIUM_MIN_FREE_GB)",
            "Free space on that disk, then retry the run; it resumes from its last checkpoint. Or "
            "clone the run with a smaller max_checkpoints.",
        )
    for old in displaced:
        shutil.rmtree(folder / checkpoint_name(old), ignore_errors=True)


def _n_bytes(checkpoint: Checkpoint) -> int:
    return sum(one.nbytes for tensors in checkpoint.tensors.values() for one in tensors.values())


def _size_bytes(path: Path) -> int:
    return sum(one.stat().st_size for one in path.iterdir())


def _drop(folder: Path, checkpoint: Checkpoint, *, keep: int) -> None:
    for old in _droppable(folder, checkpoint, keep=keep):
        shutil.rmtree(folder / checkpoint_name(old), ignore_errors=True)


def _droppable(folder: Path, checkpoint: Checkpoint, *, keep: int) -> set[int]:
    """The checkpoints that need not be kept once this one is there, as it is or will be."""
    there = set(_steps(folder))
    # One beyond this step is damaged, or it would have been gone on from.
    written = sorted(old for old in {*there, checkpoint.step} if old <= checkpoint.step)
    try:
        pinned = _pinned(folder.parent / PINS)
    except (OSError, ValueError, KeyError, TypeError):
        # Rather a full disk than a pinned checkpoint that is gone.
        return set()
    best = [
        old for old in written if old < checkpoint.step and _is_best(folder / checkpoint_name(old))
    ]
    best += [checkpoint.step] if checkpoint.is_best else []
    return there - {*written[-keep:], *best[-1:], *pinned}


def _pinned(path: Path) -> set[int]:
    """Steps that somebody wants kept; the file appears by rename, whole."""
    if not path.exists():
        return set()
    return {int(step) for step in json.loads(path.read_text())["steps"]}


def _is_best(path: Path) -> bool:
    try:
        return json.loads((path / MANIFEST).read_text()).get("is_best") is True
    except (OSError, ValueError, AttributeError):
        return False


def load_newest(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest complete checkpoint, or None, and why newer ones were passed over.

    One that a kill has left aside is put back first.
    """
    _settle(folder)
    problems: list[str] = []
    for step in reversed(_steps(folder)):
        path = folder / checkpoint_name(step)
        problem = find_damage(path)
        if problem is None:
            return _read_files(path, step), problems
        problems.append(f"{path.name}: {problem}")
    return None, problems


def find_damage(path: Path) -> str | None:
    """What is wrong with a checkpoint by its manifest, or None."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
        for name, sha256 in manifest["sha256"].items():
            if _sha256(path / name) != sha256:
                return f"{name} does not match its sha256 in the manifest"
        if manifest["format"] != FORMAT:
            return f"its format is {manifest['format']}; expected {FORMAT}"
    except (OSError, ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write named tensors as safetensors; they are copied, so tied ones are stored twice."""
    save_file({name: value.detach().cpu().clone() for name, value in tensors.items()}, path)


def _write_files(folder: Path, checkpoint: Checkpoint) -> None:
    for name, tensors in checkpoint.tensors.items():
        save_tensors(folder / f"{name}.safetensors", tensors)
    (folder / "state.json").write_text(json.dumps(checkpoint.state, indent=1, sort_keys=True))
    hashes = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    manifest = {
        "format": FORMAT,
        "step": checkpoint.step,
        "is_best": checkpoint.is_best,
        "sha256": hashes,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1))
    for path in folder.iterdir():
        _sync(path)


def _read_files(folder: Path, step: int) -> Checkpoint:
    return Checkpoint(
        step=step,
        state=json.loads((folder / "state.json").read_text()),
        tensors={path.stem: load_file(path) for path in sorted(folder.glob("*.safetensors"))},
    )


def _steps(folder: Path) -> list[int]:
    found = (checkpoint_step(path.name) for path in folder.glob("*"))
    return sorted(step for step in found if step is not None)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
