"""The tables of a group of runs: each draft with its cells, rows in order, what is not there.

Called by `backend.store.metrics.results`; pure.
"""

import hashlib
from collections.abc import Sequence

from backend.domain.results.cells import column_of_cells
from backend.domain.results.drafts import Column, Draft, drafts_of
from backend.domain.results.given import Given
from backend.domain.results.legend import legend_of
from backend.domain.results.measurements import ITSELF, metric_on
from backend.domain.results.rows import Row
from backend.domain.results.words import missing_of
from backend.schemas.metrics.results import (
    ResultsAnswer,
    ResultsCell,
    ResultsColumn,
    ResultsRow,
    ResultsTable,
    TableKind,
)

# What a table needs, where it is not there.
_WANTED = {
    TableKind.SCORE: "score and length (no `evaluate` run of these models has ended)",
    TableKind.BREAKDOWN: "breakdowns (needs `breakdown` in an `evaluate` run)",
    TableKind.PASSES: "pass@k (needs several samples to a prompt)",
    TableKind.SETS: "named sets (needs groups measured on two sets that were not trained on and "
    "chose no checkpoint)",
}


def results(given: Given) -> ResultsAnswer:
    """All tables that have data, and in a line which have none."""
    tables = [table for draft in drafts_of(given) if (table := _filled(draft, given)).rows]
    shas = sorted({row.sha256 for row in given.rows if row.sha256 is not None})
    return ResultsAnswer(
        tables=tables,
        legend=legend_of(tables, is_drawn=True),
        missing=" ".join(part for part in (_not_there(tables), given.missing) if part),
        commits=list(given.commits),
        configs_sha256=hashlib.sha256("\n".join(shas).encode()).hexdigest() if shas else "",
    )


def _filled(draft: Draft, given: Given) -> ResultsTable:
    """The table with its cells: starts, then groups by the column that orders them."""
    asked = [row for row in given.rows if row.answers or draft.kind == TableKind.RUNS]
    by_column = [
        column_of_cells(asked, one.parts, given.measured, one.direction, has_best=one.is_unseen)
        for one in draft.columns
    ]
    cells = list(zip(*by_column, strict=True))
    sign = -1 if draft.columns[draft.by].direction != "lower" else 1

    def order(place: int) -> tuple[bool, bool, float]:
        first = cells[place][draft.by]
        return (not asked[place].is_start, first is None, sign * first.value if first else 0.0)

    places = [place for place, own in enumerate(cells) if any(own)]
    rows = [_row(asked[place], cells[place]) for place in sorted(places, key=order)]
    columns = [
        ResultsColumn(
            name=one.name, metric=_metric_of(one), unit=one.unit, direction=one.direction,
            is_mean=one.is_mean, is_trained=one.is_trained, is_partly=one.is_partly,
            has_chosen=one.has_chosen, is_unchecked=one.is_unchecked,
        )
        for one in draft.columns
    ]  # fmt: skip
    return ResultsTable(
        id=draft.id, kind=draft.kind, name=draft.name, set=draft.set, caption=draft.caption,
        columns=columns, rows=rows, remarks=list(draft.remarks),
        missing=missing_of(asked, cells, [one.name for one in draft.columns])
        if draft.kind != TableKind.RUNS else "",
    )  # fmt: skip


def _row(row: Row, cells: Sequence[ResultsCell | None]) -> ResultsRow:
    return ResultsRow(
        name=row.name,
        is_start=row.is_start,
        runs=list(row.subjects) if row.is_group else [],
        config=dict(row.config),
        config_sha256=row.sha256,
        cells=list(cells),
    )


def _metric_of(column: Column) -> str:
    if column.is_mean:
        return ""
    prompts, measure = column.parts[0]
    return measure if prompts == ITSELF else metric_on(prompts, measure)


def _not_there(tables: Sequence[ResultsTable]) -> str:
    there = {table.kind for table in tables}
    absent = [words for kind, words in _WANTED.items() if kind not in there]
    return f"No table of {', of '.join(absent)}." if absent else ""
