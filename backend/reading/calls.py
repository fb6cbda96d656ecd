"""What the reading process can be asked for: functions by their names, and what crosses over.

A function gets a session, the caller and plain values, and makes bytes of what it reads. Routes
with large answers register theirs when they are imported, on both sides: the API imports them all
(`backend.routes`), the process those that `backend.ops.reading` lists.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from sqlalchemy.orm import Session

from backend.domain.access import Caller

_CALLER: TypeAdapter[Caller | None] = TypeAdapter(
    Caller | None, config=ConfigDict(defer_build=True)
)


@dataclass(frozen=True)
class Made:
    """What a function has made: bytes, and facts about them that JSON can say."""

    facts: dict[str, Any]
    body: bytes


Function = Callable[[Session, Caller | None, Mapping[str, Any]], Made]
FUNCTIONS: dict[str, Function] = {}


@dataclass(frozen=True)
class Call:
    """A function by its name, what it gets, and who asks; `values` are what JSON can say."""

    name: str
    values: Mapping[str, Any]
    caller: Caller | None = None

    def made(self, session: Session) -> Made:
        """What the function makes in this session."""
        return FUNCTIONS[self.name](session, self.caller, self.values)

    def as_message(self) -> dict[str, Any]:
        """The call as JSON says it."""
        caller = _CALLER.dump_python(self.caller, mode="json")
        return {"name": self.name, "values": dict(self.values), "caller": caller}

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> "Call":
        """The call that `as_message` was asked of."""
        caller = _CALLER.validate_python(message["caller"])
        return cls(message["name"], message["values"], caller)


def register(name: str, function: Function) -> None:
    """Let the function be called by this name. Raises LookupError if another one has it."""
    if name in FUNCTIONS:
        raise LookupError(f"two functions of the reading process are called {name}")
    FUNCTIONS[name] = function
