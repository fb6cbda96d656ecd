"""What an attempt finds in its run directory before its trainer starts: progress, then inputs.

Called by the supervisor that holds the directory's lock. Progress is what lies here already, what
another machine has shared, or the checkpoint of a parent; every write to the store is fenced.
"""

from collections.abc import Callable

from sqlalchemy.orm import Session

from backend.errors import ServiceError, Unavailable
from backend.machine.wall_clock import now
from backend.schemas.run_directory.events import CheckpointLine
from backend.schemas.vocabulary import FailureCause
from backend.store.models import registry
from backend.store.runs import checkpoints, events, needs, supervision
from backend.store.runs.events import NewEvent
from backend.store.runs.supervision import Claim
from backend.store.tables.runs import Run
from worker.cancellation import Cancellation
from worker.outage import BUCKET_TRIES, patiently
from worker.run_directory import checkpoint_sharing
from worker.run_directory.disk_errors import disk_errors
from worker.run_directory.export import Export
from worker.run_directory.failures import Failure, RunFailed
from worker.run_directory.layout import RunDirectory
from worker.run_directory.parent_checkpoint import ParentCheckpoint
from worker.run_directory.rewinding import rewind
from worker.worker_process import WorkerProcess


class CalledOff(Exception):
    """The run is to stop, or its worker is, before the trainer has begun."""


class Preparation:
    """The preparation of one attempt, in two steps: progress, then inputs.

    Both wait for a store that is away, some minutes for the artifact store, and raise RunFailed or
    GivenAway. A step that was broken off can be repeated.
    """

    def __init__(
        self,
        this_worker: WorkerProcess,
        claim: Claim,
        run: Run,
        directory: RunDirectory,
        cancellation: Cancellation,
    ) -> None:
        """`cancellation` raises CalledOff or GivenAway."""
        self._cancellation = cancellation
        self._this_worker = this_worker
        self._claim = claim
        self._run = run
        self._directory = directory

    def find_progress(self) -> None:
        """Put in place what the trainer goes on from; nothing at all where it is to start anew."""
        run = self._run
        with disk_errors():
            continues = self._directory.begin_attempt(
                run.attempt, run.events_token, run.relayed_bytes
            )
            if run.from_start:
                self._directory.forget_progress()
        if run.attempt > 1 and not continues and not run.from_start:
            self._patiently(self._find_checkpoint)
        if run.from_start or not continues:
            self._begin_events_anew()
        if run.parent_step is not None and not self._directory.checkpoint_steps():
            self._inherit(str(run.parent_id), run.parent_step)

    def write_inputs(self) -> None:
        """Put config and inputs in place, every one of them verified by its hash."""
        self._patiently(self._export)

    def _patiently(self, call: Callable[[], object]) -> None:
        """Do something with both stores; a bucket that stays away may be back for the next try."""
        this_worker = self._this_worker
        try:
            patiently(
                lambda: patiently(call, this_worker.wait),
                self._cancellation.wait,
                away=(Unavailable,),
                tries=BUCKET_TRIES,
            )
        except Unavailable as error:
            raise RunFailed(_out_of_reach(error), may_pass=True) from error

    def _begin_events_anew(self) -> None:
        """Make this directory the one that goes on; what it needs for that is here."""
        with disk_errors():
            token = self._directory.begin_events()

        def record(session: Session) -> None:
            run = supervision.hold(session, self._claim)
            run.relayed_bytes, run.events_token = 0, token
            if run.from_start:
                run.from_start = False
                rewind(session, run, -1, at=now())
            elif run.checkpoint_step is not None:
                self._tell_of_loss(session, run.checkpoint_step)

        self._this_worker.write(record)

    def _tell_of_loss(self, session: Session, told: int) -> None:
        """Say so where the newest checkpoint that the run has told of is nowhere to be found."""
        here = max(self._directory.checkpoint_steps(), default=self._run.parent_step or 0)
        if here >= told:
            return
        alert = {
            "level": "warning",
            "rule": "checkpoint_lost",
            "message": f"The checkpoint of step {told} is neither on this machine nor in the "
            "artifact store. The run "
            f"{f'resumes from step {here}' if here else 'starts from the beginning'}.",
            "step": here,
        }
        events.append(session, self._run.id, [NewEvent("alert", alert)], at=now())

    def _find_checkpoint(self) -> None:
        """The attempt before ran on another machine: go on from what that one has shared.

        Checkpoints here that the store does not know are of a past that was taken back. Those
        that were written here and are needed may lie nowhere else.
        """
        with self._this_worker.database.read() as session:
            shared = checkpoints.newest_shared(session, self._run.id)
            known = checkpoints.written_by(session, self._run.id)
            needed = needs.checkpoint_steps(session, self._run.id)
        own = self._directory.written_here(known)
        if shared is None:
            self._directory.drop_checkpoints_but(own)
            return
        kept = {step for step in own.intersection(needed) if step < shared.step}
        try:
            with disk_errors():
                checkpoint_sharing.fetch(
                    self._this_worker.artifacts, self._directory, shared, kept, self._cancellation
                )
        except Unavailable:
            raise
        except ServiceError as error:
            raise RunFailed(_unusable(shared.step, error)) from error

    def _inherit(self, parent_id: str, step: int) -> None:
        """Begin with the parent's checkpoint, as if the run had written it itself."""
        source = ParentCheckpoint(self._directory, parent_id, step, self._cancellation)
        database, artifacts = self._this_worker.database, self._this_worker.artifacts
        self._patiently(lambda: source.put_in_place(database, artifacts))

        def record(session: Session) -> None:
            run = supervision.hold(session, self._claim)
            if step not in checkpoints.steps(session, run.id):
                path = f"checkpoints/{self._directory.checkpoint(step).name}"
                checkpoints.append(session, run, [CheckpointLine(step=step, path=path)], at=now())

        self._this_worker.write(record)

    def _export(self) -> None:
        this_worker = self._this_worker
        export = Export(
            this_worker.settings,
            this_worker.artifacts,
            this_worker.digests,
            self._directory,
            self._cancellation,
        )
        found = export.write(this_worker.database, self._run)
        if not found:
            return
        with this_worker.database.write() as session:
            supervision.hold(session, self._claim)
            known = {
                model_id: registry.keep_hash(session, model_id, found[model_id])
                for model_id in found
            }
        if known != found:
            # Another worker has recorded other bytes meanwhile: this time they are compared.
            export.write(this_worker.database, self._run)


def _out_of_reach(error: Unavailable) -> Failure:
    return Failure(
        FailureCause.NOT_STARTED,
        f"The models or the checkpoint that the run starts from cannot be fetched: {error.detail}.",
        "Check that the worker can reach the artifact store and that its access key may read "
        "there.",
    )


def _unusable(step: int, error: ServiceError) -> Failure:
    return Failure(
        FailureCause.CHECKPOINT,
        f"Training cannot resume from the shared checkpoint of step {step}: {error.detail}.",
        f"{error.advice or 'Restore the artifact store from its backup.'} Then retry the run, or "
        "restart it from the beginning.",
    )
