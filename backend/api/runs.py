"""Runs: validate, create, look, and the verbs that move them."""

from typing import Annotated

from fastapi import BackgroundTasks, Path, Query

from backend import queue
from backend.api.run_access import SeenRun, SteeredRun
from backend.deps import (
    IDEMPOTENT,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    SettingsDep,
    Viewer,
    api_router,
    visible_project,
)
from backend.schemas.paging import Id, Label, Listing
from backend.schemas.runs import (
    LARGEST,
    ArtifactAnswer,
    CheckpointAnswer,
    CloneBody,
    EventAnswer,
    FailureAnswer,
    LogLineAnswer,
    RetryBody,
    RunAnswer,
    RunBody,
    ValidationAnswer,
)
from backend.schemas.vocabulary import Method, RunState
from backend.store.runs import experiments, pins, runs, validation, views
from backend.store.runs.runs import NewRun, RunFilter

router = api_router("runs")

AfterQuery = Annotated[
    int, Query(ge=0, le=LARGEST, description="Return only items after this number.")
]
StepPath = Annotated[int, Path(ge=0, le=LARGEST)]
LimitQuery = Annotated[int, Query(ge=1, le=5000, description="Items at most.")]


@router.post("/runs", status_code=201, dependencies=[IDEMPOTENT])
def create_run(
    body: RunBody,
    session: SessionDep,
    caller: Researcher,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
) -> RunAnswer:
    """Check the config against schema and store, queue the run and notify the workers."""
    visible_project(session, caller, body.project_id)
    experiments.must_be_in(session, body.experiment_id, body.project_id)
    config = validation.require_valid(session, caller, body.config)
    run = runs.create(session, NewRun.of(body, config, caller.id), at=at)
    after_commit.add_task(queue.ring, settings, run.id)
    return views.one(session, run.id)


@router.post("/runs/validate")
def validate_run(body: RunBody, session: SessionDep, caller: Researcher) -> ValidationAnswer:
    """Check a run without creating it: every problem of its config."""
    visible_project(session, caller, body.project_id)
    return validation.validate(session, caller, body.config)


@router.get("/runs")
def list_runs(
    session: SessionDep,
    caller: Viewer,
    page: PageDep,
    project_id: Id | None = None,
    experiment_id: Id | None = None,
    state: Annotated[list[RunState] | None, Query(max_length=len(RunState))] = None,
    method: Annotated[list[Method] | None, Query(max_length=len(Method))] = None,
    tag: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str | None, Query(max_length=200, description="Part of the name.")] = None,
    archived: bool = False,
) -> Listing[RunAnswer]:
    """Runs that the caller sees, newest first; `state` and `method` may be said several times."""
    if project_id is not None:
        visible_project(session, caller, project_id)
    visible = None if caller.project_ids is None else sorted(caller.project_ids)
    wanted = RunFilter(
        project_ids=visible if project_id is None else [project_id],
        experiment_id=experiment_id,
        states=state or (),
        methods=method or (),
        tag=tag,
        text=q,
        archived=archived,
    )
    return views.listing(session, wanted, page)


@router.get("/runs/{run_id}")
def get_run(run_id: SeenRun, session: SessionDep) -> RunAnswer:
    """One run with its config, progress, last metrics and error."""
    return views.one(session, run_id)


@router.post("/runs/{run_id}/cancel")
def cancel_run(run_id: SteeredRun, session: SessionDep, at: Now) -> RunAnswer:
    """Stop a run for good; one that runs stops at its next safe point."""
    runs.cancel(session, run_id, at=at)
    return views.one(session, run_id)


@router.post("/runs/{run_id}/pause")
def pause_run(run_id: SteeredRun, session: SessionDep, at: Now) -> RunAnswer:
    """Pause a run: a queued one at once, a running one after it has written a checkpoint."""
    runs.pause(session, run_id, at=at)
    return views.one(session, run_id)


@router.post("/runs/{run_id}/resume")
def resume_run(
    run_id: SteeredRun,
    session: SessionDep,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
) -> RunAnswer:
    """Queue a paused run again; it resumes from its last checkpoint."""
    runs.resume(session, run_id, at=at)
    after_commit.add_task(queue.ring, settings, run_id)
    return views.one(session, run_id)


@router.post("/runs/{run_id}/retry")
def retry_run(
    run_id: SteeredRun,
    session: SessionDep,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
    body: RetryBody | None = None,
) -> RunAnswer:
    """Retry a failed, crashed or cancelled run, from its last checkpoint or from the beginning."""
    runs.retry(session, run_id, at=at, from_start=body is not None and body.from_ == "start")
    after_commit.add_task(queue.ring, settings, run_id)
    return views.one(session, run_id)


@router.post("/runs/{run_id}/clone", status_code=201, dependencies=[IDEMPOTENT])
def clone_run(
    run_id: SteeredRun,
    body: CloneBody,
    session: SessionDep,
    caller: Researcher,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
) -> RunAnswer:
    """Create a run with this run's config and the given changes.

    It starts from the beginning or from a checkpoint of this run.
    """
    wanted, step = runs.copied(session, run_id, body), body.from_checkpoint
    experiments.must_be_in(session, wanted.experiment_id, wanted.project_id)
    config = validation.require_valid(session, caller, wanted.config)
    if step is not None:
        validation.require_continuable(session, run_id, config, step)
    new = NewRun.of(wanted, config, caller.id, parent_id=run_id, parent_step=step)
    run = runs.create(session, new, at=at)
    after_commit.add_task(queue.ring, settings, run.id)
    return views.one(session, run.id)


@router.post("/runs/{run_id}/archive")
def archive_run(run_id: SteeredRun, session: SessionDep, at: Now) -> RunAnswer:
    """Take a run out of the lists; nothing is deleted.

    A run that is queued, running or stopping cannot be archived.

    A crashed one is not tried again while it is archived; `retry` and `resume` list it again.
    """
    runs.archive(session, run_id, at=at)
    return views.one(session, run_id)


@router.post("/runs/{run_id}/restore")
def restore_run(run_id: SteeredRun, session: SessionDep) -> RunAnswer:
    """Bring an archived run back."""
    runs.restore(session, run_id)
    return views.one(session, run_id)


@router.get("/runs/{run_id}/events")
def list_events(
    run_id: SeenRun,
    session: SessionDep,
    after: AfterQuery = 0,
    limit: LimitQuery = 500,
    type: Annotated[
        list[Label] | None, Query(max_length=20, description="Types to send; default all.")
    ] = None,
) -> Listing[EventAnswer]:
    """The run's events in order, as the stream sends them; pass next_cursor as `after`."""
    found = views.events(session, run_id, after=after, limit=limit, types=type or ())
    return Listing(items=found, next_cursor=str(found[-1].seq) if len(found) == limit else None)


@router.get("/runs/{run_id}/logs")
def list_log_lines(
    run_id: SeenRun, session: SessionDep, after: AfterQuery = 0, limit: LimitQuery = 1000
) -> Listing[LogLineAnswer]:
    """What the trainer printed, in order; pass next_cursor as `after`."""
    found = views.log_lines(session, run_id, after=after, limit=limit)
    return Listing(items=found, next_cursor=str(found[-1].number) if len(found) == limit else None)


@router.get("/runs/{run_id}/failures")
def list_failures(run_id: SeenRun, session: SessionDep) -> Listing[FailureAnswer]:
    """How the run ended badly, newest first: cause, advice, last lines, resources."""
    return Listing(items=views.bad_ends(session, run_id))


@router.get("/runs/{run_id}/checkpoints")
def list_checkpoints(run_id: SeenRun, session: SessionDep) -> Listing[CheckpointAnswer]:
    """The run's checkpoints, oldest step first."""
    return Listing(items=views.checkpoints(session, run_id))


@router.post("/runs/{run_id}/checkpoints/{step}/pin")
def pin_checkpoint(
    run_id: SteeredRun, step: StepPath, session: SessionDep, at: Now
) -> CheckpointAnswer:
    """Keep a checkpoint whatever max_checkpoints says, and when the run is pruned."""
    return pins.pin(session, run_id, step, at=at)


@router.post("/runs/{run_id}/checkpoints/{step}/unpin")
def unpin_checkpoint(
    run_id: SteeredRun, step: StepPath, session: SessionDep, at: Now
) -> CheckpointAnswer:
    """Unpin a checkpoint.

    It is deleted when the run writes its next checkpoint, unless max_checkpoints keeps it.
    """
    return pins.unpin(session, run_id, step, at=at)


@router.get("/runs/{run_id}/artifacts")
def list_artifacts(run_id: SeenRun, session: SessionDep) -> Listing[ArtifactAnswer]:
    """The files the run has left in the artifact store."""
    return Listing(items=views.artifacts(session, run_id))
