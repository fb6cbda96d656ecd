"""Experiments: questions, and the runs that answer them."""

from pydantic import JsonValue

from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep, visible_project
from backend.domain.access import Caller
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.paging import Id, Listing
from backend.schemas.projects.experiments import (
    ExperimentAnswer,
    ExperimentBody,
    ExperimentChange,
    ExperimentRunsBody,
    ExperimentSummary,
)
from backend.store.runs import experiments

router = api_router("experiments")


@router.post("/experiments", status_code=201, openapi_extra=IDEMPOTENT)
def create_experiment(
    body: ExperimentBody, session: SessionDep, caller: Caller, at: Now
) -> ExperimentAnswer:
    """Add an experiment to a project."""
    visible_project(session, caller, body.project_id)
    return experiments.create(session, body, at=at)


@router.get("/experiments")
def list_experiments(
    session: SessionDep,
    caller: Caller,
    page: PageDep,
    project_id: Id | None = None,
    archived: bool = False,
) -> Listing[ExperimentSummary]:
    """The experiments that the caller sees."""
    if project_id is not None:
        visible_project(session, caller, project_id)
    return experiments.listing(session, caller, page, project_id=project_id, archived=archived)


@router.get("/experiments/{experiment_id}")
def get_experiment(experiment_id: str, session: SessionDep) -> ExperimentAnswer:
    """One experiment with the ids of its runs."""
    return experiments.get(session, experiment_id)


@router.patch("/experiments/{experiment_id}")
def change_experiment(
    experiment_id: str, body: ExperimentChange, session: SessionDep, phases: Phases, at: Now
) -> ExperimentAnswer:
    """Change the name or texts of an experiment; a conflict if somebody was faster."""
    before = _audited(experiments.get(session, experiment_id))
    changed = experiments.change(session, experiment_id, body, at=at)
    phases.note_change(before=before, after=_audited(changed))
    return changed


@router.post("/experiments/{experiment_id}/archive")
def archive_experiment(experiment_id: str, session: SessionDep, at: Now) -> ExperimentAnswer:
    """Take an experiment out of the lists; nothing is deleted, and its runs stay in theirs."""
    return experiments.set_archived(session, experiment_id, at=at)


@router.post("/experiments/{experiment_id}/restore")
def restore_experiment(experiment_id: str, session: SessionDep) -> ExperimentAnswer:
    """Bring an archived experiment back."""
    return experiments.set_archived(session, experiment_id, at=None)


@router.post("/experiments/{experiment_id}/runs")
def add_experiment_runs(
    experiment_id: str, body: ExperimentRunsBody, session: SessionDep
) -> ExperimentAnswer:
    """Let runs belong to an experiment; each leaves the one that it belonged to."""
    return experiments.add_runs(session, experiment_id, body.run_ids)


@router.delete("/experiments/{experiment_id}/runs/{run_id}", status_code=204)
def remove_experiment_run(experiment_id: str, run_id: str, session: SessionDep) -> None:
    """Let a run belong to no experiment."""
    experiments.remove_run(session, experiment_id, run_id)


def _audited(experiment: ExperimentAnswer) -> dict[str, JsonValue]:
    """What the audit keeps: the question and what was concluded; the notes by their revision."""
    return experiment.model_dump(
        mode="json", include={"name", "question", "hypothesis", "conclusion", "revision"}
    )
