"""Checkpoints for other machines: the newest one of a run, kept in the artifact store.

Started by the supervisor where the operator has named an artifact store (PODIUM_ARTIFACT_URL); on
the embedded default the run directory is enough. It keeps one checkpoint per run: what a run goes
on from when its own machine is gone.
"""

import logging
import shutil
import threading

from backend.artifacts import ArtifactStore
from backend.errors import ServiceError
from backend.store import checkpoints, supervision
from backend.store.checkpoints import Shared
from backend.store.db import Database
from backend.store.supervision import Claim, GivenAway
from worker.outage import OUTAGES
from worker.run_directory import RunDirectory

log = logging.getLogger("podium.worker")

# Between two looks at the run directory.
_LOOK_S = 5.0


class CheckpointSharing(threading.Thread):
    """Uploads each newest checkpoint of one attempt; use it as a context around the training."""

    def __init__(
        self, database: Database, artifacts: ArtifactStore, claim: Claim, directory: RunDirectory
    ) -> None:
        super().__init__(name=f"share-{claim.run_id}", daemon=True)
        self._database = database
        self._artifacts = artifacts
        self._claim = claim
        self._directory = directory
        self._shared_step = 0
        self._end = threading.Event()

    def __enter__(self) -> "CheckpointSharing":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()

    def run(self) -> None:
        """Look, share, look; once more at the end, for that one is what a pause has written."""
        is_over = False
        while not is_over:
            is_over = self._end.wait(_LOOK_S)
            try:
                self._share_newest()
            except GivenAway:
                return
            except (*OUTAGES, ServiceError, OSError) as error:
                # The trainer may have replaced it meanwhile, or the store is away: next time.
                log.warning("checkpoint.not_shared", extra={"error": str(error)[:300]})

    def _share_newest(self) -> None:
        step = max(self._directory.checkpoint_steps(), default=0)
        if step <= self._shared_step:
            return
        key = f"runs/{self._claim.run_id}/checkpoint-{self._claim.attempt}-{step}"
        self._artifacts.put_folder(self._directory.checkpoint(step), key)
        with self._database.write() as session:
            run = supervision.hold(session, self._claim)
            superseded = checkpoints.share(session, run, step, key)
        self._shared_step = step
        for old in superseded:
            self._artifacts.remove(old)


def fetch(artifacts: ArtifactStore, directory: RunDirectory, shared: Shared) -> None:
    """Replace the checkpoints in this directory by one from the artifact store.

    For an attempt whose predecessor ran elsewhere: what lies here is of a past that was taken back.
    """
    shutil.rmtree(directory.checkpoints, ignore_errors=True)
    artifacts.fetch_folder(shared.artifact, directory.checkpoint(shared.step))
