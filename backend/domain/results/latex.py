"""Tables of results as LaTeX with booktabs. No text of a config or name is a command."""

from collections.abc import Sequence

from backend.domain.results.layout import grid_of, sentence_of
from backend.domain.results.legend import legend_of
from backend.domain.results.words import cell_words, provenance_of, title_of
from backend.schemas.metrics.results import ResultsAnswer, ResultsCell, ResultsTable

_ESCAPED = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "−": "$-$", "–": "--", "…": r"\ldots{}", "↑": r"$\uparrow$",
    **{one: f"\\{one}" for one in "{}$&#_%"},
}  # fmt: skip
_HEAD = "% Needs \\usepackage{booktabs} and, for quotation marks, \\usepackage[T1]{fontenc}."


def latex_of(answer: ResultsAnswer) -> str:
    """A table environment each; the caption says what seeds and intervals are, and whose code."""
    tables = [_table(table, answer) for table in answer.tables]
    return "\n\n".join([_HEAD, *tables]) + "\n"


def _table(table: ResultsTable, answer: ResultsAnswer) -> str:
    said = [
        f"{title_of(table)}.", table.caption, table.missing, *table.remarks,
        legend_of([table], is_drawn=False), provenance_of(answer),
    ]  # fmt: skip
    head, *rows = grid_of(table, corner="", nothing="--", text=text, cell=_cell)
    lines = [
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\caption{{{sentence(' '.join(part for part in said if part))}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        _line(head),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    # After the end of a line LaTeX takes a bracket or a star for its option.
    begin = "{}" if cells[0].startswith(("[", "*")) else ""
    return f"{begin}{' & '.join(cells)} \\\\"


def _cell(cell: ResultsCell, seeds: int) -> str:
    words = cell_words(cell, seeds)
    value = rf"\textbf{{{text(words.value)}}}" if cell.is_best else text(words.value)
    arrow = r"$^{\uparrow}$" if cell.change is not None and cell.change.is_better else ""
    small = " ".join(text(part) for part in (words.interval, words.points, words.note) if part)
    return f"{value}{arrow}" + (rf" {{\scriptsize {small}}}" if small else "")


def text(value: str) -> str:
    """A text that is set as it is, on one line."""
    return "".join(_ESCAPED.get(one, one) for one in " ".join(value.split()) if one.isprintable())


def sentence(value: str) -> str:
    """A sentence in which what stands between backticks is code; the rest is text."""
    return sentence_of(value, text=text, code=lambda part: rf"\texttt{{{text(part)}}}")
