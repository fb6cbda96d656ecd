"""The checkpoint that a run goes on from: out of its parent's hands, into its own directory.

Called by `worker.run_directory.preparation` if a run has a `parent_step` and no checkpoint here.
The copy below `inputs/` stays, so that a retry from the start needs the parent no more. It is
verified by its manifest on every way; nothing is loaded.
"""

import json
import shutil
from pathlib import Path

from backend import digest
from backend.artifacts import ArtifactStore, link_or_copy
from backend.errors import ServiceError, Unavailable
from backend.schemas.run_directory.names import MANIFEST, checkpoint_name
from backend.schemas.vocabulary import FailureCause
from backend.store.db import Database
from backend.store.runs import checkpoints
from worker.cancellation import Cancellation
from worker.run_directory.disk_errors import disk_errors
from worker.run_directory.failures import Failure, RunFailed
from worker.run_directory.layout import RunDirectory


class _Unusable(Exception):
    """A checkpoint that is not there, or not what was written."""


class ParentCheckpoint:
    """`step` of the run `parent_id`, for the run whose directory this is."""

    def __init__(
        self, directory: RunDirectory, parent_id: str, step: int, cancellation: Cancellation
    ) -> None:
        """`cancellation` is checked while files are fetched and read."""
        self._cancellation = cancellation
        self._directory = directory
        self._parent_id = parent_id
        self._step = step
        self._kept = directory.inputs / checkpoint_name(step)

    def put_in_place(self, database: Database, artifacts: ArtifactStore) -> Path:
        """Make it this run's newest checkpoint and return its folder.

        Raises RunFailed if it is gone or damaged, or the disk is full; Unavailable, or an outage of
        the store.
        """
        target = self._directory.checkpoint(self._step)
        try:
            with disk_errors():
                if not self._kept.is_dir():
                    self._fetch(database, artifacts)
                _copy(self._kept, target, self._cancellation)
        except Unavailable:
            raise
        except (_Unusable, ServiceError) as error:
            raise RunFailed(self._failure(str(error))) from error
        return target

    def _fetch(self, database: Database, artifacts: ArtifactStore) -> None:
        """Copy it from the parent's directory on this machine, or else from the artifact store."""
        parent = RunDirectory(self._directory.path.parent, self._parent_id)
        try:
            _copy(parent.checkpoint(self._step), self._kept, self._cancellation)
        except _Unusable:
            with database.read() as session:
                shared = checkpoints.newest_shared(session, self._parent_id, step=self._step)
            if shared is None:
                raise
            artifacts.fetch_folder(shared.artifact, self._kept, self._cancellation.check)

    def _failure(self, problem: str) -> Failure:
        return Failure(
            FailureCause.CHECKPOINT,
            f"Training cannot continue from step {self._step} of run {self._parent_id}: {problem}",
            "Clone the parent again from a checkpoint that still exists, or from the beginning.",
        )


def _copy(source: Path, target: Path, cancellation: Cancellation) -> None:
    """Copy or link the files that a checkpoint's manifest names; the target is whole or absent."""
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        for name, sha256 in json.loads((source / MANIFEST).read_bytes())["sha256"].items():
            # The base name alone: a manifest leads to no other folder.
            file = partial / Path(name).name
            link_or_copy(source / file.name, file)
            if digest.of_file(file, cancellation.check).hex() != sha256:
                raise _Unusable(
                    f"{file.name} in {source} has changed since it was written (its sha256 "
                    "differs)."
                )
        link_or_copy(source / MANIFEST, partial / MANIFEST)
        partial.rename(target)
    except FileNotFoundError as error:
        raise _Unusable(f"{error.filename} is missing.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _Unusable(f"{source / MANIFEST} is not a valid manifest.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
