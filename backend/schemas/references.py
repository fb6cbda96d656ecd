"""How a run config points at a model or at data, and what each of its fields may point to.

`{"id"}` in the API (which adds the sha256 it found), `{"hub_id"}` in both, `{"path", "sha256"}` in
the run directory. The API refuses `path`; the trainer refuses `id`. A field says in its type what
fits: `Annotated[Reference, PointsTo(SnapshotKind.PROMPTS)]`; `pointers` and `wanted` tell it to
everybody else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

from backend.schemas.vocabulary import ModelKind, SnapshotKind


class Reference(BaseModel):
    """Exactly one of `id`, `hub_id` or `path`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

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
        None, pattern=r"^[0-9a-f]{64}$", description="Expected sha256 of the content."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in ("id", "hub_id", "path") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a reference needs exactly one of id, hub_id, path; found {given or 'none'}"
            )
        return self

    def is_same(self, other: "Reference") -> bool:
        """Whether both point to the same thing or content; either may leave its sha256 out."""
        if self.sha256 is not None and self.sha256 == other.sha256:
            return True
        return (self.id, self.hub_id, self.path) == (other.id, other.hub_id, other.path)


def known_by(reference: Mapping[str, Any] | None) -> set[str]:
    """What a reference in a stored config is known by: its id and the sha256 of its content."""
    found = reference or {}
    return {found[name] for name in ("id", "sha256") if found.get(name)}


@dataclass(frozen=True)
class PointsTo:
    """What a field's reference points to: data of one kind, or a model.

    `kind` is what the form offers; a model of the kind `or_kind` is accepted too.
    """

    kind: ModelKind | SnapshotKind
    or_kind: ModelKind | None = None

    @property
    def snapshot(self) -> SnapshotKind | None:
        """The kind of data; None for a model."""
        return self.kind if isinstance(self.kind, SnapshotKind) else None

    def fits(self, kind: str) -> bool:
        """Whether a model or snapshot of this kind may stand here."""
        return kind in (self.kind, self.or_kind)


LanguageModel = Annotated[Reference, PointsTo(ModelKind.CAUSAL_LM)]
Prompts = Annotated[Reference, PointsTo(SnapshotKind.PROMPTS)]
Preferences = Annotated[Reference, PointsTo(SnapshotKind.PREFERENCES)]
Demonstrations = Annotated[Reference, PointsTo(SnapshotKind.DEMONSTRATIONS)]

# The fields of a config that name what a method samples for or learns from; each is called as the
# kind that it points to.
DATA = tuple(kind.value for kind in SnapshotKind)


@dataclass(frozen=True)
class Pointer:
    """One reference of a config, where it stands (as in `reward.terms.0.model`), and what fits."""

    path: str
    reference: Reference
    wants: PointsTo


def pointers(config: BaseModel) -> list[Pointer]:
    """Every reference of a config, in the order of its fields."""
    return [
        pointer
        for name, field in type(config).model_fields.items()
        for pointer in _inside(getattr(config, name), name, field)
    ]


def wanted(config: type[BaseModel]) -> dict[str, PointsTo]:
    """What each reference of a config wants by its path; `*` stands for each item of a list."""
    found: dict[str, PointsTo] = {}
    for name, field in config.model_fields.items():
        for path, part in _parts(field.annotation, name):
            if part is Reference:
                found[path] = _wants(field, path)
            else:
                found |= {f"{path}.{inner}": wants for inner, wants in wanted(part).items()}
    return found


def _inside(value: object, path: str, field: FieldInfo) -> Iterator[Pointer]:
    if isinstance(value, Reference):
        yield Pointer(path, value, _wants(field, path))
    elif isinstance(value, BaseModel):
        for pointer in pointers(value):
            yield Pointer(f"{path}.{pointer.path}", pointer.reference, pointer.wants)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _inside(item, f"{path}.{index}", field)


def _wants(field: FieldInfo, path: str) -> PointsTo:
    for said in (*field.metadata, *_annotations(field.annotation)):
        if isinstance(said, PointsTo):
            return said
    raise TypeError(f"the field {path} is a Reference and does not say what it PointsTo")


def _annotations(annotation: Any) -> Iterator[Any]:
    """What is said of a type and of the types that it is made of."""
    yield from getattr(annotation, "__metadata__", ())
    for inner in get_args(annotation):
        yield from _annotations(inner)


def _parts(annotation: Any, path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """The models that a value of this type may be or hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield path, annotation
    below = f"{path}.*" if get_origin(annotation) is list else path
    for inner in get_args(annotation):
        yield from _parts(inner, below)
