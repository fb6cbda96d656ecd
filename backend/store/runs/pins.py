"""Pinned checkpoints: kept until somebody lets them go, whatever else is dropped or pruned.

Called by the routes of runs. The trainer learns of pins by its supervisor, see `worker.heartbeat`.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.schemas.runs import CheckpointAnswer
from backend.store.runs import checkpoints, events, runs
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import Checkpoint


def pin(session: Session, run_id: str, step: int, *, at: datetime) -> CheckpointAnswer:
    """Have a checkpoint kept until `unpin`; raises NotFound if it is not there (any more)."""
    return _set_pinned(session, run_id, step, is_pinned=True, at=at)


def unpin(session: Session, run_id: str, step: int, *, at: datetime) -> CheckpointAnswer:
    """Let a checkpoint go again; raises NotFound if it is not there."""
    return _set_pinned(session, run_id, step, is_pinned=False, at=at)


def _set_pinned(
    session: Session, run_id: str, step: int, *, is_pinned: bool, at: datetime
) -> CheckpointAnswer:
    # Locked against the worker and `podium prune`, which forget checkpoints.
    run = runs.locked(session, run_id)
    found = session.get(Checkpoint, (run.id, step), populate_existing=True)
    if found is None:
        there = ", ".join(map(str, checkpoints.steps(session, run.id))) or "none"
        raise NotFound(
            f"run {run.id} has no checkpoint of step {step}",
            advice=f"It has checkpoints at these steps: {there}.",
        )
    is_changed = found.is_pinned != is_pinned
    found.is_pinned = is_pinned
    session.flush()
    (answer,) = checkpoints.answers(run, [found])
    if is_changed:
        data = {"step": step, "is_best": answer.is_best, "is_pinned": is_pinned}
        events.append(session, run.id, [NewEvent("checkpoint", data)], at=at)
    return answer
