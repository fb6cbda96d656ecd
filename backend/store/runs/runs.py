"""Runs: creating, and the one function that moves their state.

Routes and the worker call it inside their transaction; the claim, the beat and the fence are
`backend.store.runs.supervision`. It validates no config and wakes no worker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.domain import run_config, run_state
from backend.domain.run_state import Verb
from backend.errors import Conflict, NotFound
from backend.schemas.runs import CloneBody, RunBody
from backend.schemas.training import SCHEMA_VERSION
from backend.schemas.vocabulary import RunState, StopReason
from backend.store import given
from backend.store.ids import new_id
from backend.store.runs import checkpoints, events, failures, needs
from backend.store.runs.events import NewEvent
from backend.store.runs.failures import Evidence
from backend.store.runs.table import facts
from backend.store.tables.runs import Run

_STOP_REASONS = frozenset(StopReason)
_BAD_ENDS = frozenset({RunState.FAILED, RunState.CRASHED})


@dataclass(frozen=True)
class NewRun:
    """What a run is made of."""

    project_id: str
    user_id: str
    name: str
    method: str
    config: dict[str, Any]
    schema_version: int
    gpus: int = 0
    experiment_id: str | None = None
    parent_id: str | None = None
    parent_step: int | None = None
    tags: Sequence[str] = ()
    priority: int = 0

    @classmethod
    def of(
        cls,
        body: RunBody,
        config: dict[str, Any],
        user_id: str,
        *,
        parent_id: str | None = None,
        parent_step: int | None = None,
    ) -> Self:
        """The run that a request asks for, with its config checked and completed."""
        return cls(
            **body.model_dump(exclude={"config"}),
            user_id=user_id,
            parent_id=parent_id,
            parent_step=parent_step,
            method=config["method"],
            config=config,
            schema_version=SCHEMA_VERSION,
            gpus=config["resources"]["gpus"],
        )


def create(session: Session, new: NewRun, *, at: datetime) -> Run:
    """Add a queued run and the first event of its history."""
    run = Run(
        id=new_id("run"),
        created_at=at,
        project_id=new.project_id,
        experiment_id=new.experiment_id,
        parent_id=new.parent_id,
        parent_step=new.parent_step,
        user_id=new.user_id,
        name=new.name,
        method=new.method,
        config=new.config,
        schema_version=new.schema_version,
        tags=list(new.tags),
        priority=new.priority,
        gpus=new.gpus,
        state=RunState.QUEUED,
        environment={},
        summary={},
        queued_at=at,
    )
    session.add(run)
    session.flush()
    facts.write(session, run)
    _append_state(session, run, reason=None, at=at)
    return run


def get(session: Session, run_id: str) -> Run:
    """The run, or NotFound."""
    run = session.scalars(select(Run).where(Run.id == run_id)).one_or_none()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    return run


def locked(session: Session, run_id: str) -> Run:
    """The run as it stands, held against other writers until the transaction ends; or NotFound."""
    statement = select(Run).where(Run.id == run_id).with_for_update()
    run = session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    return run


def known_projects(session: Session, run_ids: Sequence[str]) -> dict[str, str]:
    """The project of each of these runs that exists."""
    is_named = given.is_among(session, Run.id, run_ids)
    rows = session.execute(select(Run.id, Run.project_id).where(is_named))
    return dict(rows.all())


def count_by_state(session: Session) -> dict[str, float]:
    """How many runs there are in each state that a run is in."""
    rows = session.execute(select(Run.state, func.count()).group_by(Run.state))
    return {state: float(count) for state, count in rows}


def transition(
    session: Session,
    run: Run,
    to: RunState,
    *,
    at: datetime,
    reason: str | None = None,
    error: dict[str, Any] | None = None,
    exit_code: int | None = None,
    evidence: Evidence | None = None,
) -> None:
    """Move a run to another state and append the event; the only way `state` changes.

    `error` is {cause, message, advice, changes}; a bad end is kept with its evidence. A StopReason
    given as `reason` is kept with the run.
    Raises Conflict if the table of moves forbids it or another writer has moved the run meanwhile.
    """
    from_ = RunState(run.state)
    reason = reason or _reason_carried(run, to)
    if not run_state.may_move(from_, to, reason):
        raise Conflict(f"run {run.id} is {from_} and cannot become {to}", state=from_)
    session.flush()
    moved = session.execute(
        update(Run)
        .where(Run.id == run.id, Run.state == from_)
        .values(
            state=to,
            stop_reason=reason if reason in _STOP_REASONS else None,
            error=error,
            exit_code=exit_code,
            **_columns_of(run, to, at),
        )
        .execution_options(synchronize_session=False)
        .returning(Run.id)
    ).scalar_one_or_none()
    if moved is None:
        raise Conflict(
            f"run {run.id} is no longer {from_}: it was changed at the same moment",
            advice="Load the run again.",
            state=from_,
        )
    session.refresh(run)
    _append_state(session, run, reason=reason, at=at)
    if error is not None and to in _BAD_ENDS:
        failures.record(session, run, error, evidence, exit_code=exit_code, at=at)


def _reason_carried(run: Run, to: RunState) -> str | None:
    # A stop that ends as it was meant to keeps its reason; one that ends otherwise loses it.
    if run.state != RunState.STOPPING or run.stop_reason is None:
        return None
    meant = run_state.state_asked_for(StopReason(run.stop_reason))
    return run.stop_reason if to == meant else None


def _columns_of(run: Run, to: RunState, at: datetime) -> dict[str, Any]:
    # What was said of a run that ends or goes on is to be said anew.
    changes: dict[str, Any] = {"verdict": None}
    if to not in run_state.LIVE:
        changes |= {"owner": None, "eta_s": None, "phase": ""}
    if to == RunState.QUEUED:
        # What waits for a worker is listed, whoever has archived it before.
        changes |= {"queued_at": at, "finished_at": None, "archived_at": None}
    if to == RunState.RUNNING and run.started_at is None:
        changes |= {"started_at": at}
    if to in run_state.ENDED:
        changes |= {"finished_at": at}
    return changes


def _append_state(session: Session, run: Run, *, reason: str | None, at: datetime) -> None:
    data = {"state": run.state, "attempt": run.attempt, "reason": reason, "error": run.error}
    events.append(session, run.id, [NewEvent("state", data)], at=at)


def cancel(session: Session, run_id: str, *, at: datetime) -> Run:
    """Stop a run for good: at once, or at its next safe point where a trainer is at work."""
    run = _for_verb(session, run_id, Verb.CANCEL)
    if run.state == RunState.STOPPING:
        if run.stop_reason != StopReason.CANCEL:
            run.stop_reason = StopReason.CANCEL
            _append_state(session, run, reason=StopReason.CANCEL, at=at)
        return run
    to = RunState.STOPPING if run.state == RunState.RUNNING else RunState.CANCELLED
    transition(session, run, to, at=at, reason=StopReason.CANCEL)
    return run


def pause(session: Session, run_id: str, *, at: datetime) -> Run:
    """Keep a queued run out of the queue, or stop a running one after a checkpoint."""
    run = _for_verb(session, run_id, Verb.PAUSE)
    to = RunState.STOPPING if run.state == RunState.RUNNING else RunState.PAUSED
    transition(session, run, to, at=at, reason=StopReason.PAUSE)
    return run


def resume(session: Session, run_id: str, *, at: datetime) -> Run:
    """Put a paused run back into the queue."""
    run = _for_verb(session, run_id, Verb.RESUME)
    transition(session, run, RunState.QUEUED, at=at, reason="resume")
    return run


def retry(session: Session, run_id: str, *, at: datetime, from_start: bool = False) -> Run:
    """Queue an ended run again with the same config, from its last checkpoint or anew.

    Raises Conflict where to begin anew would delete pinned checkpoints, and where files that it
    needs were pruned.
    """
    found = get(session, run_id)
    needs.hold_models(session, found.config)
    if found.pruned_at is not None and found.parent_id is not None:
        # The older run first, as whoever changes many.
        locked(session, found.parent_id)
    run = _for_verb(session, run_id, Verb.RETRY)
    if from_start:
        _refuse_to_unpin(session, run)
    if run.pruned_at is not None:
        _begin_after_prune(session, run, from_start=from_start)
    needs.require_models(session, run.config)
    run.from_start = from_start
    run.crashes = 0
    transition(session, run, RunState.QUEUED, at=at, reason=run_state.RETRY)
    return run


def _refuse_to_unpin(session: Session, run: Run) -> None:
    steps = checkpoints.pinned_steps(session, run.id)
    if steps:
        raise Conflict(
            f"restarting run {run.id} from the beginning would delete its pinned checkpoints: "
            f"step {', '.join(map(str, steps))}",
            advice="Clone the run instead, or unpin them first.",
        )


def _begin_after_prune(session: Session, run: Run, *, from_start: bool) -> None:
    gone = f"the files of run {run.id} were deleted by podium prune on {run.pruned_at:%Y-%m-%d}"
    if not from_start:
        raise Conflict(
            f"{gone}, so it cannot resume",
            advice="Restart it from the beginning, which replaces its curves (API: retry with "
            '{"from": "start"}), or clone it.',
        )
    if run.parent_id is not None and run.parent_step is not None:
        locked(session, run.parent_id)
        if run.parent_step not in checkpoints.steps(session, run.parent_id):
            raise Conflict(
                f"{gone}, and the checkpoint that it started from no longer exists",
                advice="Clone its parent.",
            )
    run.pruned_at = None


def archive(session: Session, run_id: str, *, at: datetime) -> Run:
    """Take a run out of the lists; nothing is deleted, and a crashed one is not tried again."""
    run = _for_verb(session, run_id, Verb.ARCHIVE)
    run.archived_at = run.archived_at or at
    return run


def must_be_archivable(run_id: str, state: RunState) -> None:
    """Raise Conflict unless the state of this run, which the caller holds, allows to archive it."""
    _must_allow(run_id, state, Verb.ARCHIVE)


def restore(session: Session, run_id: str) -> Run:
    """Put an archived run back into the lists."""
    run = locked(session, run_id)
    run.archived_at = None
    return run


def copied(session: Session, run_id: str, body: CloneBody) -> RunBody:
    """The request that would make this run again with these changes; its config is unchecked."""
    parent = get(session, run_id)
    kept = {name: getattr(parent, name) for name in ("experiment_id", "tags", "priority")}
    changed = body.model_dump(include=set(kept), exclude_unset=True)
    return RunBody(
        project_id=parent.project_id,
        name=body.name or f"{parent.name[:190]} (copy)",
        config=run_config.merged(parent.config, body.overrides),
        **(kept | changed),
    )


def _for_verb(session: Session, run_id: str, verb: Verb) -> Run:
    run = locked(session, run_id)
    _must_allow(run.id, RunState(run.state), verb)
    return run


def _must_allow(run_id: str, state: RunState, verb: Verb) -> None:
    allowed = run_state.allowed_verbs(state)
    if verb not in allowed:
        raise Conflict(
            f"run {run_id} is {state}, which does not allow {verb}",
            advice=f"A run that is {state} allows: {', '.join(allowed)}.",
            state=state,
            allowed=list(allowed),
        )
