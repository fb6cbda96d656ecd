"""What requests and lists are made of: bounded bodies, names, pages. It knows no resource."""

import re
import unicodedata
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

MOST_KEYS = 1000  # of one object
MOST_DEPTH = 32
LONGEST_ID = 64
LONGEST_LABEL = 200

# Unicode: controls, formats (bidi and zero-width among them), half surrogate pairs, line ends.
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What Unicode lets no font show (Default_Ignorable_Code_Point): fillers, selectors of variants and
# places kept for more of them; and an empty pattern of Braille.
_UNSHOWN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Keyboards put it behind symbols, to have them drawn in colour.
_IN_COLOUR = "\ufe0f"
# Persian, Hindi and others are spelled with these inside a word.
_JOINERS = frozenset("\u200c\u200d")

Item = TypeVar("Item")


def as_name(text: str) -> str:
    """The name in one spelling (NFC, symbols without a choice of colour), without spaces around it.

    Raises ValueError for characters that nobody sees or that turn the direction of text: two names
    that look alike would be different ones.
    """
    name = as_spelled(text)
    if not name:
        raise ValueError("the name is empty")
    for at, one in enumerate(name):
        is_unseen = unicodedata.category(one) in _UNSEEN_CATEGORIES or _UNSHOWN.match(one)
        if is_unseen and not (one in _JOINERS and _is_inside_word(name, at)):
            raise ValueError(
                f"there is a character that cannot be seen (U+{ord(one):04X}) at place "
                f"{at + 1}; remove it"
            )
    return name


def as_spelled(text: str) -> str:
    """The spelling that a name with this text is kept in."""
    return unicodedata.normalize("NFC", _uncoloured(text)).strip()


def _uncoloured(text: str) -> str:
    if _IN_COLOUR not in text:
        return text
    pairs = zip(" " + text, text, strict=False)
    return "".join(one for before, one in pairs if not (one == _IN_COLOUR and _is_symbol(before)))


def _is_symbol(one: str) -> bool:
    return unicodedata.category(one)[0] in "SP"


def _is_inside_word(name: str, at: int) -> bool:
    around = name[at - 1 : at], name[at + 1 : at + 2]
    return all(one and unicodedata.category(one)[0] in "LM" for one in around)


def _short_enough(name: str) -> str:
    """The same name. Raises ValueError for one that its spelling has made too long to be kept."""
    if len(name) > LONGEST_LABEL:
        raise ValueError(
            f"the name has {len(name)} characters in NFC; at most {LONGEST_LABEL} are allowed"
        )
    return name


Id = Annotated[str, Field(max_length=LONGEST_ID)]
# Of a person, a project, a run: what lists and links show.
Name = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_LABEL),
    AfterValidator(as_name),
    AfterValidator(_short_enough),
]
# A text that is looked up, or that is checked where it is used: the name of a metric. What is kept
# to be shown in a line - a tag, a reason, a judge - is a Name.
Label = Annotated[str, Field(max_length=LONGEST_LABEL)]
# JSON whose inside a request schema does not say; `check_value` bounds it.
FreeObject = Annotated[dict[str, Any], Field(max_length=MOST_KEYS)]


class Malformed(ValueError):
    """The document is nested further than any schema goes, or is not UTF-8."""


class ApiAnswer(BaseModel):
    """Base of what the API sends: built from rows."""

    model_config = ConfigDict(from_attributes=True, defer_build=True)


class BodyPart(BaseModel):
    """Base of what stands within a body alone, which has checked it: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class Body(BodyPart):
    """Base of what the API accepts: unknown keys, NULs and too many or too deep values are refused.

    A test holds that each field has a largest size.
    """

    @model_validator(mode="before")
    @classmethod
    def _is_bounded(cls, value: Any) -> Any:
        check_value(value)
        return value


class Listing(BaseModel, Generic[Item]):
    """One page; pass `next_cursor` as `cursor` to get the next, null at the end."""

    model_config = ConfigDict(defer_build=True)

    items: list[Item]
    next_cursor: str | None = None


def check_value(value: Any) -> None:
    """Raise ValueError for an object with too many keys, too deep a nesting, or a NUL in a text.

    PostgreSQL keeps no NUL in a text; SQLite would, and the two would differ.
    """
    level, depth = [value], 0
    while level:
        level, depth = _inside(level, depth), depth + 1


def _inside(level: list[Any], depth: int) -> list[Any]:
    """All that stands in the objects and lists of one level, keys too; checks what it passes."""
    inside: list[Any] = []
    for one in level:
        if isinstance(one, str):
            if "\0" in one:
                raise ValueError("a text contains a NUL character; remove it")
        elif isinstance(one, dict):
            _check_size(one, depth)
            inside.extend(one)
            inside.extend(one.values())
        elif isinstance(one, list):
            _check_size((), depth)
            inside.extend(one)
    return inside


def _check_size(keys: Any, depth: int) -> None:
    if len(keys) > MOST_KEYS:
        raise ValueError(f"an object has {len(keys)} keys; at most {MOST_KEYS} are allowed")
    if depth >= MOST_DEPTH:
        raise Malformed(f"the value is nested more than {MOST_DEPTH} levels deep")
