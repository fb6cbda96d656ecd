"""Where files lie on this machine that may be deleted, and which models were registered from there.

Called by `store.models.pruning`. A model may be registered by any path below the model roots, of
which the data directory is one: by a run's directory, by a stored artifact, by a folder of links to
either.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.store.tables.models import Model


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


class Registered:
    """The models that were registered by a path, by the folders that hold their files."""

    def __init__(self, session: Session) -> None:
        """Look where the files are now: links are followed."""
        self._ids: defaultdict[Path, set[str]] = defaultdict(set)
        for model_id, source in session.execute(select(Model.id, Model.source)):
            for file in _files(Path(source["path"])) if "path" in source else ():
                for folder in (file, *file.parents):
                    self._ids[folder].add(model_id)

    def below(self, folders: Collection[Path]) -> set[str]:
        """The ids of those that have a file in one of these folders."""
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
