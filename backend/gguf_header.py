"""The header of a GGUF file: what a model is, without its weights.

Called by `model_files` when a model is registered. The file is not trusted: of its header no more
is read than LARGEST_HEADER, and every count and length in it is held against a limit first. The
format is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3.
"""

import hashlib
import struct
from collections import Counter
from math import prod
from pathlib import Path

from backend.errors import InvalidInput
from backend.schemas.models import ModelFacts

MIB = 1 << 20
# The vocabulary makes the size of a header: one of 262,144 tokens with merges takes about 15 MiB.
LARGEST_HEADER = 64 * MIB
MOST_ENTRIES = 4096
MOST_TENSORS = 1 << 16
# Strings are the one thing whose end is found one by one.
MOST_STRINGS = 1 << 22
LONGEST_KEY = 1 << 16
MOST_DIMENSIONS = 4

_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_INTEGERS = {0, 1, 2, 3, 4, 5, 10, 11}
_DTYPES = {
    0: "float32", 1: "float16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1",
    10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 28: "float64",
    30: "bfloat16",
}  # fmt: skip
_TOKENS = b"tokenizer.ggml.tokens"
_LARGEST_SIZE = 2**31 - 1


class _Length(int):
    """How many values an array has."""


_Value = bytes | int | None


def read_gguf(file: Path) -> ModelFacts:
    """What the header of a GGUF file says; null where it does not.

    Raises InvalidInput for a file that is no GGUF file, ends within its header, or counts more than
    a model has.
    """
    with file.open("rb") as opened:
        cursor = _Cursor(opened.read(LARGEST_HEADER), file)
    tensors, entries = _counts(cursor)
    said = dict(_entry(cursor) for _ in range(entries))
    if len(said) != entries:
        raise cursor.broken("names a metadata entry twice")
    elements: Counter[int] = Counter()
    for _ in range(tensors):
        dtype, count = _tensor(cursor)
        elements[dtype] += count
    if elements.total() > 8 * file.stat().st_size:
        raise cursor.broken(
            f"is too small for the {elements.total()} weights that its header names"
        )
    architecture = _text(said.get(b"general.architecture"))
    prefix = (architecture or "").encode()
    return ModelFacts(
        architecture=architecture,
        vocab_size=_size(said.get(prefix + b".vocab_size")) or _length(said.get(_TOKENS)),
        context_length=_size(said.get(prefix + b".context_length")),
        dtype=_DTYPES.get(elements.most_common(1)[0][0]) if elements else None,
        parameters=elements.total() if elements else None,
        chat_template_sha256=_sha256(said.get(b"tokenizer.chat_template")),
    )


class _Cursor:
    """A place in the header, which only goes on."""

    def __init__(self, text: bytes, file: Path) -> None:
        self._text, self._file = text, file
        self._place = 0
        self._strings = 0

    def number(self, form: str) -> int | float:
        """The next number, of the given struct format."""
        start = self._place
        self.skip(struct.calcsize(form))
        found: int | float = struct.unpack_from(form, self._text, start)[0]
        return found

    def count(self, what: str, most: int, form: str = "<Q") -> int:
        """The next number, which counts things of which there are not more than `most`."""
        found = int(self.number(form))
        if found > most:
            raise self.broken(f"says that it has {found} {what}, expected at most {most}")
        return found

    def string(self, longest: int = LARGEST_HEADER) -> bytes:
        """The next string: its length, then its bytes."""
        length = self.count("bytes in a string", longest)
        start = self._place
        self.skip(length)
        return self._text[start : self._place]

    def skip(self, size: int) -> None:
        """Go over so many bytes."""
        if size > len(self._text) - self._place:
            if len(self._text) == LARGEST_HEADER:
                raise self.broken(f"has a header larger than {LARGEST_HEADER // MIB} MiB")
            raise self.broken("ends within its header")
        self._place += size

    def skip_strings(self, count: int) -> None:
        """Go over so many strings."""
        self._strings += count
        if self._strings > MOST_STRINGS:
            raise self.broken(f"says that it has more than {MOST_STRINGS} strings")
        for _ in range(count):
            self.skip(int(self.number("<Q")))

    def broken(self, what: str) -> InvalidInput:
        """The error for a file of which `what` is true."""
        return InvalidInput(
            f"{self._file.name} {what}; it must be a complete GGUF file of version 2 or 3",
            advice="Download or convert it again.",
        )


def _counts(cursor: _Cursor) -> tuple[int, int]:
    """Read from the header how many tensors and how many metadata entries follow."""
    if cursor.number("<I") != int.from_bytes(b"GGUF", "little"):
        raise cursor.broken("does not begin with GGUF")
    version = cursor.number("<I")
    if version not in _VERSIONS:
        raise cursor.broken(f"is of version {version}")
    return cursor.count("tensors", MOST_TENSORS), cursor.count("entries", MOST_ENTRIES)


def _entry(cursor: _Cursor) -> tuple[bytes, _Value]:
    """The next key and what it says: a string, an integer, the length of an array."""
    return cursor.string(LONGEST_KEY), _value(cursor)


def _value(cursor: _Cursor) -> _Value:
    kind = int(cursor.number("<I"))
    if kind == _STRING:
        return cursor.string()
    if kind == _ARRAY:
        return _array(cursor)
    number = cursor.number(_form(cursor, kind))
    return int(number) if kind in _INTEGERS else None


def _array(cursor: _Cursor) -> _Length:
    """Pass over the next array; return how many values it has."""
    kind = int(cursor.number("<I"))
    count = cursor.count("values in an array", LARGEST_HEADER)
    if kind == _STRING:
        cursor.skip_strings(count)
    else:
        cursor.skip(count * struct.calcsize(_form(cursor, kind)))
    return _Length(count)


def _form(cursor: _Cursor, kind: int) -> str:
    if kind not in _NUMBERS:
        raise cursor.broken(f"holds a value of the unknown type {kind}")
    return _NUMBERS[kind]


def _tensor(cursor: _Cursor) -> tuple[int, int]:
    """The type of the next tensor and how many elements it has."""
    cursor.string(LONGEST_KEY)
    dimensions = cursor.count("dimensions of a tensor", MOST_DIMENSIONS, "<I")
    elements = prod(int(cursor.number("<Q")) for _ in range(dimensions))
    dtype = int(cursor.number("<I"))
    cursor.number("<Q")  # where its weights begin
    return dtype, elements


def _size(value: _Value) -> int | None:
    """A number that can be the size of something."""
    return value if type(value) is int and 0 < value <= _LARGEST_SIZE else None


def _length(value: _Value) -> int | None:
    return int(value) if isinstance(value, _Length) and value else None


def _text(value: _Value) -> str | None:
    """A short name in ASCII."""
    is_name = isinstance(value, bytes) and len(value) <= 64 and value.isascii()
    return value.decode() if is_name and isinstance(value, bytes) else None


def _sha256(value: _Value) -> str | None:
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else None
