"""What every list answer looks like. Routers use it; it knows no resource."""

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from backend.schemas.limits import check_value

Item = TypeVar("Item")


class ApiAnswer(BaseModel):
    """Base of what the API sends: built from rows."""

    model_config = ConfigDict(from_attributes=True)


class Body(BaseModel):
    """Base of what the API accepts: unknown keys, NULs and too many or too deep values are refused.

    A test holds that each field has a largest size.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_bounded(cls, value: Any) -> Any:
        check_value(value)
        return value


class Listing(BaseModel, Generic[Item]):
    """One page; pass `next_cursor` as `cursor` to get the next, null at the end."""

    items: list[Item]
    next_cursor: str | None = None
