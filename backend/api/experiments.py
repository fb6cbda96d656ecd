"""Experiments: named groups of runs."""

from backend.deps import (
    IDEMPOTENT,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    Viewer,
    api_router,
    visible_project,
)
from backend.schemas.paging import Id, Listing
from backend.schemas.runs import ExperimentAnswer, ExperimentBody
from backend.store.runs import experiments

router = api_router("experiments")


@router.post("/experiments", status_code=201, dependencies=[IDEMPOTENT])
def create_experiment(
    body: ExperimentBody, session: SessionDep, caller: Researcher, at: Now
) -> ExperimentAnswer:
    """Add an experiment to a project."""
    visible_project(session, caller, body.project_id)
    return experiments.create(session, body, at=at)


@router.get("/experiments")
def list_experiments(
    session: SessionDep, caller: Viewer, page: PageDep, project_id: Id | None = None
) -> Listing[ExperimentAnswer]:
    """The experiments that the caller sees."""
    if project_id is not None:
        visible_project(session, caller, project_id)
    return experiments.listing(session, caller, page, project_id=project_id)


@router.get("/experiments/{experiment_id}")
def get_experiment(experiment_id: str, session: SessionDep, caller: Viewer) -> ExperimentAnswer:
    """One experiment with the ids of its runs."""
    experiment = experiments.get(session, experiment_id)
    caller.must_see(experiment.project_id, f"experiment {experiment_id}")
    return experiment
