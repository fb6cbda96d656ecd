"""What captions and remarks of tables say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.results.measurements import Measurement
from backend.domain.results.rows import Row
from backend.domain.verdict.words import between, shown
from backend.schemas.metrics.results import ResultsAnswer, ResultsCell, ResultsTable

LEGEND = (
    "A cell has the mean of a row's seeds and its [95 % interval]; from ten seeds on it has the "
    "interquartile mean, marked “IQM of n seeds”. Of three or more seeds that differ, the "
    "interval is a t interval over the seeds (solid line, each seed a dot); if most of ten or more "
    "seeds agree, there is none. Of fewer seeds, or seeds that all agree, it is over prompts "
    "(dashed line, marked “by prompt”) and says nothing about other seeds. An arrow marks what is "
    "better than the start by the 95 % interval of the difference. Bold marks what is better than "
    "every other row by more than chance, corrected for the number of pairs of groups."
)
_MOST_SAID = 4
_MOST_POINTS = 9
_SHORT_HASH = 12


@dataclass(frozen=True)
class CellWords:
    """What a cell says: its value, interval, seeds one by one, and what to know of these."""

    value: str
    interval: str
    points: str
    note: str


def cell_words(cell: ResultsCell, seeds: int) -> CellWords:
    """Write what a cell says. `seeds`: how many its row has, 0 for a model that no run made."""
    interval = "" if cell.interval is None else between(cell.interval.low, cell.interval.high)
    own = [shown(point.value) for point in cell.points]
    points = f"({', '.join(own)})" if 1 < len(own) <= _MOST_POINTS else ""
    notes = [
        f"IQM of {cell.n} seeds" if cell.is_iqm else "",
        f"{cell.n} of {seeds} seeds" if cell.n < seeds else "",
        "by prompt" if cell.interval_of == "prompts" else "",
    ]
    return CellWords(shown(cell.value), interval, points, ", ".join(one for one in notes if one))


def title_of(table: ResultsTable) -> str:
    """The name of a table with the set that it is of."""
    return f"{table.name}: `{table.set}`" if table.set else table.name


def provenance_of(answer: ResultsAnswer) -> str:
    """Which code and which configs the numbers come from."""
    commits = [one[:_SHORT_HASH] for one in answer.commits]
    code = "The commit of the code was not recorded"
    if len(commits) == 1:
        code = f"Commit {commits[0]}"
    if len(commits) > 1:
        code = f"Made by {len(commits)} versions of the code: commits {', '.join(commits)}"
    return f"{code}; configs {answer.configs_sha256[:_SHORT_HASH] or 'none'}."


def sampling_of(one: Measurement) -> str:
    """How the responses were sampled, and by whom."""
    by = "measured by the runs themselves at their newest evaluation, " if one.is_own else ""
    return by + sampled(one.sampling)


def sampled(said: Mapping[str, Any]) -> str:
    """How responses were sampled: how many to each prompt, how long, how freely."""
    n = said["samples_per_prompt"]
    parts = [
        f"{n} response{'' if n == 1 else 's'} to each prompt",
        f"temperature {_number(said['temperature'])}",
    ]
    if said["top_p"] not in (None, 1, 1.0):
        parts.append(f"top-p {_number(said['top_p'])}")
    if said["max_new_tokens"] is not None:
        parts.append(f"at most {_number(said['max_new_tokens'])} tokens")
    return ", ".join(parts)


def missing_of(
    rows: Sequence[Row], cells: Sequence[Sequence[ResultsCell | None]], columns: Sequence[str]
) -> str:
    """What was not measured, row by row, in one line."""
    said = [_missing(row, own, columns) for row, own in zip(rows, cells, strict=True)]
    found = [one for one in said if one]
    if not found:
        return ""
    return f"Not measured: {'; '.join(first_of(found))}."


def first_of(said: Sequence[str]) -> list[str]:
    """The first few of these, and how many more there are."""
    rest = len(said) - _MOST_SAID
    return [*said[:_MOST_SAID], *([f"and {rest} more"] if rest > 0 else [])]


def _missing(row: Row, cells: Sequence[ResultsCell | None], columns: Sequence[str]) -> str:
    n = len(row.subjects)
    short = [
        (name, n - (0 if cell is None else cell.n))
        for name, cell in zip(columns, cells, strict=True)
        if cell is None or cell.n < n
    ]
    if not short:
        return ""
    if len(short) == len(columns) and all(missing == n for _, missing in short):
        return f"`{row.name}`"
    fewest = max(missing for _, missing in short)
    seeds = f"{fewest} of {n} seeds of " if n > 1 else ""
    where = "" if len(short) == len(columns) else f" on {', '.join(name for name, _ in short)}"
    return f"{seeds}`{row.name}`{where}"


def _number(value: Any) -> str:
    return shown(float(value)) if isinstance(value, int | float) else str(value)
