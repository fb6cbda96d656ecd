"""Runs: validate, create, look, and the verbs that move them."""

from typing import Annotated

from fastapi import BackgroundTasks, Path, Query

from backend import broker
from backend.api.run_lists import (
    ColumnsQuery,
    FilterQuery,
    SortQuery,
    columns_of,
    order_of,
    restricted,
)
from backend.api.several_runs import must_see, seen_runs
from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep, SettingsDep, visible_project
from backend.domain.access import Caller
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.numbers import LARGEST
from backend.schemas.paging import Id, Label, Listing
from backend.schemas.run_table.changes import RunChange, RunsChange, RunsChangedAnswer
from backend.schemas.run_table.keys import RunKeysAnswer
from backend.schemas.runs import (
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
from backend.store.metrics import points
from backend.store.runs import changes, experiments, pins, runs, shown, validation
from backend.store.runs.runs import NewRun
from backend.store.runs.table import keys as run_keys
from backend.store.runs.table.pages import RunFilter

router = api_router("runs")

AfterQuery = Annotated[
    int, Query(ge=0, le=LARGEST, description="Return only items after this number.")
]
StepPath = Annotated[int, Path(ge=0, le=LARGEST)]
LimitQuery = Annotated[int, Query(ge=1, le=5000, description="Items at most.")]


@router.post("/runs", status_code=201, openapi_extra=IDEMPOTENT)
async def create_run(
    body: RunBody, phases: Phases, settings: SettingsDep, at: Now, after_commit: BackgroundTasks
) -> RunAnswer:
    """Check the config against schema and store, queue the run and notify the workers."""
    draft = await phases.parse(lambda: validation.draft(body.config))

    def _created(session: SessionDep, caller: Caller) -> RunAnswer:
        visible_project(session, caller, body.project_id)
        experiments.must_be_in(session, body.experiment_id, body.project_id)
        config = validation.require_valid(session, caller, draft)
        run = runs.create(session, NewRun.of(body, config, caller.id), at=at)
        return shown.one(session, run.id)

    created = await phases.write(_created)
    after_commit.add_task(broker.wake, settings, created.id)
    return created


@router.post("/runs/validate")
async def validate_run(body: RunBody, phases: Phases) -> ValidationAnswer:
    """Check a run without creating it, and list every problem of its config."""
    draft = await phases.parse(lambda: validation.draft(body.config))

    def _validated(session: SessionDep) -> ValidationAnswer:
        visible_project(session, phases.caller, body.project_id)
        return validation.validate(session, phases.caller, draft)

    return await phases.read(_validated)


@router.get("/runs")
def list_runs(
    session: SessionDep,
    caller: Caller,
    page: PageDep,
    project_id: Id | None = None,
    experiment_id: Id | None = None,
    state: Annotated[list[RunState] | None, Query(max_length=len(RunState))] = None,
    method: Annotated[list[Method] | None, Query(max_length=len(Method))] = None,
    filter: FilterQuery = "",
    sort: SortQuery = "",
    columns: ColumnsQuery = "",
    tag: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str | None, Query(max_length=200, description="Part of the name.")] = None,
    archived: bool = False,
    runs: Annotated[
        str | None,
        Query(max_length=5000, description="Ids joined by commas: only these, archived or not."),
    ] = None,
) -> Listing[RunAnswer]:
    """Runs that the caller sees; `state` and `method` may be given several times.

    They come newest first, or in the order of `sort`.
    """
    if project_id is not None:
        visible_project(session, caller, project_id)
    visible = None if caller.project_ids is None else sorted(caller.project_ids)
    wanted = RunFilter(
        run_ids=() if runs is None else seen_runs(session, caller, runs),
        project_ids=visible if project_id is None else [project_id],
        experiment_id=experiment_id,
        states=state or (),
        methods=method or (),
        tree=restricted(filter, tag=tag, name=q),
        archived=archived,
    )
    order = order_of(sort, oldest_first=page.oldest_first)
    return shown.listing(session, wanted, page, order, columns_of(columns))


@router.get("/projects/{project_id}/run-keys")
def list_run_keys(project_id: str, session: SessionDep) -> RunKeysAnswer:
    """What the runs of a project can be filtered, sorted and shown by."""
    return run_keys.of_project(session, project_id)


@router.patch("/runs")
async def change_runs(body: RunsChange, phases: Phases, at: Now) -> RunsChangedAnswer:
    """Tag, file, archive or restore up to 500 runs: all of them, or none if one is refused."""
    # Whoever does not see them all locks none of them.
    await phases.read(lambda session: must_see(session, phases.caller, body.run_ids))

    def _changed(session: SessionDep, caller: Caller) -> RunsChangedAnswer:
        changed = changes.change_all(session, body, caller, at=at)
        for one in changed:
            phases.note_change(before=one.before, after=one.after, object_id=one.run_id)
        return RunsChangedAnswer(changed=[one.run_id for one in changed])

    return await phases.write(_changed)


@router.patch("/runs/{run_id}")
def change_run(run_id: str, body: RunChange, session: SessionDep, phases: Phases) -> RunAnswer:
    """Change a run's name, notes, tags or experiment; what is left out stays as it is."""
    changed = changes.change(session, run_id, body)
    phases.note_change(before=changed.before, after=changed.after)
    return shown.one(session, run_id)


@router.get("/runs/{run_id}")
def get_run(run_id: str, session: SessionDep) -> RunAnswer:
    """One run with its config, progress, last metrics and error."""
    return shown.one(session, run_id)


@router.post("/runs/{run_id}/cancel")
def cancel_run(run_id: str, session: SessionDep, at: Now) -> RunAnswer:
    """Cancel a run; a running one stops at its next safe point. `retry` queues it again."""
    runs.cancel(session, run_id, at=at)
    return shown.one(session, run_id)


@router.post("/runs/{run_id}/pause")
def pause_run(run_id: str, session: SessionDep, at: Now) -> RunAnswer:
    """Pause a run: a queued one at once, a running one at its next safe point.

    Methods that train write a checkpoint first.
    """
    runs.pause(session, run_id, at=at)
    return shown.one(session, run_id)


@router.post("/runs/{run_id}/resume")
def resume_run(
    run_id: str,
    session: SessionDep,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
) -> RunAnswer:
    """Queue a paused run again; it resumes from its last checkpoint."""
    runs.resume(session, run_id, at=at)
    after_commit.add_task(broker.wake, settings, run_id)
    return shown.one(session, run_id)


@router.post("/runs/{run_id}/retry")
def retry_run(
    run_id: str,
    session: SessionDep,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
    body: RetryBody | None = None,
) -> RunAnswer:
    """Retry a failed, crashed or cancelled run, from its last checkpoint or from the beginning."""
    runs.retry(session, run_id, at=at, from_start=body is not None and body.from_ == "start")
    after_commit.add_task(broker.wake, settings, run_id)
    return shown.one(session, run_id)


@router.post("/runs/{run_id}/clone", status_code=201, openapi_extra=IDEMPOTENT)
async def clone_run(
    run_id: str,
    body: CloneBody,
    phases: Phases,
    settings: SettingsDep,
    at: Now,
    after_commit: BackgroundTasks,
) -> RunAnswer:
    """Create a run with this run's config and the given changes.

    It starts from the beginning or from a checkpoint of this run.
    """
    # The config of a run never changes: it is the same within the write turn.
    asked = await phases.read(lambda session: runs.copied(session, run_id, body))
    draft = await phases.parse(lambda: validation.draft(asked.config))

    def _cloned(session: SessionDep, caller: Caller) -> RunAnswer:
        wanted, step = runs.copied(session, run_id, body), body.from_checkpoint
        experiments.must_be_in(session, wanted.experiment_id, wanted.project_id)
        config = validation.require_valid(session, caller, draft)
        if step is not None:
            validation.require_continuable(session, run_id, config, step)
        new = NewRun.of(wanted, config, caller.id, parent_id=run_id, parent_step=step)
        return shown.one(session, runs.create(session, new, at=at).id)

    cloned = await phases.write(_cloned)
    after_commit.add_task(broker.wake, settings, cloned.id)
    return cloned


@router.post("/runs/{run_id}/archive")
def archive_run(run_id: str, session: SessionDep, at: Now) -> RunAnswer:
    """Take a run out of the lists; nothing is deleted.

    A run that is queued, running or stopping cannot be archived.

    A crashed one is not tried again while it is archived; `retry` and `resume` list it again.
    """
    runs.archive(session, run_id, at=at)
    return shown.one(session, run_id)


@router.post("/runs/{run_id}/restore")
def restore_run(run_id: str, session: SessionDep) -> RunAnswer:
    """Bring an archived run back."""
    runs.restore(session, run_id)
    return shown.one(session, run_id)


@router.get("/runs/{run_id}/events")
def list_events(
    run_id: str,
    session: SessionDep,
    after: AfterQuery = 0,
    limit: LimitQuery = 500,
    type: Annotated[
        list[Label] | None, Query(max_length=20, description="Types to send; default all.")
    ] = None,
) -> Listing[EventAnswer]:
    """The run's events in order, as the stream sends them; pass next_cursor as `after`."""
    return points.history(session, run_id, after=after, limit=limit, types=type or ())


@router.get("/runs/{run_id}/logs")
def list_log_lines(
    run_id: str, session: SessionDep, after: AfterQuery = 0, limit: LimitQuery = 1000
) -> Listing[LogLineAnswer]:
    """What the trainer printed, in order; pass next_cursor as `after`."""
    found = shown.log_lines(session, run_id, after=after, limit=limit)
    return Listing(items=found, next_cursor=str(found[-1].number) if len(found) == limit else None)


@router.get("/runs/{run_id}/failures")
def list_failures(run_id: str, session: SessionDep) -> Listing[FailureAnswer]:
    """Failed and crashed attempts, newest first: cause, advice, last lines, resources."""
    return Listing(items=shown.bad_ends(session, run_id))


@router.get("/runs/{run_id}/checkpoints")
def list_checkpoints(run_id: str, session: SessionDep) -> Listing[CheckpointAnswer]:
    """The run's checkpoints, oldest step first."""
    return Listing(items=shown.checkpoints(session, run_id))


@router.post("/runs/{run_id}/checkpoints/{step}/pin")
def pin_checkpoint(run_id: str, step: StepPath, session: SessionDep, at: Now) -> CheckpointAnswer:
    """Keep a checkpoint whatever max_checkpoints says, and when the run is pruned."""
    return pins.pin(session, run_id, step, at=at)


@router.post("/runs/{run_id}/checkpoints/{step}/unpin")
def unpin_checkpoint(run_id: str, step: StepPath, session: SessionDep, at: Now) -> CheckpointAnswer:
    """Unpin a checkpoint.

    It is deleted when the run writes its next checkpoint, unless max_checkpoints keeps it.
    """
    return pins.unpin(session, run_id, step, at=at)


@router.get("/runs/{run_id}/artifacts")
def list_artifacts(run_id: str, session: SessionDep) -> Listing[ArtifactAnswer]:
    """The files the run has left in the artifact store."""
    return Listing(items=shown.artifacts(session, run_id))
