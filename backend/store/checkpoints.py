"""Checkpoints a run has written.

Called by the worker's relay inside its fenced transaction; `store.run_views` shows them.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.schemas.events import CheckpointLine
from backend.store import run_events
from backend.store.run_events import NewEvent
from backend.store.tables import Checkpoint, Run


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


def written_by(session: Session, run_id: str) -> dict[int, int]:
    """The attempts that wrote a run's checkpoints, by step."""
    statement = select(Checkpoint.step, Checkpoint.attempt).where(Checkpoint.run_id == run_id)
    return dict(session.execute(statement).all())


class Shared(NamedTuple):
    """A checkpoint in the artifact store."""

    step: int
    artifact: str


def share(session: Session, run: Run, step: int, artifact: str) -> list[str]:
    """Record that a checkpoint is in the artifact store; returns the keys nobody needs any more.

    Raises NotFound if the relay has not told of this checkpoint yet.
    """
    of_run = Checkpoint.run_id == run.id
    old = select(Checkpoint.artifact).where(of_run, Checkpoint.artifact.is_not(None))
    superseded = [key for key in session.scalars(old) if key is not None and key != artifact]
    session.execute(update(Checkpoint).where(of_run).values(artifact=None))
    known = session.get(Checkpoint, (run.id, step), populate_existing=True)
    if known is None:
        raise NotFound(f"run {run.id} has told of no checkpoint at step {step}")
    known.artifact = artifact
    return superseded


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


def keep_only(session: Session, run_id: str, steps: Collection[int]) -> None:
    """Forget checkpoints that the trainer has removed, except those in the artifact store."""
    session.execute(
        delete(Checkpoint).where(
            Checkpoint.run_id == run_id,
            Checkpoint.step.not_in(steps),
            Checkpoint.artifact.is_(None),
        )
    )


def rewind(session: Session, run: Run, after_step: int) -> None:
    """Forget what lies beyond a step."""
    session.execute(
        delete(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.step > after_step)
    )
    newest = select(func.max(Checkpoint.step)).where(Checkpoint.run_id == run.id)
    run.checkpoint_step = session.scalar(newest)
