"""What requests and lists are made of: bounded bodies, pages. It knows no resource."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

MOST_KEYS = 1000  # of one object
MOST_DEPTH = 32
LONGEST_ID = 64
LONGEST_LABEL = 200

Item = TypeVar("Item")

Id = Annotated[str, Field(max_length=LONGEST_ID)]
# A tag, a reason, the name of a metric.
Label = Annotated[str, Field(max_length=LONGEST_LABEL)]
# JSON whose inside a request schema does not say; `check_value` bounds it.
FreeObject = Annotated[dict[str, Any], Field(max_length=MOST_KEYS)]


class Malformed(ValueError):
    """No document that anybody means: nested further than any schema goes, or not UTF-8."""


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


def check_value(value: Any) -> None:
    """Raise ValueError for an object with too many keys, too deep a nesting, or a NUL in a text.

    PostgreSQL keeps no NUL in a text; SQLite would, and the two would differ.
    """
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, str):
            if "\0" in one:
                raise ValueError("a text contains a NUL character; remove it")
        elif isinstance(one, dict):
            _check_size(one, depth)
            waiting += [(inner, depth + 1) for inner in (*one.keys(), *one.values())]
        elif isinstance(one, list):
            _check_size((), depth)
            waiting += [(inner, depth + 1) for inner in one]


def _check_size(keys: Any, depth: int) -> None:
    if len(keys) > MOST_KEYS:
        raise ValueError(f"an object has {len(keys)} keys; at most {MOST_KEYS} are allowed")
    if depth >= MOST_DEPTH:
        raise Malformed(f"the value is nested more than {MOST_DEPTH} levels deep")
