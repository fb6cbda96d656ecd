"""Experiments: named groups of runs inside a project.

Called by routes; returns answers.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import InvalidInput, NotFound
from backend.schemas.paging import Listing
from backend.schemas.runs import ExperimentAnswer, ExperimentBody
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.runs import Experiment, Run


def create(session: Session, body: ExperimentBody, *, at: datetime) -> ExperimentAnswer:
    """Add an experiment to a project that exists."""
    experiment = Experiment(id=new_id("exp"), created_at=at, **body.model_dump())
    session.add(experiment)
    session.flush()
    return _answers(session, [experiment])[0]


def get(session: Session, experiment_id: str) -> ExperimentAnswer:
    """The experiment with the ids of its runs, or NotFound."""
    return _answers(session, [_row(session, experiment_id)])[0]


def listing(
    session: Session, caller: Caller, page: Page, *, project_id: str | None
) -> Listing[ExperimentAnswer]:
    """One page of the experiments that the caller sees."""
    statement = select(Experiment)
    if project_id is not None:
        statement = statement.where(Experiment.project_id == project_id)
    if caller.project_ids is not None:
        statement = statement.where(Experiment.project_id.in_(caller.project_ids))
    rows, next_cursor = page_of(session, statement, Experiment.number, page)
    return Listing(items=_answers(session, rows), next_cursor=next_cursor)


def must_be_in(session: Session, experiment_id: str | None, project_id: str) -> None:
    """Raise InvalidInput unless the experiment, if there is one, belongs to the project."""
    if experiment_id is None:
        return
    row = session.scalars(select(Experiment).where(Experiment.id == experiment_id)).one_or_none()
    if row is None or row.project_id != project_id:
        raise InvalidInput(
            f"there is no experiment {experiment_id} in project {project_id}",
            advice="Create it with POST /experiments, or leave experiment_id out.",
        )


def _row(session: Session, experiment_id: str) -> Experiment:
    row = session.scalars(select(Experiment).where(Experiment.id == experiment_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no experiment {experiment_id}")
    return row


def _answers(session: Session, rows: Sequence[Experiment]) -> list[ExperimentAnswer]:
    ids = [row.id for row in rows]
    found = session.execute(
        select(Run.experiment_id, Run.id).where(Run.experiment_id.in_(ids)).order_by(Run.number)
    )
    run_ids: dict[str | None, list[str]] = defaultdict(list)
    for experiment_id, run_id in found:
        run_ids[experiment_id].append(run_id)
    return [
        ExperimentAnswer(
            id=row.id,
            project_id=row.project_id,
            name=row.name,
            description=row.description,
            run_ids=run_ids[row.id],
            created_at=row.created_at,
        )
        for row in rows
    ]
