"""JSON bodies before they are parsed: parsing makes objects many times as large as their text.

Called by `backend.routes`; what stands in the objects is bounded by the request schemas.
"""

import re
from collections.abc import Mapping

from backend.schemas.paging import MOST_DEPTH, Malformed

# Of a whole body: keys, objects with lists, and items of either.
MOST_KEYS_IN_ALL = 50_000
MOST_CONTAINERS = 50_000
MOST_ITEMS = 250_000

# Whole or cut off by the end: it always matches, so that no text takes quadratic time.
_STRING = re.compile(rb'"(?:[^"\\]+|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_GZIP = b"\x1f\x8b"
_NO_BRACKETS = bytes(one for one in range(256) if one not in b"[]{}")


def check_text(body: bytes) -> None:
    """Raise ValueError unless parsing this JSON is cheap; whether it is valid is not asked.

    It is Malformed for a nesting that nobody means, for gzip, and for UTF-16 and UTF-32, which the
    parser would take and this would not understand.
    """
    if body.startswith(_GZIP):
        raise Malformed("it is compressed with gzip; send it as it is, in UTF-8")
    if b"\0" in body:
        raise Malformed("it has NUL bytes, as UTF-16 and UTF-32 do; send it in UTF-8")
    counts = _counted(body)
    if _fits(counts):
        return
    # Within a text a quotation mark has a backslash before it; keys with a space behind are not
    # among these.
    keys = body.count(b'":') - body.count(b'\\":')
    _must_be_few({"keys": keys})
    # Commas and brackets inside of texts mean nothing; only long bodies come here.
    bare = _without_strings(body)
    _check_depth(bare.translate(None, _NO_BRACKETS)[: 2 * MOST_CONTAINERS])
    _must_be_few(_counted(bare))


_MOST = {"keys": MOST_KEYS_IN_ALL, "objects and lists": MOST_CONTAINERS, "items": MOST_ITEMS}


def _must_be_few(counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        if count > _MOST[name]:
            raise ValueError(f"it has {count} {name}; at most {_MOST[name]} are allowed")


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
