"""Models and their lineage as the API speaks of them."""

from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from backend.schemas.paging import ApiAnswer, Body, BodyPart, Id, Name
from backend.schemas.vocabulary import Method, ModelKind

# Of an architecture or a precision, as characters.
LONGEST_NAME = 100


class ModelSource(BodyPart):
    """Exactly one of `path`, a folder or GGUF file under one of the model roots, and `hub_id`."""

    path: str | None = Field(None, max_length=4096)
    hub_id: str | None = Field(
        None, max_length=200, pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$"
    )

    def below(self, folder: Path) -> "ModelSource":
        """The same; a relative path begins at this folder."""
        if self.path is None:
            return self
        # Not checked anew: below a folder a path may be longer than one that is sent.
        return self.model_copy(update={"path": str(folder / self.path)})


class ModelBody(Body):
    """A base model to register."""

    name: Name
    kind: ModelKind = ModelKind.CAUSAL_LM
    source: ModelSource
    project_id: Id | None = None


class ModelFacts(ApiAnswer):
    """What the folder's json files and the headers of its weights say; null where they do not."""

    architecture: str | None = None
    vocab_size: int | None = None
    context_length: int | None = None
    dtype: str | None = None
    parameters: int | None = None
    chat_template_sha256: str | None = None
    size_bytes: int | None = None

    @field_validator("architecture", "dtype", mode="before")
    @classmethod
    def _short_name(cls, value: Any) -> str | None:
        # A file may hold anything there, and PostgreSQL keeps no NUL.
        is_name = isinstance(value, str) and value.isascii() and value.isprintable()
        return value if is_name and len(value) <= LONGEST_NAME else None


class ModelAnswer(ApiAnswer):
    """A model of the registry."""

    id: str
    project_id: str | None
    name: str
    kind: ModelKind
    source: dict[str, Any]
    facts: ModelFacts
    sha256: str | None
    run_id: str | None
    parent_id: str | None
    step: int | None
    created_at: datetime
    archived_at: datetime | None
    pruned_at: datetime | None = Field(
        description="When its files were deleted by podium prune; null = they were not."
    )


class LineageNode(ApiAnswer):
    """A model, and the run and snapshots that made it (null for a base model)."""

    model_id: str
    name: str
    kind: ModelKind
    parent_id: str | None
    run_id: str | None
    run_name: str | None
    method: Method | None
    snapshot_ids: list[str]
    snapshot_names: list[str] = Field(
        description="In the order of their ids; the id of one whose project the caller does not "
        "see."
    )
    reward_model_ids: list[str]
    relation: str = Field(description="self, ancestor, descendant or reward_model")


class ModelDetail(ModelAnswer):
    """One model with its lineage: ancestors, reward models they used, descendants."""

    lineage: list[LineageNode]
    has_more_relatives: bool = Field(
        description="The lineage has 500 models, and older ones of a generation are left out."
    )
