"""The rows of an uploaded file, one after another, none of them larger than a row may be.

Read by `backend.jobs.import_file`; each other file beside this one knows one file format.
"""

import codecs
from collections.abc import Callable, Iterator
from typing import IO, Literal, TypeAlias

import orjson

from backend.domain.records.formats import PROMPT_KEYS
from backend.errors import InvalidInput
from backend.uploads import csv_rows, json_rows, limits, parquet_rows

# A row's number and the row, or the reason why there is none.
DecodedRow: TypeAlias = tuple[int, object, str | None]
# What the numbers of rows count: lines of JSONL and CSV, elements of JSON, rows of Parquet.
Numbered: TypeAlias = Literal["line", "element", "row"]
_Decoder: TypeAlias = Callable[[IO[bytes]], Iterator[DecodedRow]]


# How files begin that hold other files, and the command that unpacks them.
_PACKED = {
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"PK\x03\x04": ("zip", "unzip"),
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ\0": ("xz", "unxz"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
}
# It says what it is behind the name and the numbers of its first file, some of which end in NUL.
_TAR_AT, _TAR = 257, (b"ustar\0", b"ustar ")


def is_parquet(head: bytes) -> bool:
    """Whether a file that begins so is Parquet."""
    return head.startswith(b"PAR1")


def prepare(file: IO[bytes]) -> None:
    """Load what reading this file needs, before memory is limited."""
    if is_parquet(file.read(4)):
        parquet_rows.load()
    file.seek(0)


def decode(file: IO[bytes], content_type: str) -> Iterator[DecodedRow]:
    """Rows of a JSONL, JSON, CSV or Parquet file, told apart by type and first bytes.

    Raises InvalidInput for a file that as a whole cannot be read, TooLarge beyond the limits.
    """
    decoder, _ = _decoder(file, content_type)
    for count, row in enumerate(decoder(file), start=1):
        limits.check_rows(count, is_all=False)
        yield row


def numbered(file: IO[bytes], content_type: str) -> Numbered:
    """What the numbers of the rows of this file count."""
    return _decoder(file, content_type)[1]


def _decoder(file: IO[bytes], content_type: str) -> tuple[_Decoder, Numbered]:
    head = file.read(4096)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    # The first line that is not empty.
    file.seek(len(head) - len(start))
    first_line = file.readline(limits.LARGEST_ROW)
    file.seek(0)
    _must_be_readable(head)
    if is_parquet(head):
        return parquet_rows.decode, "row"
    if "csv" in content_type:
        return csv_rows.decode, "line"
    if start.startswith(b"["):
        return json_rows.decode, "element"
    if start.startswith(b"{") or "json" in content_type or not start or _is_text(first_line):
        return _ndjson, "line"
    return csv_rows.decode, "line"


def _is_text(line: bytes) -> bool:
    """Whether a line is a JSON string that is a prompt, not the name of the only column of CSV."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(found, str) and found not in PROMPT_KEYS


def _is_tar(head: bytes) -> bool:
    """Whether a file that begins so is an archive, and not text with "mustard" at this place."""
    return head.startswith(_TAR, _TAR_AT) and b"\0" in head[:_TAR_AT]


def _must_be_readable(head: bytes) -> None:
    """Raise InvalidInput for a packed file and for one that is not text; Parquet is fine."""
    packed = [of for start, of in _PACKED.items() if head.startswith(start)]
    if _is_tar(head):
        packed.append(("tar", "tar -xf"))
    if packed:
        kind, command = packed[0]
        raise InvalidInput(
            f"the file is {kind}; expected JSONL, JSON, CSV or Parquet",
            advice=f"Unpack it first (`{command} FILE`) and send what was in it.",
        )
    if b"\0" in head and not is_parquet(head):
        raise InvalidInput(
            "the file has NUL bytes, so it is not text in UTF-8",
            advice="Send JSONL (one JSON object per line), JSON or CSV in UTF-8, or Parquet.",
        )


def _ndjson(file: IO[bytes]) -> Iterator[DecodedRow]:
    number = 0
    while line := file.readline(limits.LARGEST_ROW + 1):
        number += 1
        if len(line) > limits.LARGEST_ROW:
            yield (
                number,
                None,
                f"the line is longer than {limits.LARGEST_ROW // limits.MIB} MiB; shorten or "
                "split the record",
            )
            while line and not line.endswith(b"\n"):
                line = file.readline(limits.LARGEST_ROW)
            continue
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.strip():
            try:
                yield number, orjson.loads(line), None
            except orjson.JSONDecodeError as error:
                yield (
                    number,
                    None,
                    f"the line is not valid JSON at column {error.colno}: {error.msg}",
                )
