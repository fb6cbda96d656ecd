"""Where files lie on this machine that may be deleted, and which models were registered from there.

Called by `backend.ops.prune`, which hands it to `store.models.pruning`: the store itself touches no
disk. A model may be registered by any path below the model roots, of which the data directory is
one: by a run's directory, by a stored artifact, by a folder of links to either.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """The folders of one installation; `artifacts` is None where they are in a bucket."""

    runs: Path
    artifacts: Path | None
    cache: Path

    def of_run(self, run_id: str, keys: Iterable[str]) -> list[Path]:
        """The directory of a run, and what lies under these keys of the artifact store."""
        return [self.runs / run_id, *(folder for key in keys for folder in self.of_key(key))]

    def of_key(self, key: str) -> list[Path]:
        """Where an artifact lies, and its copy for trainers."""
        stored = [] if self.artifacts is None else [self.artifacts / key]
        return [*stored, self.cache / key]

    def look_up(self, paths: Mapping[str, str]) -> "RegisteredFiles":
        """Follow the registered paths of models, by id, to where their files lie now."""
        return RegisteredFiles(self, paths)


class RegisteredFiles:
    """The models that were registered by a path, by the folders that hold their files."""

    def __init__(self, places: Places, paths: Mapping[str, str]) -> None:
        """Look where the files are now: links are followed."""
        self._places = places
        self._ids: defaultdict[Path, set[str]] = defaultdict(set)
        for model_id, path in paths.items():
            for file in _files(Path(path)):
                for folder in (file, *file.parents):
                    self._ids[folder].add(model_id)

    def in_run(self, run_id: str, keys: Iterable[str]) -> set[str]:
        """The ids of models with a file in a run's directory or under one of these keys."""
        return self._below(self._places.of_run(run_id, keys))

    def in_artifact(self, key: str) -> set[str]:
        """The ids of models with a file under a key of the artifact store, or in its copy."""
        return self._below(self._places.of_key(key))

    def _below(self, folders: Collection[Path]) -> set[str]:
        return {one for folder in folders for one in self._ids.get(_real(folder), ())}


def _files(path: Path) -> Iterator[Path]:
    """What a model is read from: its folder or file, and where the links in the folder lead."""
    real = _real(path)
    yield real
    if real.is_dir():
        yield from (_real(entry) for entry in real.iterdir() if entry.is_symlink())


def _real(path: Path) -> Path:
    # Unlike `resolve` it takes a link to itself for a file that is not there.
    return Path(os.path.realpath(path))
