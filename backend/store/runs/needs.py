"""What may not be deleted: models that a run may still read, and checkpoints that somebody needs.

`store.models.pruning` asks before it deletes, `store.runs.runs` before a run returns to the queue,
and the worker when it tells a trainer and the artifact store which checkpoints to keep. A run may
still train while it has not ended for good, and as long as it is listed if a retry may bring it
back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session, aliased

from backend.domain import run_config
from backend.errors import Conflict
from backend.schemas.vocabulary import RunState
from backend.store.runs import checkpoints
from backend.store.tables.models import Model
from backend.store.tables.runs import Run

# A crashed run is tried again by itself, so it is not over.
OVER = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)
_RETRIED = (RunState.FAILED, RunState.CANCELLED)


def model_ids(session: Session) -> set[str]:
    """The models in use: listed ones, those that a run may read, and all that these descend from.

    What a run makes while this is read is either still needed by the run or a listed model already:
    runs are read first.
    """
    configs = session.scalars(select(Run.config).where(_may_train(Run)))
    found = {one for config in configs for one in run_config.ids_in(config)}
    rows = session.execute(select(Model.id, Model.parent_id, Model.archived_at)).all()
    parents = {model_id: parent_id for model_id, parent_id, _ in rows}
    waiting = [one for one, _, archived_at in rows if archived_at is None or one in found]
    needed: set[str] = set()
    while waiting:
        one = waiting.pop()
        parent = parents[one]
        needed.add(one)
        if parent is not None and parent not in needed:
            waiting.append(parent)
    return needed


def checkpoint_steps(session: Session, run_id: str) -> set[int]:
    """The steps of a run's checkpoints that are pinned, or that another run begins with."""
    child = aliased(Run)
    begun_with = select(child.parent_step).where(
        child.parent_id == run_id, child.parent_step.is_not(None), _may_train(child)
    )
    waited_for = {step for step in session.scalars(begun_with) if step is not None}
    return waited_for | set(checkpoints.pinned_steps(session, run_id))


def require_models(session: Session, config: Mapping[str, Any]) -> None:
    """Raise Conflict if files of a model that this config names were deleted.

    None of them is deleted before the transaction ends.
    """
    gone = [model for model in hold_models(session, config) if model.pruned_at is not None]
    if gone:
        raise Conflict(
            f"the files of model {gone[0].name!r} ({gone[0].id}) were deleted by podium prune",
            advice="Clone the run with another model.",
        )


def hold_models(session: Session, config: Mapping[str, Any]) -> Sequence[Model]:
    """The models that this config names; none of them is deleted before the transaction ends.

    Called before a run is locked: `store.models.pruning` holds both in this order.
    """
    named = select(Model).where(Model.id.in_(run_config.ids_in(config))).order_by(Model.number)
    held = named.with_for_update(read=True)
    return session.scalars(held, execution_options={"populate_existing": True}).all()


def _may_train(run: type[Run]) -> ColumnElement[bool]:
    may_be_retried = and_(run.state.in_(_RETRIED), run.archived_at.is_(None))
    return or_(run.state.not_in(OVER), may_be_retried)
