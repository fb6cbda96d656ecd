"""Who owns a run: claim, beat, the fence around every write of a supervisor, and taking back.

Called by the worker: `worker_process` claims, `heartbeat` beats, `sweeper` takes back; supervisor,
relay, preparation and checkpoint sharing write behind the fence. An owner is a worker's id;
together with the attempt it names one try of one run. State itself moves by
`store.runs.runs.transition`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.domain import run_state
from backend.domain.failures import after_crash
from backend.domain.run_state import CRASH_LIMIT
from backend.schemas.vocabulary import RunState, StopReason
from backend.store.runs import needs, runs
from backend.store.runs.failures import Evidence
from backend.store.tables.runs import Run


class GivenAway(Exception):
    """Raised where a supervisor writes about a run that is no longer its own."""


@dataclass(frozen=True)
class Claim:
    """One try of one run by one owner."""

    run_id: str
    owner: str
    attempt: int


class Waiting(NamedTuple):
    """A queued run and the GPUs it wants."""

    run_id: str
    gpus: int


class RunControl(NamedTuple):
    """What a beat brings back: whether the run was asked to stop, and why; what is to be kept.

    `pinned` are the steps of checkpoints that somebody has pinned or a clone waits for; None =
    nobody has looked yet.
    """

    state: RunState
    reason: StopReason | None
    pinned: frozenset[int] | None = None


class Live(NamedTuple):
    """A run that some supervisor owns, as it was seen."""

    run_id: str
    owner: str | None
    attempt: int
    beat: int
    state: str


class Crashed(NamedTuple):
    """A crashed run that may be tried again, as it was seen."""

    run_id: str
    attempt: int
    crashes: int


def waiting(session: Session, *, most_gpus: int, limit: int = 100) -> list[Waiting]:
    """Queued runs that want no more than `most_gpus`, best first: priority, then age.

    At most `limit` for each number of GPUs: however many wait for what is not free, the best of
    those that fit is among them.
    """
    best_first = (Run.priority.desc(), Run.number)
    place = func.row_number().over(partition_by=Run.gpus, order_by=best_first)
    ranked = (
        select(Run.number, place.label("place"))
        .where(Run.state == RunState.QUEUED, Run.gpus <= most_gpus)
        .subquery()
    )
    statement = (
        select(Run.id, Run.gpus)
        .join(ranked, Run.number == ranked.c.number)
        .where(ranked.c.place <= limit)
        .order_by(*best_first)
    )
    return [Waiting(*row) for row in session.execute(statement)]


def claim(session: Session, run_id: str, owner: str, *, at: datetime) -> Run | None:
    """Make a queued run this owner's, as its next attempt; None if it is queued no more."""
    run = runs.locked(session, run_id)
    if run.state != RunState.QUEUED:
        return None
    run.owner = owner
    run.attempt += 1
    runs.transition(session, run, RunState.RUNNING, at=at)
    return run


def hold(session: Session, claim: Claim) -> Run:
    """The claimed run, locked until the transaction ends; the first line of every fenced write.

    Raises GivenAway if the run is not this attempt's any more.
    """
    statement = (
        select(Run)
        .where(
            Run.id == claim.run_id,
            Run.owner == claim.owner,
            Run.attempt == claim.attempt,
            Run.state.in_(run_state.LIVE),
        )
        .with_for_update()
    )
    run = session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()
    if run is None:
        raise GivenAway(claim.run_id)
    return run


def beat(session: Session, claim: Claim) -> RunControl:
    """Show life and learn whether the run was asked to stop; raises GivenAway."""
    row = session.execute(
        update(Run)
        .where(
            Run.id == claim.run_id,
            Run.owner == claim.owner,
            Run.attempt == claim.attempt,
            Run.state.in_(run_state.LIVE),
        )
        .values(beat=Run.beat + 1)
        .execution_options(synchronize_session=False)
        .returning(Run.state, Run.stop_reason)
    ).one_or_none()
    if row is None:
        raise GivenAway(claim.run_id)
    return _control(session, claim, row[0], row[1])


def look(session: Session, claim: Claim) -> RunControl:
    """The same without showing life, for looking more often than beating."""
    statement = select(Run.state, Run.stop_reason).where(
        Run.id == claim.run_id,
        Run.owner == claim.owner,
        Run.attempt == claim.attempt,
        Run.state.in_(run_state.LIVE),
    )
    row = session.execute(statement).one_or_none()
    if row is None:
        raise GivenAway(claim.run_id)
    return _control(session, claim, row[0], row[1])


def _control(session: Session, claim: Claim, state: str, reason: str | None) -> RunControl:
    is_stopping = state == RunState.STOPPING
    return RunControl(
        RunState(state),
        StopReason(reason) if reason and is_stopping else None,
        frozenset(needs.checkpoint_steps(session, claim.run_id)),
    )


def ask_to_stop(session: Session, claim: Claim, reason: StopReason, *, at: datetime) -> None:
    """Record why the supervisor itself stops a run; a person's earlier wish stands."""
    run = hold(session, claim)
    if run.state == RunState.RUNNING:
        runs.transition(session, run, RunState.STOPPING, at=at, reason=reason)


def live(session: Session) -> list[Live]:
    """Every run that some supervisor owns."""
    statement = select(Run.id, Run.owner, Run.attempt, Run.beat, Run.state)
    rows = session.execute(statement.where(Run.state.in_(run_state.LIVE)).order_by(Run.number))
    return [Live(*row) for row in rows]


def take_back(
    session: Session, seen: Live, error: dict[str, Any], *, at: datetime
) -> RunState | None:
    """End the claim of an owner that shows no life; the state that follows.

    Running becomes crashed; stopping becomes what was asked for. None if the run has moved or
    beaten since it was seen.
    """
    run = runs.locked(session, seen.run_id)
    if Live(run.id, run.owner, run.attempt, run.beat, run.state) != seen:
        return None
    if run.state == RunState.RUNNING:
        crash(session, run, error, at=at)
    else:
        reason = StopReason(run.stop_reason or StopReason.CANCEL)
        to = run_state.state_asked_for(reason)
        runs.transition(session, run, to, at=at, error=error if to == RunState.FAILED else None)
    return RunState(run.state)


def crash(
    session: Session,
    run: Run,
    error: dict[str, Any],
    *,
    at: datetime,
    exit_code: int | None = None,
    evidence: Evidence | None = None,
) -> None:
    """Move a run to crashed and count it; a checkpoint sets the count back."""
    run.crashes += 1
    follows = after_crash(run.crashes, run.checkpoint_step)
    error = error | {"advice": f"{error['advice']} {follows}"}
    runs.transition(
        session, run, RunState.CRASHED, at=at, error=error, exit_code=exit_code, evidence=evidence
    )


def crashed(session: Session) -> list[Crashed]:
    """Crashed runs that may be tried again, in order of creation; archived ones may not."""
    statement = (
        select(Run.id, Run.attempt, Run.crashes)
        .where(
            Run.state == RunState.CRASHED,
            Run.crashes < CRASH_LIMIT,
            Run.archived_at.is_(None),
        )
        .order_by(Run.number)
    )
    return [Crashed(*row) for row in session.execute(statement)]


def is_tried_again(run: Run) -> bool:
    """Whether this run, if it has crashed, goes back to the queue by itself."""
    return run.crashes < CRASH_LIMIT and run.archived_at is None


def queue_again(session: Session, seen: Crashed, *, at: datetime) -> bool:
    """Put a crashed run back into the queue; False if it has moved since it was seen, or left
    the lists.
    """
    run = runs.locked(session, seen.run_id)
    is_as_seen = run.state == RunState.CRASHED and run.attempt == seen.attempt
    if not is_as_seen or not is_tried_again(run):
        return False
    runs.transition(session, run, RunState.QUEUED, at=at)
    return True
