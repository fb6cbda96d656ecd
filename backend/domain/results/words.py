"""What captions and remarks of tables say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.results.measurements import Measurement
from backend.domain.results.rows import Row
from backend.domain.seeds.ends import listed
from backend.domain.verdict.words import alike, as_set, shown
from backend.plural import plural
from backend.schemas.metrics.results import ResultsAnswer, ResultsCell, ResultsTable

_MOST_SAID = 4
_MOST_POINTS = 9
_SHORT_HASH = 12
_BEFORE = "by the runs themselves before their first step"


@dataclass(frozen=True)
class CellWords:
    """What a cell says: its value, interval, seeds one by one, and what to know of these."""

    value: str
    interval: str
    points: str
    note: str


def cell_words(cell: ResultsCell, seeds: int) -> CellWords:
    """Write what a cell says. `seeds`: how many its row has, 0 for a model that no run made."""
    ends = [] if cell.interval is None else [cell.interval.low, cell.interval.high]
    own = [point.value for point in cell.points] if has_points(cell) else []
    # With one number of decimals, so that they can be compared at a glance.
    beside = [*ends, *own]
    value, *others = alike(cell.value, *beside) if beside else [shown(cell.value)]
    low_high, each = others[: len(ends)], others[len(ends) :]
    interval = f"[{', '.join(low_high)}]" if ends else ""
    if ends and ends[0] == ends[1]:
        interval = "(no spread)"
    notes = [
        f"IQM of {cell.n} seeds" if cell.is_iqm else "",
        f"{cell.n} of {seeds} seeds" if cell.n < seeds else "",
        f"{cell.n} seeds" if cell.n > max(seeds, 1) and not cell.is_iqm else "",
        "by prompt" if cell.interval_of == "prompts" else "",
        cell.standing,
    ]
    points = f"({', '.join(each)})" if each else ""
    return CellWords(value, interval, points, ", ".join(one for one in notes if one))


def has_points(cell: ResultsCell) -> bool:
    """Whether the seeds of a cell are told one by one."""
    return 1 < len(cell.points) <= _MOST_POINTS


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


def by_themselves(own: Mapping[str, Measurement], outputs: Mapping[str, int]) -> str:
    """When runs measured themselves, and how many have left the weights of an earlier step.

    `outputs`: the step of these weights by run, where known. Without any it was the start alone.
    """
    if not own:
        return f"measured {_BEFORE}"
    found = {run: one.step for run, one in own.items()}
    steps = {run: step for run, step in found.items() if step is not None}
    at = sorted(set(steps.values()))
    when = "at their newest evaluation"
    if len(steps) == len(own):
        when = f"at steps {listed(at)}" if len(at) > 1 else f"at step {at[0]:,}"
    are_older = [outputs[run] < step for run, step in steps.items() if run in outputs]
    return f"measured by the runs themselves {when}{_how_old(are_older)}"


def _how_old(are_older: Sequence[bool]) -> str:
    """How many outputs are of an earlier step; of none known, that they may be."""
    n = sum(are_older)
    if not are_older:
        return " (not always the weights that a run has left)"
    is_said = "is" if n == 1 else "are"
    of = f"{n} of {plural(len(are_older), 'output')} {is_said} of an earlier step"
    return f" ({of})" if n else ""


def start_words(n: int, labels: Sequence[str]) -> str:
    """Say that runs measured their start with so many seeds; on these sets, if not on all."""
    once = ", once for each seed" if n > 1 else ""
    start = f"On {', '.join(labels)} the start" if labels else "The start"
    return f" {start} was measured {_BEFORE}{once}."


def unmoved_words(groups: Sequence[tuple[str, int, int]]) -> str:
    """Say which groups have left the model that they began with; empty for none.

    `groups`: the name of each, how many of its seeds have, and how many it has.
    """
    if not groups:
        return ""
    said = [f"{f'{k} of {n} seeds of ' if n > 1 else ''}`{name}`" for name, k, n in groups]
    they, their = ("they", "their") if sum(k for _, k, _ in groups) > 1 else ("it", "its")
    outputs = "; ".join(first_of(said))
    return (
        f"The model that {they} began with is the output of {outputs}: {their} held-out prompts "
        "chose step 0."
    )


def sampled(said: Mapping[str, Any]) -> str:
    """How responses were sampled: how many to each prompt, how long, how freely."""
    n = said["samples_per_prompt"]
    parts = [
        f"{plural(n, 'response')} to each prompt",
        f"temperature {_number(said['temperature'])}",
    ]
    if said["top_p"] not in (None, 1, 1.0):
        parts.append(f"top-p {_number(said['top_p'])}")
    if said["max_new_tokens"] is not None:
        parts.append(f"at most {_number(said['max_new_tokens'])} tokens")
    if said.get("overlong") is not None:
        parts.append("with the over-long penalty")
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
    counts = {missing for _, missing in short}
    most = f"{'up to ' if len(counts) > 1 else ''}{max(counts)}"
    seeds = f"{most} of {n} seeds of " if n > 1 else ""
    where = "" if len(short) == len(columns) else f" on {', '.join(name for name, _ in short)}"
    return f"{seeds}`{row.name}`{where}"


def _number(value: Any) -> str:
    return as_set(value) if isinstance(value, int | float) else str(value)
