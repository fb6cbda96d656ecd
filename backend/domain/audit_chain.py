"""The chain of audit lines: the hash of each covers the line and the hash of the one before.

Who changes, removes or adds a line in the middle has to compute every later hash anew; then the
last one differs from those that were kept outside the database (`backend.traces.heads`).
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

# What stands before the first line.
BEGINNING = "0" * 64
# Made once: one request may add five hundred lines.
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class Line(NamedTuple):
    """What a line says; `user_id` None: nobody was known."""

    number: int
    user_id: str | None
    action: str
    object_id: str
    data: Mapping[str, Any]
    request_id: str | None
    created_at: datetime


class Link(NamedTuple):
    """A line with its hash, as it was found."""

    line: Line
    sha256: str


class Head(NamedTuple):
    """The last line's number and hash at some time."""

    number: int
    sha256: str


def sha256_of(line: Line, previous: str) -> str:
    """The hash of a line behind one with the hash `previous`, as 64 hexadecimal digits."""
    said = line._asdict() | {
        "created_at": line.created_at.astimezone(UTC).isoformat(timespec="microseconds"),
        "previous": previous,
    }
    return hashlib.sha256(_JSON.encode(said).encode()).hexdigest()


def broken(chain: Iterable[Link], heads: Iterable[Head]) -> str | None:
    """What is wrong with a chain, in one sentence; None if nothing is.

    `heads` were kept elsewhere while the chain grew: each has to be in it, also one of several that
    name the same line, of which somebody may have changed the line between them.
    """
    kept: defaultdict[int, set[str]] = defaultdict(set)
    for number, sha256 in heads:
        kept[number].add(sha256)
    previous, last = BEGINNING, 0
    for line, sha256 in chain:
        if sha256 != sha256_of(line, previous):
            return (
                f"line {line.number} is not what was written, or a line before it is missing or "
                "was added"
            )
        if kept.pop(line.number, {sha256}) != {sha256}:
            return (
                f"line {line.number} differs from what was kept outside the database: the chain "
                "was rewritten"
            )
        previous, last = sha256, line.number
    if kept:
        return (
            f"the last line is {last}, but line {max(kept)} was kept outside the database: lines "
            "are missing"
        )
    return None
