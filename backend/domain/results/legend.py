"""What the numbers and marks of tables mean, of those that the tables have; pure."""

from collections.abc import Callable, Iterable, Sequence

from backend.domain.results.layout import seeds_of
from backend.domain.results.words import has_points
from backend.domain.seeds.estimates import FEWEST_FOR_INTERVAL
from backend.schemas.metrics.results import ResultsCell, ResultsRow, ResultsTable


def legend_of(tables: Iterable[ResultsTable], *, is_drawn: bool) -> str:
    """Explain the cells of these tables; `is_drawn`: intervals are drawn too, and seeds as dots.

    A table in a paper or an issue stands alone, so it explains nothing that it has not.
    """
    rows = [row for table in tables for row in table.rows]
    cells = [cell for row in rows for cell in row.cells if cell is not None]
    if not cells:
        return ""
    own = [_mean(cells)]
    own += [words for is_there, words in _SENTENCES if any(map(is_there, cells))]
    if any(cell.interval_of == "seeds" for cell in cells):
        own.append(_over_seeds(cells, is_drawn=is_drawn))
    if any(cell.interval_of == "prompts" for cell in cells):
        own.append(_over_prompts(is_drawn=is_drawn))
    if not is_drawn and any(map(has_points, cells)):
        own.append("Parentheses hold the values of the seeds one by one.")
    if not is_drawn and any(map(_is_start_of_many, rows)):
        own.append(
            "A start is one model, so it has no number of seeds; its cells say how many seeds "
            "measured it."
        )
    own += [words for is_there, words in _MARKS if any(map(is_there, cells))]
    return " ".join(own)


def _is_start_of_many(row: ResultsRow) -> bool:
    """Whether a row is one model that several seeds began with and measured."""
    many = any(cell is not None and cell.n > 1 for cell in row.cells)
    return row.is_start and not seeds_of(row) and many


def _mean(cells: Iterable[ResultsCell]) -> str:
    of = "the mean of a row's seeds" if any(cell.n > 1 for cell in cells) else "a value"
    return f"A cell has {of} and its [95 % interval]."


def _over_seeds(cells: Sequence[ResultsCell], *, is_drawn: bool) -> str:
    drawn = " (solid line, each seed a dot)" if is_drawn else ""
    none = any(cell.is_iqm and cell.interval is None for cell in cells)
    agree = "; if most of ten or more seeds agree, there is none" if none else ""
    few = any(cell.n == FEWEST_FOR_INTERVAL and cell.interval_of == "seeds" for cell in cells)
    chance = "; of three seeds it may be narrow by chance" if few else ""
    return (
        f"Of three or more seeds that differ, the interval is a t interval over the seeds{drawn}"
        f"{agree}. It says nothing about other prompts: all seeds answered the same ones{chance}."
    )


def _over_prompts(*, is_drawn: bool) -> str:
    marked = "dashed line, marked “by prompt”" if is_drawn else "marked “by prompt”"
    fewer = "Of fewer than three seeds, or seeds that all agree, the interval is"
    return f"{fewer} over prompts ({marked}) and says nothing about other seeds."


_Sentence = tuple[Callable[[ResultsCell], bool], str]

_SENTENCES: tuple[_Sentence, ...] = (
    (
        lambda cell: cell.is_iqm,
        "From ten seeds on it has the interquartile mean, marked “IQM of n seeds”.",
    ),
)
_MARKS: tuple[_Sentence, ...] = (
    (
        lambda cell: bool(cell.standing),
        "Where a cell names a step, a seed has not succeeded, or its seeds were measured at other "
        "steps than others; it has no arrow.",
    ),
    (
        lambda cell: cell.change is not None and cell.change.is_better,
        "An arrow marks what is better than the start by the 95 % interval of the difference.",
    ),
    (
        lambda cell: cell.is_best,
        "Bold marks what is better than every other row by more than chance, corrected for the "
        "number of pairs of groups.",
    ),
)
