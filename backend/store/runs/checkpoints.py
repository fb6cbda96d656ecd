"""Checkpoints a run has written.

The worker's relay adds and drops them inside its fenced transaction; checkpoint sharing notes which
are in the artifact store. `store.runs.shown` shows them, `store.runs.pins` keeps some of them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.schemas.run_directory.events import CheckpointLine
from backend.schemas.runs import CheckpointAnswer
from backend.store.runs import events as run_events
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import Checkpoint, Run


def append(session: Session, run: Run, lines: Sequence[CheckpointLine], *, at: datetime) -> None:
    """Record checkpoints, one `checkpoint` event each; crashes before them no longer count."""
    for line in lines:
        if line.best:
            session.execute(
                update(Checkpoint).where(Checkpoint.run_id == run.id).values(is_best=False)
            )
        session.merge(
            Checkpoint(
                run_id=run.id,
                step=line.step,
                attempt=run.attempt,
                path=line.path[:400],
                is_best=line.best,
                created_at=at,
            )
        )
        session.flush()
    run.checkpoint_step = max(line.step for line in lines)
    run.crashes = 0
    events = [NewEvent("checkpoint", {"step": line.step, "is_best": line.best}) for line in lines]
    run_events.append(session, run.id, events, at=at)


def steps(session: Session, run_id: str) -> list[int]:
    """The steps of the checkpoints that a run has, ascending."""
    statement = select(Checkpoint.step).where(Checkpoint.run_id == run_id)
    return list(session.scalars(statement.order_by(Checkpoint.step)))


def best_steps(session: Session, run_ids: Sequence[str]) -> dict[str, int]:
    """The step of the checkpoint with the best evaluation, of those runs that have one."""
    statement = select(Run.id, Checkpoint.step, Run.summary).join(
        Checkpoint, Checkpoint.run_id == Run.id
    )
    found = session.execute(statement.where(Run.id.in_(run_ids), Checkpoint.is_best))
    return {run_id: step for run_id, step, summary in found if _is_unbeaten(step, summary)}


def _is_unbeaten(step: int, summary: Mapping[str, float | None]) -> bool:
    """Whether no evaluation after a checkpoint that was the best when it was saved was better."""
    return summary.get("eval/best_step") in (None, step)


def answers(run: Run, rows: Iterable[Checkpoint]) -> list[CheckpointAnswer]:
    """Checkpoints of a run as answers, in the same order."""
    return [
        CheckpointAnswer(
            step=row.step,
            attempt=row.attempt,
            is_best=row.is_best and _is_unbeaten(row.step, run.summary),
            is_pinned=row.is_pinned,
            created_at=row.created_at,
        )
        for row in rows
    ]


def pinned_steps(session: Session, run_id: str) -> list[int]:
    """The steps of the checkpoints that somebody wants kept, ascending."""
    statement = select(Checkpoint.step).where(Checkpoint.run_id == run_id, Checkpoint.is_pinned)
    return list(session.scalars(statement.order_by(Checkpoint.step)))


def written_by(session: Session, run_id: str) -> dict[int, int]:
    """The attempts that wrote a run's checkpoints, by step."""
    statement = select(Checkpoint.step, Checkpoint.attempt).where(Checkpoint.run_id == run_id)
    return dict(session.execute(statement).all())


class Shared(NamedTuple):
    """A checkpoint in the artifact store."""

    step: int
    artifact: str


def share(
    session: Session, run: Run, step: int, artifact: str, *, needed: Collection[int]
) -> list[str]:
    """Record that a checkpoint is in the artifact store; returns the keys nobody needs any more.

    The newest one there is needed, and those of the steps in `needed`. Raises NotFound if the relay
    has not told of this checkpoint yet.
    """
    known = session.get(Checkpoint, (run.id, step), populate_existing=True)
    if known is None:
        raise NotFound(f"run {run.id} has reported no checkpoint of step {step} yet")
    superseded = [known.artifact]
    known.artifact = artifact
    session.flush()
    of_run = (Checkpoint.run_id == run.id, Checkpoint.artifact.is_not(None))
    shared = session.scalars(select(Checkpoint).where(*of_run).order_by(Checkpoint.step)).all()
    for old in shared[:-1]:
        if old.step not in needed:
            superseded.append(old.artifact)
            old.artifact = None
    session.flush()
    return [key for key in superseded if key not in (None, artifact)]


def shared_steps(session: Session, run_id: str) -> set[int]:
    """The steps of a run's checkpoints that are in the artifact store."""
    of_run = (Checkpoint.run_id == run_id, Checkpoint.artifact.is_not(None))
    return set(session.scalars(select(Checkpoint.step).where(*of_run)))


def newest_shared(session: Session, run_id: str, *, step: int | None = None) -> Shared | None:
    """The checkpoint that another machine can go on from; with `step`, only that one."""
    statement = (
        select(Checkpoint.step, Checkpoint.artifact)
        .where(Checkpoint.run_id == run_id, Checkpoint.artifact.is_not(None))
        .order_by(Checkpoint.step.desc())
        .limit(1)
    )
    if step is not None:
        statement = statement.where(Checkpoint.step == step)
    row = session.execute(statement).one_or_none()
    return None if row is None else Shared(row[0], str(row[1]))


def keep_only(
    session: Session,
    run_id: str,
    steps: Collection[int],
    *,
    attempts: Collection[int],
    needed: Collection[int],
    at: datetime,
) -> None:
    """Forget checkpoints that the trainer has removed, except those in the artifact store.

    `steps` are where the run is now, `attempts` ran there: what others wrote lies elsewhere, and
    the `needed` ones among it stay there.
    """
    is_gone = (Checkpoint.step.not_in(steps), Checkpoint.artifact.is_(None))
    is_dropped = or_(Checkpoint.step.not_in(needed), Checkpoint.attempt.in_(attempts))
    _forget(session, run_id, *is_gone, is_dropped, at=at)


def _forget(session: Session, run_id: str, *conditions: ColumnElement[bool], at: datetime) -> None:
    """Delete rows; a pinned one is not lost without a word."""
    forgotten = delete(Checkpoint).where(Checkpoint.run_id == run_id, *conditions)
    rows = session.execute(forgotten.returning(Checkpoint.step, Checkpoint.is_pinned)).all()
    lost = sorted(step for step, is_pinned in rows if is_pinned)
    alerts = [NewEvent("alert", _loss(step)) for step in lost]
    if alerts:
        run_events.append(session, run_id, alerts, at=at)


def _loss(step: int) -> dict[str, Any]:
    message = (
        f"The pinned checkpoint of step {step} no longer exists: the trainer replaced it before "
        "the pin reached it, or the run resumed from an earlier step."
    )
    return {"level": "warning", "rule": "pinned_checkpoint", "message": message, "step": step}


def rewind(session: Session, run: Run, after_step: int, *, at: datetime) -> None:
    """Forget what lies beyond a step."""
    _forget(session, run.id, Checkpoint.step > after_step, at=at)
    newest = select(func.max(Checkpoint.step)).where(Checkpoint.run_id == run.id)
    run.checkpoint_step = session.scalar(newest)
