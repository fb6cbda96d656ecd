"""Which files nobody needs any more. Called by `podium prune`; it deletes nothing itself."""

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from backend.schemas.vocabulary import RunState
from backend.store.tables import Model, Run

_ENDED = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)
# A run copies its parent's checkpoint when it first starts.
_WAITING = (RunState.QUEUED, RunState.PAUSED)


def archived_run_ids(session: Session) -> list[str]:
    """Archived runs that have ended and whose checkpoints nobody waits for, oldest first."""
    child = aliased(Run)
    is_awaited = (
        select(child.id)
        .where(child.parent_id == Run.id, child.parent_step.is_not(None))
        .where(child.state.in_(_WAITING))
        .exists()
    )
    query = select(Run.id).where(Run.archived_at.is_not(None), Run.state.in_(_ENDED), ~is_awaited)
    return list(session.scalars(query.order_by(Run.number)))


def archived_artifact_keys(session: Session) -> list[str]:
    """Artifact keys of archived models that no model in use descends from, oldest first."""
    child = aliased(Model)
    has_child = (
        select(child.id).where(child.parent_id == Model.id, child.archived_at.is_(None)).exists()
    )
    query = select(Model.source).where(Model.archived_at.is_not(None), ~has_child)
    sources = session.scalars(query.order_by(Model.number))
    return [str(source["artifact"]) for source in sources if "artifact" in source]
