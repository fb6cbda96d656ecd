"""What every list answer looks like. Routers use it; it knows no resource."""

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

Item = TypeVar("Item")


class ApiAnswer(BaseModel):
    """Base of what the API sends: built from rows."""

    model_config = ConfigDict(from_attributes=True)


class Body(BaseModel):
    """Base of what the API accepts: unknown keys and NUL characters are refused."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_nul(cls, value: Any) -> Any:
        # PostgreSQL keeps no NUL in a text; SQLite would, and the two would differ.
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str) and "\0" in one:
                raise ValueError("a text contains a NUL character; remove it")
            if isinstance(one, dict):
                waiting += [*one.keys(), *one.values()]
            elif isinstance(one, list):
                waiting += one
        return value


class Listing(BaseModel, Generic[Item]):
    """One page; pass `next_cursor` as `cursor` to get the next, null at the end."""

    items: list[Item]
    next_cursor: str | None = None
