"""Tables of results as Markdown. No text of a config or name ends a cell, a row or the table."""

import re
from collections.abc import Sequence

from backend.domain.results.layout import grid_of, sentence_of
from backend.domain.results.legend import legend_of
from backend.domain.results.words import cell_words, provenance_of, title_of
from backend.schemas.metrics.results import ResultsAnswer, ResultsCell, ResultsTable

# An @ is one where GitHub would see a person: not within a word, as in pass@1.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&]|(?<!\w)@)")


def markdown_of(answer: ResultsAnswer) -> str:
    """All tables with captions, what is missing, and what the marks mean."""
    parts = [part for table in answer.tables for part in _table(table)]
    if answer.missing:
        parts.append(sentence(answer.missing))
    if answer.tables:
        legend = legend_of(answer.tables, is_drawn=False)
        parts.append(" ".join((sentence(legend), sentence(provenance_of(answer)))))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: ResultsTable) -> list[str]:
    remarks = [sentence(one) for one in (table.missing, *table.remarks) if one]
    return [f"### {sentence(title_of(table))}", sentence(table.caption), _grid(table), *remarks]


def _grid(table: ResultsTable) -> str:
    head, *rows = grid_of(table, corner="Group", nothing="–", text=text, cell=_cell)
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(_line(cells) for cells in (head, rule, *rows))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: ResultsCell, seeds: int) -> str:
    words = cell_words(cell, seeds)
    value = f"**{words.value}**" if cell.is_best else words.value
    arrow = " ↑" if cell.change is not None and cell.change.is_better else ""
    return " ".join(
        part for part in (value + arrow, words.interval, words.points, words.note) if part
    )


def text(value: str) -> str:
    """A text that is shown as it is: one line, no markup, no link."""
    escaped = _SPECIAL.sub(r"\\\1", " ".join(value.split()))
    return re.sub(r"(?i)://|www\.", lambda found: f"{found[0][:-1]}\\{found[0][-1]}", escaped)


def sentence(value: str) -> str:
    """A sentence in which what stands between backticks is code; the rest is text."""
    # Within a table a bar would end the cell even in code; sentences stand outside of tables.
    return sentence_of(value, text=text, code=lambda part: f"`{part}`")
