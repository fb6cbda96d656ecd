"""The model registry."""

from backend import model_files
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
from backend.schemas.models import ModelAnswer, ModelBody, ModelDetail
from backend.schemas.paging import Id, Listing
from backend.schemas.vocabulary import ModelKind
from backend.store.models import registry

router = api_router("models")


@router.post("/models", status_code=201, dependencies=[IDEMPOTENT])
def register_model(
    body: ModelBody, session: SessionDep, settings: SettingsDep, caller: Researcher, at: Now
) -> ModelAnswer:
    """Register a folder under the model roots, a GGUF file there, or a hub id."""
    if body.project_id is not None:
        visible_project(session, caller, body.project_id)
    inspected = model_files.inspect(body.source, settings.resolved_model_roots)
    return registry.register(
        session,
        name=body.name,
        kind=body.kind,
        source=inspected.source,
        facts=inspected.facts,
        sha256=inspected.sha256,
        project_id=body.project_id,
        at=at,
    )


@router.get("/models")
def list_models(
    session: SessionDep,
    caller: Viewer,
    page: PageDep,
    project_id: Id | None = None,
    kind: ModelKind | None = None,
    run_id: Id | None = None,
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
