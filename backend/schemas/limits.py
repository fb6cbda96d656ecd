"""How large a request may be inside: keys, depth, values, lengths; no limit of the wire.

Request schemas take their types from here; `backend.deps` has the text of each JSON body checked
before it is parsed, because parsing makes objects many times as large as the text.
"""

import re
from typing import Annotated, Any

from pydantic import Field

MOST_KEYS = 1000  # of one object
MOST_DEPTH = 32
# Of a whole body: keys, objects with lists, and items of either.
MOST_KEYS_IN_ALL = 50_000
MOST_CONTAINERS = 50_000
MOST_ITEMS = 250_000

LONGEST_ID = 64
LONGEST_LABEL = 200

# Whole or cut off by the end: it always matches, so that no text takes quadratic time.
_STRING = re.compile(rb'"(?:[^"\\]+|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(one for one in range(256) if one not in b"[]{}")

Id = Annotated[str, Field(max_length=LONGEST_ID)]
# A tag, a reason, the name of a metric.
Label = Annotated[str, Field(max_length=LONGEST_LABEL)]
# JSON whose inside a request schema does not say; `check_value` bounds it.
FreeObject = Annotated[dict[str, Any], Field(max_length=MOST_KEYS)]


class Malformed(ValueError):
    """No document that anybody means: nested further than any schema goes, or not UTF-8."""


def check_text(body: bytes) -> None:
    """Raise ValueError unless parsing this JSON is cheap; whether it is valid is not asked.

    It is Malformed for a nesting that nobody means, and for UTF-16 and UTF-32, which the parser
    would take and this would not understand.
    """
    if b"\0" in body:
        raise Malformed("it contains NUL bytes; JSON must be UTF-8")
    counts = _counted(body)
    if _fits(counts):
        return
    # Commas and brackets inside of texts mean nothing; only long bodies come here.
    bare = _without_strings(body)
    _check_depth(bare.translate(None, _NO_BRACKETS)[: 2 * MOST_CONTAINERS])
    counts = _counted(bare)
    for name, most in _MOST.items():
        if counts[name] > most:
            raise ValueError(f"it has {counts[name]} {name}; at most {most} are allowed")


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


_MOST = {"keys": MOST_KEYS_IN_ALL, "objects and lists": MOST_CONTAINERS, "items": MOST_ITEMS}


def _without_strings(body: bytes) -> bytes:
    # Piece by piece, and not by one call, during which no other thread would run.
    pieces = []
    at = 0
    for found in _STRING.finditer(body):
        pieces.append(body[at : found.start()])
        at = found.end()
    return b"".join([*pieces, body[at:]])


def _counted(text: bytes) -> dict[str, int]:
    return {
        "keys": text.count(b":"),
        "objects and lists": text.count(b"[") + text.count(b"{"),
        "items": text.count(b","),
    }


def _fits(counts: dict[str, int]) -> bool:
    is_shallow = counts["objects and lists"] <= MOST_DEPTH
    return is_shallow and all(counts[name] <= most for name, most in _MOST.items())


def _check_depth(brackets: bytes) -> None:
    depth = 0
    for one in brackets:
        depth += 1 if one in b"[{" else -1
        if depth > MOST_DEPTH:
            raise Malformed(f"it is nested more than {MOST_DEPTH} levels deep")
