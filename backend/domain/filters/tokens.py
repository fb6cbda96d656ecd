"""The text of a filter in pieces, each with its place."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from backend.errors import InvalidFilter

LONGEST_FILTER = 1000

# Before an operator stands a key; a word is anything else without spaces, brackets and quotes.
_OPERATOR = re.compile(r"!=|>=|<=|[:=<>~]")
_KEY = re.compile(r'[^\s()":=<>~!,]+(?=!=|>=|<=|[:=<>~])')
_WORD = re.compile(r'[^\s()",]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


class Token(NamedTuple):
    """A piece: what it is, what it says, and where it stands in the text, counted from 0.

    `kind` is open, close, minus, word, quoted, key, operator, comma or end.
    """

    kind: str
    text: str
    at: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The pieces of a filter, and one of the kind `end`. Raises InvalidFilter."""
    if len(text) > LONGEST_FILTER:
        raise InvalidFilter(
            found="more text",
            expected=f"at most {LONGEST_FILTER} characters; the filter has {len(text)}",
            at=LONGEST_FILTER,
        )
    if (unseen := text.find("\0")) >= 0:
        raise InvalidFilter(found="U+0000", expected="characters that can be seen", at=unseen)
    at, previous = 0, ""
    while at < len(text):
        if text[at].isspace():
            at, previous = at + 1, "space"
            continue
        token = _token(text, at, previous)
        yield token
        at, previous = token.end, token.kind
    yield Token("end", "", len(text), len(text))


def _token(text: str, at: int, previous: str) -> Token:
    one = text[at]
    if one in "()":
        return Token("open" if one == "(" else "close", one, at, at + 1)
    if one == '"':
        return _quoted(text, at)
    if previous in ("operator", "comma"):
        return _matched(_WORD, "word", text, at)
    if one == "," and previous in ("word", "quoted"):
        return Token("comma", one, at, at + 1)
    if previous == "key":
        return _matched(_OPERATOR, "operator", text, at)
    if one == "-" and len(text) > at + 1 and not text[at + 1].isspace():
        return Token("minus", one, at, at + 1)
    if found := _KEY.match(text, at):
        return Token("key", found.group(), at, found.end())
    if found := _OPERATOR.match(text, at):
        raise InvalidFilter(
            found=f"`{found.group()}` without a key",
            expected="a key right before it, as in `step>10`",
            at=at,
            length=found.end() - at,
        )
    return _matched(_WORD, "word", text, at)


def _matched(pattern: re.Pattern[str], kind: str, text: str, at: int) -> Token:
    found = pattern.match(text, at)
    if found is None:
        raise InvalidFilter(
            found=f"`{text[at]}`", expected="a key such as `state:`, a word, `(` or `-`", at=at
        )
    return Token(kind, found.group(), at, found.end())


def _quoted(text: str, at: int) -> Token:
    found = _QUOTED.match(text, at)
    if found is None:
        raise InvalidFilter(
            found="a quotation mark that is not closed", expected='another `"` after it', at=at
        )
    said = re.sub(r"\\(.)", r"\1", found.group(1), flags=re.DOTALL)
    return Token("quoted", said, at, found.end())
