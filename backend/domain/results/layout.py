"""How tables of results are laid out, whatever markup they are written in."""

from collections.abc import Callable
from typing import TypeAlias

from backend.schemas.metrics.results import (
    ResultsCell,
    ResultsColumn,
    ResultsRow,
    ResultsTable,
)

# How a plain text is written.
Write: TypeAlias = Callable[[str], str]


def grid_of(
    table: ResultsTable,
    *,
    corner: str,
    nothing: str,
    text: Write,
    cell: Callable[[ResultsCell, int], str],
) -> list[list[str]]:
    """The head of a table and its rows. `cell` is told how many seeds the row has."""
    head = [corner, "Seeds", *(text(heading_of(table, one)) for one in table.columns)]
    rows = [
        [text(row.name) + (" (start)" if row.is_start else ""), str(seeds_of(row) or nothing)]
        + [nothing if one is None else cell(one, seeds_of(row)) for one in row.cells]
        for row in table.rows
    ]
    return [head, *rows]


def seeds_of(row: ResultsRow) -> int:
    """How many seeds made the models of a row; 0 for a model that no run made, or for one start.

    That others began with one model says nothing of seeds: its cells say with how many they
    measured it.
    """
    return 0 if row.is_start and len(row.runs) == 1 else len(row.runs)


def heading_of(table: ResultsTable, column: ResultsColumn) -> str:
    """The name of a column; where sets stand side by side, with what was seen in training."""
    mark = "" if table.set else _mark_of(column)
    return f"{column.name} ({mark})" if mark else column.name


def _mark_of(column: ResultsColumn) -> str:
    """What the runs have seen of the prompts of a column, if it is known; empty for nothing."""
    if column.is_trained:
        return "partly trained on" if column.is_partly else "trained on"
    if column.has_chosen:
        return "checkpoints chosen on it"
    return "not checked for training prompts" if column.is_unchecked else ""


def sentence_of(value: str, *, text: Write, code: Write) -> str:
    """A sentence in which what stands between backticks is code; the rest is text."""
    parts = " ".join(value.split()).split("`")
    return "".join(code(part) if i % 2 else _within(part, text) for i, part in enumerate(parts))


def _within(part: str, text: Write) -> str:
    """A part of a sentence, with the spaces at its ends."""
    begin = " " if part.startswith(" ") else ""
    end = " " if part.strip() and part.endswith(" ") else ""
    return f"{begin}{text(part)}{end}"
