"""What a filter says, as a tree: terms joined by And, Or and Not.

Every term is true or false of a run, never unknown: what a run does not have, it does not match.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from backend.domain.filters.fields import Key

Order = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True)
class Has:
    """The run has a value there."""

    key: Key


@dataclass(frozen=True)
class Equals:
    """The value is this text, whatever the case, or this number."""

    key: Key
    text: str
    number: float | None = None


@dataclass(frozen=True)
class Contains:
    """The value is a text with this part, whatever the case."""

    key: Key
    part: str


@dataclass(frozen=True)
class Compares:
    """The value is a number that stands so to this one."""

    key: Key
    order: Order
    number: float


@dataclass(frozen=True)
class During:
    """The time is `start` or later, and before `end`; None = open."""

    key: Key
    start: datetime | None
    end: datetime | None


@dataclass(frozen=True)
class Not:
    """What is inside is false."""

    inside: "Tree"


@dataclass(frozen=True)
class And:
    """All parts are true; without parts it is true."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True)
class Or:
    """A part is true."""

    parts: tuple["Tree", ...]


Term: TypeAlias = Has | Equals | Contains | Compares | During
Tree: TypeAlias = Term | Not | And | Or
EVERYTHING = And(())


def mentions(tree: Tree, key: Key) -> bool:
    """Whether a term of the tree is about this key."""
    match tree:
        case Not(inside):
            return mentions(inside, key)
        case And(parts) | Or(parts):
            return any(mentions(part, key) for part in parts)
        case term:
            return term.key == key
