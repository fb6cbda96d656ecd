"""How a run config points at a model or at data.

`{"id"}` in the API (which adds the sha256 it found), `{"hub_id"}` in both, `{"path", "sha256"}` in
the run directory. The API refuses `path`; the trainer refuses `id`.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Reference(BaseModel):
    """Exactly one of `id`, `hub_id` or `path`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = Field(
        None,
        pattern=r"^[a-z]+_[a-z0-9]+$",
        max_length=64,
        description="Id of a model or snapshot in Podium.",
    )
    hub_id: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$",
        max_length=200,
        description="Name of a model on a hub, owner/name.",
    )
    path: str | None = Field(
        None,
        max_length=4096,
        description="A file under inputs/ of the run directory, or the absolute path of a model.",
    )
    sha256: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="Hash of the content that was meant."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in ("id", "hub_id", "path") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a reference needs exactly one of id, hub_id, path; found {given or 'none'}"
            )
        return self
