"""The model registry."""

from typing import Annotated

from fastapi import Depends, Response
from fastapi.concurrency import run_in_threadpool

from backend import model_files
from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, Asked, asked_by
from backend.deps import (
    IDEMPOTENT,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    Viewer,
    api_router,
)
from backend.jobs import inspect_model
from backend.jobs.work import JSON
from backend.schemas.models import ModelAnswer, ModelBody, ModelDetail, ModelFacts
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import ModelKind, Role
from backend.store.models import registry

router = api_router("models")


@router.post(
    "/models",
    status_code=201,
    dependencies=[IDEMPOTENT, RESPOND_ASYNC],
    response_model=ModelAnswer,
    responses=ACCEPTED,
)
async def register_model(
    body: ModelBody, asked: Annotated[Asked, Depends(asked_by(Role.RESEARCHER))], at: Now
) -> Response:
    """Register a folder under the model roots, a GGUF file there, or a hub id."""
    if body.project_id is not None:
        asked = await asked.about(body.project_id)
    roots = asked.settings.resolved_model_roots
    files = await run_in_threadpool(model_files.fingerprint, body.source, roots)

    def register(session: SessionDep, inspected: dict[str, JSON]) -> dict[str, JSON]:
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
        nothing = inspect_model.told(model_files.inspect(body.source, roots))
        return await asked.write(lambda session, _: register(session, nothing))
    arguments = {"source": body.source.model_dump(mode="json")}
    cache_key = f"{inspect_model.VERSION}:{files}"
    return await asked.job("inspect_model", arguments, cache_key=cache_key, finish=register)


@router.get("/models")
def list_models(
    session: SessionDep,
    caller: Viewer,
    page: PageDep,
    project_id: str | None = None,
    kind: ModelKind | None = None,
    run_id: str | None = None,
    archived: bool = False,
) -> Listing[ModelAnswer]:
    """Base models and the results of runs."""
    return registry.listing(
        session,
        caller,
        page,
        project_id=project_id,
        kind=kind,
        run_id=run_id,
        archived=archived,
    )


@router.get("/models/{model_id}")
def get_model(model_id: str, session: SessionDep, caller: Viewer) -> ModelDetail:
    """One model, what its files say, and where it comes from."""
    return registry.get(session, model_id, caller)


@router.post("/models/{model_id}/archive")
def archive_model(model_id: str, session: SessionDep, caller: Researcher, at: Now) -> ModelAnswer:
    """Take a model out of the lists; nothing is deleted."""
    return registry.set_archived(session, model_id, caller, at=at)


@router.post("/models/{model_id}/restore")
def restore_model(model_id: str, session: SessionDep, caller: Researcher) -> ModelAnswer:
    """Bring an archived model back."""
    return registry.set_archived(session, model_id, caller, at=None)
