"""The model registry."""

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from backend import model_files
from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, answer_at_once, answer_of_job
from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep, SettingsDep, visible_project
from backend.domain.access import Caller
from backend.jobs import inspect_model
from backend.jobs.work import JSON
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.models import ModelAnswer, ModelBody, ModelDetail, ModelFacts
from backend.schemas.paging import Id, Listing
from backend.schemas.vocabulary import ModelKind, Role
from backend.store.models import registry

router = api_router("models")


@router.post(
    "/models",
    status_code=201,
    dependencies=[RESPOND_ASYNC],
    openapi_extra=IDEMPOTENT,
    response_model=ModelAnswer,
    responses=ACCEPTED,
)
async def register_model(
    body: ModelBody, phases: Phases, settings: SettingsDep, at: Now
) -> Response:
    """Register a folder under the model roots, a GGUF file there, or a hub id."""
    await phases.read(lambda session: _must_be_theirs(session, phases.caller, body.project_id))
    roots, source = settings.resolved_model_roots, body.source.below(settings.data_dir)
    files = await run_in_threadpool(model_files.fingerprint, source, roots)
    await run_in_threadpool(model_files.require_reward_model, source, body.kind, roots)

    def _register(
        session: SessionDep, caller: Caller, inspected: dict[str, JSON]
    ) -> dict[str, JSON]:
        _must_be_theirs(session, caller, body.project_id)
        return registry.register(
            session,
            name=body.name,
            kind=body.kind,
            source=inspected["source"],
            facts=ModelFacts.model_validate(inspected["facts"]),
            sha256=inspected["sha256"],
            project_id=body.project_id,
            at=at,
        ).model_dump(mode="json")

    if files is None:
        nothing = inspect_model.told(model_files.inspect(source, roots))
        return await answer_at_once(
            phases, lambda session, caller, _: _register(session, caller, nothing)
        )
    return await answer_of_job(
        phases,
        "inspect_model",
        {"source": source.model_dump(mode="json")},
        project_id=body.project_id,
        cache_key=f"{inspect_model.VERSION}:{files}",
        conclude=_register,
    )


def _must_be_theirs(session: SessionDep, caller: Caller, project_id: str | None) -> None:
    """Raise NotFound or Forbidden unless the caller may register models there."""
    if project_id is None:
        caller.must_hold(Role.ADMIN)  # It would be in everybody's lists.
    else:
        visible_project(session, caller, project_id)


@router.get("/models")
def list_models(
    session: SessionDep,
    caller: Caller,
    page: PageDep,
    project_id: Id | None = None,
    kind: ModelKind | None = None,
    run_id: Id | None = None,
    is_base: bool | None = None,
    archived: bool = False,
) -> Listing[ModelAnswer]:
    """Base models and the results of runs; with `is_base` only the ones, or only the others."""
    return registry.listing(
        session,
        caller,
        page,
        project_id=project_id,
        kind=kind,
        run_id=run_id,
        is_base=is_base,
        archived=archived,
    )


@router.get("/models/{model_id}")
def get_model(model_id: str, session: SessionDep, caller: Caller) -> ModelDetail:
    """One model, what its files say, and where it comes from."""
    return registry.get(session, model_id, caller)


@router.post("/models/{model_id}/archive")
def archive_model(model_id: str, session: SessionDep, caller: Caller, at: Now) -> ModelAnswer:
    """Take a model out of the lists; nothing is deleted."""
    return registry.set_archived(session, model_id, caller, at=at)


@router.post("/models/{model_id}/restore")
def restore_model(model_id: str, session: SessionDep, caller: Caller) -> ModelAnswer:
    """Bring an archived model back."""
    return registry.set_archived(session, model_id, caller, at=None)
