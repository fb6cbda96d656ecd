"""Tables of results as CSV (RFC 4180): a line for each cell, numbers to their last digit."""

import json
from collections.abc import Iterator, Sequence

from backend.domain.results.layout import seeds_of
from backend.schemas.metrics.results import ResultsAnswer, ResultsCell, ResultsColumn, ResultsRow
from backend.schemas.metrics.verdicts import Span

Cell = str | float | int | bool | None

HEAD = (
    "table", "set", "group", "is_start", "config", "config_sha256", "seeds", "column", "metric",
    "unit", "n", "statistic", "value", "low", "high", "interval_of", "values", "change",
    "change_low", "change_high", "is_better_than_start", "is_best", "runs", "measured_by",
    "trained_on", "chose_checkpoints", "standing",
)  # fmt: skip
# What a spreadsheet reads as the beginning of a formula or a command.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_of(answer: ResultsAnswer) -> str:
    """All cells that were measured, table by table."""
    lines = [
        [
            table.id, table.set, *_row(row), column.name, column.metric, column.unit, *_cell(cell),
            *_seen(column), cell.standing,
        ]
        for table in answer.tables
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell is not None
    ]  # fmt: skip
    return "".join(f"{','.join(map(_written, line))}\r\n" for line in (HEAD, *lines))


def _row(row: ResultsRow) -> Iterator[Cell]:
    yield from (row.name, row.is_start, json.dumps(row.config, sort_keys=True))
    yield from (row.config_sha256, seeds_of(row))


def _seen(column: ResultsColumn) -> Sequence[Cell]:
    """Whether runs were trained on its prompts, and chose by them; None where it is not known."""
    otherwise = None if column.is_unchecked else False
    return [column.is_trained or otherwise, column.has_chosen or otherwise]


def _cell(cell: ResultsCell) -> Sequence[Cell]:
    change = cell.change
    by = dict.fromkeys(run for point in cell.points for run in point.measured_by)
    return [
        cell.n, "IQM" if cell.is_iqm else "mean",
        cell.value, *_ends(cell.interval), cell.interval_of,
        " ".join(repr(point.value) for point in cell.points),
        None if change is None else change.value,
        *_ends(None if change is None else change.interval),
        None if change is None else change.is_better,
        cell.is_best, " ".join(point.run or "" for point in cell.points).strip(), " ".join(by),
    ]  # fmt: skip


def _ends(interval: Span | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _written(cell: Cell) -> str:
    """A number as it is, a text never as a formula, nothing as nothing."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        return repr(cell)
    harmless = f"'{cell}" if cell.startswith(_FORMULA) and not _is_number(cell) else cell
    if any(one in harmless for one in ",\"\r\n'"):
        return '"' + harmless.replace('"', '""') + '"'
    return harmless


def _is_number(text: str) -> bool:
    """Whether a text is a number, or several with spaces between, as the values of seeds are."""
    try:
        return all(isinstance(float(part), float) for part in text.split())
    except ValueError:
        return False
