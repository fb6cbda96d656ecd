"""The model registry: base models and the results of runs.

Called by the model routes and by `worker.run_directory`, whose export verifies models and whose
intake registers results. How models descend from one another is
`lineage` beside it; what lies in a model's folder is `backend.model_files`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import NotFound
from backend.schemas.models import ModelAnswer, ModelDetail, ModelFacts
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import ModelKind
from backend.store.ids import new_id
from backend.store.models import lineage
from backend.store.paging import Page, page_of
from backend.store.runs import outputs
from backend.store.tables.models import Model
from backend.store.tables.runs import Run


class RecordedModel(NamedTuple):
    """Where a model is, and its recorded hashes: of all content, and of each file by its path.

    `sha256` is None until a worker has read the model once; `files` is empty unless a run made it.
    """

    id: str
    source: Mapping[str, str]
    sha256: str | None
    files: Mapping[str, str]


def register(
    session: Session,
    *,
    name: str,
    kind: ModelKind,
    source: dict[str, str],
    facts: ModelFacts,
    sha256: str | None,
    project_id: str | None,
    at: datetime,
) -> ModelAnswer:
    """Add a base model."""
    model = Model(
        id=new_id("model"),
        name=name,
        kind=kind,
        source=source,
        facts=facts.model_dump(),
        sha256=sha256,
        project_id=project_id,
        created_at=at,
    )
    session.add(model)
    session.flush()
    return ModelAnswer.model_validate(model)


def register_output(
    session: Session,
    run: Run,
    *,
    name: str,
    kind: ModelKind,
    artifact: str,
    facts: ModelFacts,
    sha256: str,
    step: int | None,
    at: datetime,
) -> ModelAnswer:
    """Add what a run has trained: its parent is the model that the run began with."""
    model = Model(
        id=new_id("model"),
        project_id=run.project_id,
        name=name,
        kind=kind,
        source={"artifact": artifact},
        facts=facts.model_dump(),
        sha256=sha256,
        run_id=run.id,
        parent_id=lineage.id_of(run.config.get("model")),
        step=step,
        created_at=at,
    )
    session.add(model)
    session.flush()
    return ModelAnswer.model_validate(model)


def recorded(session: Session, model_id: str) -> RecordedModel | None:
    """What a worker verifies before a run loads the model; None if there is no such model."""
    model = _by_id(session, model_id)
    if model is None:
        return None
    key = model.source.get("artifact")
    files = outputs.hashes(session, key) if key else {}
    return RecordedModel(model.id, model.source, model.sha256, files)


def keep_hash(session: Session, model_id: str, sha256: str) -> str:
    """Record the hash of a model that has none; returns the one that stands from now on."""
    model = session.scalars(select(Model).where(Model.id == model_id).with_for_update()).one()
    if model.sha256 is None:
        model.sha256 = sha256
        session.flush()
    return model.sha256


def listing(
    session: Session,
    caller: Caller,
    page: Page,
    *,
    project_id: str | None = None,
    kind: ModelKind | None = None,
    run_id: str | None = None,
    is_base: bool | None = None,
    archived: bool = False,
) -> Listing[ModelAnswer]:
    """The models that the caller sees; with `project_id` that project's and the shared ones.

    `is_base`: only those that no run has made, or only those that runs have made.
    """
    statement = select(Model).where(Model.archived_at.is_not(None) == archived)
    statement = statement.where(*lineage.seen_by(caller))
    if project_id:
        statement = statement.where(or_(Model.project_id.is_(None), Model.project_id == project_id))
    if kind:
        statement = statement.where(Model.kind == kind)
    if run_id:
        statement = statement.where(Model.run_id == run_id)
    if is_base is not None:
        statement = statement.where(Model.run_id.is_(None) == is_base)
    rows, cursor = page_of(session, statement, Model.number, page)
    return Listing(items=[ModelAnswer.model_validate(row) for row in rows], next_cursor=cursor)


def get(session: Session, model_id: str, caller: Caller) -> ModelDetail:
    """One model with its lineage as far as the caller sees it. Raises NotFound."""
    model = _visible(session, model_id, caller)
    answer = ModelAnswer.model_validate(model)
    nodes, is_whole = lineage.of_model(session, model, caller)
    return ModelDetail(**answer.model_dump(), lineage=nodes, has_more_relatives=not is_whole)


def set_archived(
    session: Session, model_id: str, caller: Caller, *, at: datetime | None
) -> ModelAnswer:
    """Take a model out of the lists (`at` = when) or bring it back (None). Raises NotFound."""
    model = _visible(session, model_id, caller)
    model.archived_at = (model.archived_at or at) if at else None
    session.flush()
    return ModelAnswer.model_validate(model)


def _visible(session: Session, model_id: str, caller: Caller) -> Model:
    model = session.scalar(select(Model).where(Model.id == model_id))
    if model is None:
        raise NotFound(f"there is no model {model_id} that you can see")
    caller.must_see(model.project_id, f"model {model_id}")
    return model


def _by_id(session: Session, model_id: str | None) -> Model | None:
    return session.scalar(select(Model).where(Model.id == model_id)) if model_id else None
