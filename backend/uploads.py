"""Uploaded files: spooled to disk under a limit, then decoded row by row.

Called by the import route; what a row means is `backend.domain.formats`.
"""

import codecs
import csv
import importlib
import io
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import IO, Any

import orjson

from backend.errors import InvalidInput, TooLarge

MIB = 1 << 20
LARGEST_FILE = 128 * MIB
LARGEST_LINE = 2 * MIB
LARGEST_JSON = 64 * MIB
LARGEST_UNPACKED = 1024 * MIB
IN_MEMORY = 1 * MIB
MOST_ROWS = 1_000_000

# A row's line number and the row, or the reason why there is none.
DecodedRow = tuple[int, object, str | None]


async def spool(chunks: AsyncIterator[bytes]) -> IO[bytes]:
    """The whole upload as a file that vanishes when closed. Raises TooLarge beyond 128 MiB."""
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (the caller closes it)
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > LARGEST_FILE:
            file.close()
            raise TooLarge(
                f"the file is larger than {LARGEST_FILE // MIB} MiB",
                advice="Split it and send the parts one after another.",
            )
        file.write(chunk)
    file.seek(0)
    return file


def decode(file: IO[bytes], content_type: str) -> Iterator[DecodedRow]:
    """Rows of an NDJSON, JSON, CSV or Parquet file, told apart by type and first bytes.

    Raises InvalidInput for a file that as a whole cannot be read.
    """
    head = file.read(4096)
    file.seek(0)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if head.startswith(b"PAR1"):
        rows = _parquet(file)
    elif "csv" in content_type:
        rows = _csv(file)
    elif start.startswith(b"["):
        rows = _json(file)
    elif start.startswith((b"{", b'"')) or "json" in content_type or not start:
        rows = _ndjson(file)
    else:
        rows = _csv(file)
    for count, row in enumerate(rows):
        if count >= MOST_ROWS:
            raise TooLarge(
                f"the file has more than {MOST_ROWS} rows",
                advice="Split the file and send the parts one after another.",
            )
        yield row


def _ndjson(file: IO[bytes]) -> Iterator[DecodedRow]:
    number = 0
    while line := file.readline(LARGEST_LINE + 1):
        number += 1
        if len(line) > LARGEST_LINE:
            yield (
                number,
                None,
                f"the line is longer than {LARGEST_LINE // MIB} MiB; shorten or split the record",
            )
            while line and not line.endswith(b"\n"):
                line = file.readline(LARGEST_LINE)
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


def _json(file: IO[bytes]) -> Iterator[DecodedRow]:
    text = file.read(LARGEST_JSON + 1)
    if len(text) > LARGEST_JSON:
        raise TooLarge(
            f"the JSON file is larger than {LARGEST_JSON // MIB} MiB, the limit for JSON",
            advice="Send NDJSON instead: one object per line.",
        )
    try:
        rows = orjson.loads(text.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            f"the file is not valid JSON: {error}",
            advice="Correct the file, or send NDJSON: one object per line.",
        ) from error
    for number, row in enumerate(rows, start=1):
        yield number, row, None


def _csv(file: IO[bytes]) -> Iterator[DecodedRow]:
    # Wrong bytes become lone surrogates, which the reading of the row refuses with its line.
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.DictReader(text, strict=True)
    try:
        if not reader.fieldnames:
            raise InvalidInput(
                "the CSV file has no header line",
                advice="Begin the file with a line of column names.",
            )
        for row in reader:
            if None in row:
                yield reader.line_num, None, "the row has more cells than the header"
            else:
                yield reader.line_num, _cells(row), None
    except csv.Error as error:
        raise InvalidInput(
            f"line {reader.line_num} is not valid CSV: {error}", advice="Correct the line."
        ) from error
    finally:
        text.detach()


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose cells that hold a JSON list or object are read as such, e.g. messages."""
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: str | None) -> object:
    if value and value[0] in "[{":
        try:
            return orjson.loads(value.encode("utf-8", "surrogateescape"))
        except orjson.JSONDecodeError:
            return value
    return value


def _parquet(file: IO[bytes]) -> Iterator[DecodedRow]:
    try:
        # Loaded only for a Parquet file: it costs more than the rest of the service's start.
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "this service cannot read Parquet", advice="Install pyarrow or send NDJSON."
        ) from error
    number = 0
    try:
        table = parquet.ParquetFile(file)
        groups = [table.metadata.row_group(n) for n in range(table.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        if unpacked > LARGEST_UNPACKED:
            raise TooLarge(
                f"the file has {unpacked // MIB} MiB when unpacked; the limit is "
                f"{LARGEST_UNPACKED // MIB} MiB",
                advice="Split the file and send the parts one after another.",
            )
        for batch in table.iter_batches(batch_size=500):
            for row in batch.to_pylist():
                number += 1
                yield number, row, None
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInput(
            f"the file is not valid Parquet: {error}",
            advice="Write the file again, or send NDJSON.",
        ) from error
