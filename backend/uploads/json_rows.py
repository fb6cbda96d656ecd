"""A JSON array, element by element: a file of 64 MiB can hold a hundred times that in objects."""

import codecs
import re
from collections.abc import Iterator
from typing import IO

import orjson

from backend.errors import InvalidInput, TooLarge
from backend.uploads import limits

_CHUNK = 256 * 1024
# The depth that the parser of an element takes.
_DEEPEST = 1000
# A whole string, or a quote whose string goes on behind what was read, or structure. Possessive:
# nothing is kept for going back, however long the string.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["\[\]{},]', re.DOTALL)


def decode(file: IO[bytes]) -> Iterator[tuple[int, object, str | None]]:
    """The elements with their places, from 1. Raises InvalidInput at the first wrong one."""
    if file.seek(0, 2) > limits.LARGEST_JSON:
        raise TooLarge(
            f"the JSON file is larger than {limits.LARGEST_JSON // limits.MIB} MiB, the limit for "
            "JSON",
            advice="Send JSONL (one JSON object per line) instead.",
        )
    file.seek(0)
    for number, text in enumerate(_elements(file), start=1):
        try:
            yield number, orjson.loads(text), None
        except orjson.JSONDecodeError as error:
            raise _wrong(f"element {number}: {error}") from error


def _elements(file: IO[bytes]) -> Iterator[bytes]:
    """The texts between the commas of the outermost array."""
    held = _begin(file)
    scanned = depth = count = 0
    while True:
        start = 0
        for token in _TOKEN.finditer(held, scanned):
            scanned = token.end()
            what = token[0]
            if what == b'"':
                scanned = token.start()
                break
            if what in (b"[", b"{"):
                depth += 1
            elif what == b"," and depth == 0:
                yield held[start : token.start()]
                count, start = count + 1, token.end()
            elif what in (b"]", b"}"):
                depth -= 1
                if depth < 0:
                    if count or held[start : token.start()].strip():
                        yield held[start : token.start()]
                    _end(what, held[token.end() :], file)
                    return
        else:
            scanned = len(held)
        held, scanned = held[start:], scanned - start
        _check(held, depth, count)
        chunk = file.read(_CHUNK)
        if not chunk:
            raise _wrong(f"it ends within element {count + 1}")
        held += chunk


def _begin(file: IO[bytes]) -> bytes:
    """What follows the opening bracket, of which the caller has made sure."""
    return file.read(_CHUNK).removeprefix(codecs.BOM_UTF8).lstrip().removeprefix(b"[")


def _end(bracket: bytes, rest: bytes, file: IO[bytes]) -> None:
    if bracket != b"]":
        raise _wrong("a } closes the outermost array")
    while not rest.strip():
        rest = file.read(_CHUNK)
        if not rest:
            return
    found = rest.strip()[:20].decode(errors="replace")
    raise _wrong(f"found {found!r} after the outermost array")


def _check(held: bytes, depth: int, count: int) -> None:
    if depth > _DEEPEST:
        raise _wrong(f"element {count + 1} is nested deeper than {_DEEPEST} levels")
    if len(held) > limits.LARGEST_ROW:
        raise TooLarge(
            f"element {count + 1} of the JSON file is larger than "
            f"{limits.LARGEST_ROW // limits.MIB} MiB",
            advice="Shorten or split the record.",
        )


def _wrong(what: str) -> InvalidInput:
    return InvalidInput(
        f"the file is not valid JSON: {what}",
        advice="Correct the file, or send JSONL (one JSON object per line).",
    )
