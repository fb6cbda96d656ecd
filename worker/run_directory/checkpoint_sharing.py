"""Checkpoints for other machines: the newest one of a run and the needed, in the artifact store.

Started by the supervisor where the operator has named an artifact store (PODIUM_ARTIFACT_URL); on
the embedded default the run directory is enough. The newest is what a run goes on from when its own
machine is gone; the needed are pinned or waited for by a clone.
"""

import logging
import shutil
import threading
from collections.abc import Callable, Collection

from backend.artifacts import ArtifactStore
from backend.errors import ServiceError
from backend.machine.wall_clock import now
from backend.store.db import Database
from backend.store.runs import checkpoints, needs, supervision
from backend.store.runs.checkpoints import Shared
from backend.store.runs.supervision import Claim, GivenAway
from worker.cancellation import Cancellation
from worker.outage import OUTAGES, delay_s
from worker.run_directory.layout import RunDirectory

log = logging.getLogger("podium.worker")

# Between two looks at the run directory.
_LOOK_S = 5.0
# Of the last look, whose checkpoint is what a pause has written: for about half a minute.
_LAST_TRIES = 8


class CheckpointSharing(threading.Thread):
    """Uploads the checkpoints of one attempt that matter; a context around the training."""

    def __init__(
        self,
        database: Database,
        artifacts: ArtifactStore,
        claim: Claim,
        directory: RunDirectory,
        wait: Callable[[float], bool],
    ) -> None:
        """`wait` sleeps the given seconds and says whether there is any use in going on."""
        self._wait = wait
        super().__init__(name=f"share-{claim.run_id}", daemon=True)
        self._database = database
        self._artifacts = artifacts
        self._claim = claim
        self._directory = directory
        self._mine: set[int] = set()
        self._end = threading.Event()

    def __enter__(self) -> "CheckpointSharing":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()

    def run(self) -> None:
        """Look, share, look; once more at the end, for that one is what a pause has written."""
        try:
            while not self._end.wait(_LOOK_S):
                self._try()
            failures = 0
            while not self._try() and failures < _LAST_TRIES and self._wait(delay_s(failures)):
                failures += 1
        except GivenAway:
            return

    def _try(self) -> bool:
        """Whether everything that matters is shared now."""
        try:
            self._share_what_matters()
        except GivenAway:
            raise
        except (*OUTAGES, ServiceError, OSError) as error:
            # The trainer may have replaced it meanwhile, or a store is away: next time.
            log.warning("checkpoint.not_shared", extra={"error": str(error)[:300]})
        except Exception:
            # Clients of buckets have errors of their own.
            log.exception("checkpoint.not_shared")
        else:
            return True
        return False

    def _share_what_matters(self) -> None:
        with self._database.read() as session:
            needed = needs.checkpoint_steps(session, self._claim.run_id)
            shared = checkpoints.shared_steps(session, self._claim.run_id)
        here = self._directory.checkpoint_steps()
        # What an earlier attempt has shared under this step may be another past.
        newest = set(here[-1:]) - self._mine
        for step in sorted(newest | (set(here) & needed) - shared):
            self._share(step)

    def _share(self, step: int) -> None:
        key = f"runs/{self._claim.run_id}/checkpoint-{self._claim.attempt}-{step}"
        self._artifacts.put_folder(self._directory.checkpoint(step), key)
        with self._database.write() as session:
            run = supervision.hold(session, self._claim)
            needed = needs.checkpoint_steps(session, run.id)
            superseded = checkpoints.share(session, run, step, key, needed=needed)
            here = {*self._directory.checkpoint_steps(), step}
            attempts = self._directory.attempts()
            checkpoints.keep_only(session, run.id, here, attempts=attempts, needed=needed, at=now())
        self._mine.add(step)
        for old in superseded:
            self._artifacts.remove(old)


def fetch(
    artifacts: ArtifactStore,
    directory: RunDirectory,
    shared: Shared,
    kept: Collection[int],
    cancellation: Cancellation,
) -> None:
    """Replace the checkpoints in this directory but `kept` by one from the artifact store.

    For an attempt whose predecessor ran elsewhere: what lies here is of a past that was taken back.
    Every file is verified by its hash. Raises as `ArtifactStore.fetch_folder` does, or what
    `cancellation` raises, and leaves what was here.
    """
    arrived = directory.checkpoints.with_name(".arrived")
    shutil.rmtree(arrived, ignore_errors=True)
    target = arrived / directory.checkpoint(shared.step).name
    artifacts.fetch_folder(shared.artifact, target, cancellation.check)
    directory.drop_checkpoints_but(kept)
    directory.drop_unfinished_checkpoints()
    directory.checkpoints.mkdir(exist_ok=True)
    target.rename(directory.checkpoint(shared.step))
    arrived.rmdir()
