"""The rows of a CSV file with a header line."""

import csv
import io
from collections.abc import Iterator
from typing import IO, Any

import orjson

from backend.errors import InvalidInput
from backend.uploads import limits

# Of the whole process; a longer cell would be refused by the length of its row all the same.
csv.field_size_limit(limits.LARGEST_ROW)


def decode(file: IO[bytes]) -> Iterator[tuple[int, object, str | None]]:
    """The rows with their line numbers.

    Raises InvalidInput for text that is no CSV, TooLarge for one with too many columns.
    """
    # Wrong bytes become lone surrogates, which the reading of the row refuses with its line.
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    lines = _Lines(text)
    reader = csv.DictReader(lines, strict=True)
    try:
        _check_header(reader.fieldnames)
        lines.begin_row()
        for row in reader:
            lines.begin_row()
            if None in row:
                yield reader.line_num, None, _too_many(row, len(reader.fieldnames or ()))
            else:
                yield reader.line_num, _cells(row), None
    except csv.Error as error:
        raise InvalidInput(
            f"line {reader.line_num} is not valid CSV: {error}", advice="Correct the line."
        ) from error
    finally:
        text.detach()


def _too_many(row: dict[Any, Any], of_header: int) -> str:
    return (
        f"the row has {of_header + len(row[None])} cells, but the header has {of_header}; put "
        "cells that hold commas in quotation marks"
    )


class _Lines:
    """The lines of a text, which refuses a row that is too long before it is held as a whole."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._number = 0
        self._size = 0

    def begin_row(self) -> None:
        """Count the characters of the next row from here on."""
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(limits.LARGEST_ROW + 1)
        if not line:
            raise StopIteration
        self._number += 1
        # Any number of empty lines may stand between two rows.
        self._size += len(line.rstrip("\r\n"))
        if self._size > limits.LARGEST_ROW:
            raise InvalidInput(
                f"the row at line {self._number} is longer than "
                f"{limits.LARGEST_ROW // limits.MIB} MiB",
                advice='Shorten the record, and look for a " that is never closed.',
            )
        return line


def _check_header(names: object) -> None:
    if not isinstance(names, list) or not names:
        raise InvalidInput(
            "the CSV file has no header line",
            advice="Begin the file with a line of column names.",
        )
    limits.check_columns(len(names))


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
