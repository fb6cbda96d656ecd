"""Experiments: questions inside a project, with the runs that answer them.

Called by routes; returns answers.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import InvalidInput, NotFound, changed_meanwhile
from backend.schemas.paging import Listing
from backend.schemas.projects.experiments import (
    MOST_RUNS,
    ExperimentAnswer,
    ExperimentBody,
    ExperimentChange,
    ExperimentSummary,
)
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.runs import Experiment, Run


def create(session: Session, body: ExperimentBody, *, at: datetime) -> ExperimentAnswer:
    """Add an experiment to a project that exists."""
    experiment = Experiment(id=new_id("exp"), created_at=at, revision=1, **body.model_dump())
    session.add(experiment)
    session.flush()
    return _answer(session, experiment)


def get(session: Session, experiment_id: str) -> ExperimentAnswer:
    """The experiment with the ids of its runs, or NotFound."""
    return _answer(session, _row(session, experiment_id))


def listing(
    session: Session,
    caller: Caller,
    page: Page,
    *,
    project_id: str | None,
    archived: bool = False,
) -> Listing[ExperimentSummary]:
    """One page of the experiments that the caller sees, those in use or those archived."""
    statement = select(Experiment).where(Experiment.archived_at.is_not(None) == archived)
    if project_id is not None:
        statement = statement.where(Experiment.project_id == project_id)
    if caller.project_ids is not None:
        statement = statement.where(Experiment.project_id.in_(caller.project_ids))
    rows, next_cursor = page_of(session, statement, Experiment.number, page)
    counts = _counts(session, [row.id for row in rows])
    items = [
        ExperimentSummary.model_validate(_columns(row) | {"run_count": counts.get(row.id, 0)})
        for row in rows
    ]
    return Listing(items=items, next_cursor=next_cursor)


def change(
    session: Session, experiment_id: str, body: ExperimentChange, *, at: datetime
) -> ExperimentAnswer:
    """Change what is given. Raises NotFound, and Conflict for another revision."""
    experiment = _row(session, experiment_id, is_locked=True)
    if experiment.revision != body.revision:
        raise changed_meanwhile("the experiment", body.revision, experiment.revision)
    for name, value in body.model_dump(exclude={"revision"}, exclude_none=True).items():
        setattr(experiment, name, value)
    experiment.revision, experiment.changed_at = experiment.revision + 1, at
    session.flush()
    return _answer(session, experiment)


def set_archived(session: Session, experiment_id: str, *, at: datetime | None) -> ExperimentAnswer:
    """Take an experiment out of the lists (`at` = when) or bring it back; its runs stay."""
    experiment = _row(session, experiment_id)
    experiment.archived_at = (experiment.archived_at or at) if at else None
    session.flush()
    return _answer(session, experiment)


def add_runs(session: Session, experiment_id: str, run_ids: Sequence[str]) -> ExperimentAnswer:
    """Let runs belong to this experiment. Raises InvalidInput for one of another project."""
    experiment = _row(session, experiment_id)
    wanted = list(dict.fromkeys(run_ids))
    here = (Run.id.in_(wanted), Run.project_id == experiment.project_id)
    # In the order in which `changes` locks them, so that two requests never wait for each other.
    held = select(Run.id).where(*here).order_by(Run.number).with_for_update(key_share=True)
    known = set(session.scalars(held))
    foreign = [one for one in wanted if one not in known]
    if foreign:
        raise InvalidInput(
            f"there is no run {foreign[0]} in project {experiment.project_id}",
            advice="Name runs of the project that the experiment belongs to.",
        )
    session.execute(
        update(Run)
        .where(*here)
        .values(experiment_id=experiment.id)
        .execution_options(synchronize_session=False)
    )
    return _answer(session, experiment)


def remove_run(session: Session, experiment_id: str, run_id: str) -> None:
    """Let a run belong to no experiment. Raises NotFound if it does not belong to this one."""
    removed = session.execute(
        update(Run)
        .where(Run.id == run_id, Run.experiment_id == experiment_id)
        .values(experiment_id=None)
        .execution_options(synchronize_session=False)
        .returning(Run.id)
    ).scalar_one_or_none()
    if removed is None:
        raise NotFound(f"there is no run {run_id} in experiment {experiment_id}")


def must_be_in(session: Session, experiment_id: str | None, project_id: str) -> None:
    """Raise InvalidInput unless the experiment, if there is one, belongs to the project."""
    if experiment_id is None:
        return
    row = session.scalars(select(Experiment).where(Experiment.id == experiment_id)).one_or_none()
    if row is None or row.project_id != project_id:
        raise InvalidInput(
            f"there is no experiment {experiment_id} in project {project_id}",
            advice="Name an experiment of this project (GET /experiments lists them), or leave "
            "experiment_id out.",
        )


def _row(session: Session, experiment_id: str, *, is_locked: bool = False) -> Experiment:
    statement = select(Experiment).where(Experiment.id == experiment_id)
    if is_locked:
        statement = statement.with_for_update()
    row = session.scalars(statement).one_or_none()
    if row is None:
        raise NotFound(f"there is no experiment {experiment_id}")
    return row


def _counts(session: Session, experiment_ids: Sequence[str]) -> dict[str | None, int]:
    """How many runs that are not archived belong to each."""
    listed = (Run.experiment_id.in_(experiment_ids), Run.archived_at.is_(None))
    counted = select(Run.experiment_id, func.count()).where(*listed).group_by(Run.experiment_id)
    return dict(session.execute(counted).all())


def _answer(session: Session, row: Experiment) -> ExperimentAnswer:
    own = Run.experiment_id == row.id
    archived = select(func.count()).select_from(Run).where(own, Run.archived_at.is_not(None))
    newest = (
        select(Run.id)
        .where(own, Run.archived_at.is_(None))
        .order_by(Run.number.desc())
        .limit(MOST_RUNS)
    )
    return ExperimentAnswer.model_validate(
        _columns(row)
        | {
            "run_count": _counts(session, [row.id]).get(row.id, 0),
            "archived_run_count": session.scalar(archived) or 0,
            "run_ids": list(reversed(session.scalars(newest).all())),
        }
    )


def _columns(row: Experiment) -> dict[str, Any]:
    names = ExperimentAnswer.model_fields
    return {name: getattr(row, name) for name in names if hasattr(row, name)}
