"""What every list answer looks like. Routers use it; it knows no resource."""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Answer(BaseModel):
    """Base of what the API sends: built from rows, closed to unknown keys."""

    model_config = ConfigDict(from_attributes=True)


class Body(BaseModel):
    """Base of what the API accepts: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class Listing(BaseModel, Generic[Item]):
    """One page; pass `next_cursor` as `cursor` to get the next, null at the end."""

    items: list[Item]
    next_cursor: str | None = None
