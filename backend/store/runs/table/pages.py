"""Pages of the table of runs: filtered, sorted by any column, each run once.

A page is found by numbers first, from facts and the small columns of runs; whole runs are read for
the page alone. The cursor has what the last run of the page was sorted by.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from backend.domain.filters.fields import ARCHIVED, METRICS, Key
from backend.domain.filters.tree import EVERYTHING, Tree, mentions
from backend.errors import InvalidInput
from backend.schemas.numbers import LARGEST
from backend.store import dialect
from backend.store.paging import Page
from backend.store.runs.table.conditions import COLUMNS, Compiler, fact_of, number_of
from backend.store.tables.runs import Experiment, Run, RunFact


class Sort(NamedTuple):
    """What runs are sorted by; those without a value come last, equal ones newest first."""

    key: Key
    is_descending: bool = False


NEWEST_FIRST = Sort(Key("created"), is_descending=True)


@dataclass(frozen=True)
class RunFilter:
    """Which runs a list shows; empty = no restriction, `project_ids` None = all projects.

    Archived runs are shown if `archived` says so or `tree` asks for them, and those that are named.
    """

    run_ids: Sequence[str] = ()
    project_ids: Sequence[str] | None = None
    experiment_id: str | None = None
    states: Sequence[str] = ()
    methods: Sequence[str] = ()
    tree: Tree = EVERYTHING
    archived: bool = False


def find(
    session: Session, wanted: RunFilter, page: Page, sort: Sort = NEWEST_FIRST
) -> tuple[Sequence[Run], str | None]:
    """One page of runs, and the cursor of the next, None at the end.

    Raises InvalidInput for a cursor that no page in this order has given out.
    """
    compiler = Compiler(sqlite=dialect.is_sqlite(session))
    place = _Place(sort, sqlite=dialect.is_sqlite(session))
    statement = select(Run.number, *place.values).select_from(Run)
    statement = place.joined(statement).where(*_conditions(compiler, wanted))
    if page.cursor:
        statement = statement.where(place.beyond(page.cursor))
    ordered = statement.order_by(*place.order).limit(page.limit + 1)
    found = session.execute(ordered).all()
    rows = _runs(session, [row[0] for row in found[: page.limit]])
    is_last = len(found) <= page.limit
    return rows, None if is_last else place.cursor(list(found[page.limit - 1][1:]))


def _runs(session: Session, numbers: Sequence[int]) -> list[Run]:
    rows = session.scalars(select(Run).where(Run.number.in_(numbers)))
    by_number = {run.number: run for run in rows}
    return [by_number[number] for number in numbers]


def _conditions(compiler: Compiler, wanted: RunFilter) -> list[ColumnElement[bool]]:
    found = [compiler.condition(wanted.tree)]
    if wanted.run_ids:
        found.append(Run.id.in_(wanted.run_ids))
    elif wanted.archived:
        found.append(Run.archived_at.is_not(None))
    elif not mentions(wanted.tree, ARCHIVED):
        found.append(Run.archived_at.is_(None))
    if wanted.project_ids is not None:
        found.append(Run.project_id.in_(wanted.project_ids))
    if wanted.experiment_id is not None:
        found.append(Run.experiment_id == wanted.experiment_id)
    if wanted.states:
        found.append(Run.state.in_(wanted.states))
    if wanted.methods:
        found.append(Run.method.in_(wanted.methods))
    return found


class _Part(NamedTuple):
    """A column of an order, never NULL, and whether it descends."""

    column: ColumnElement[Any]
    is_descending: bool
    kind: type[float] | type[str]


class _Place:
    """Where a run stands in an order: columns that tell any two runs apart."""

    def __init__(self, sort: Sort, *, sqlite: bool) -> None:
        self._sort, self._sqlite = sort, sqlite
        self._fact = aliased(RunFact)
        down = sort.is_descending
        self._parts: list[_Part] = []
        for column, kind in self._columns():
            is_missing = case((column.is_(None), literal(1)), else_=literal(0))
            self._parts.append(_Part(is_missing, False, float))
            self._parts.append(_Part(func.coalesce(column, literal(kind())), down, kind))
        # At last, and for the time of creation alone.
        self._parts.append(_Part(Run.number.expression, down or bool(self._parts), float))

    @property
    def values(self) -> list[ColumnElement[Any]]:
        """What the cursor keeps of the last run."""
        return [part.column.label(f"place_{i}") for i, part in enumerate(self._parts)]

    @property
    def order(self) -> list[ColumnElement[Any]]:
        """Write the parts of ORDER BY."""
        return [
            part.column.desc() if part.is_descending else part.column.asc() for part in self._parts
        ]

    def joined(self, statement: Select[Any]) -> Select[Any]:
        """The statement with the table that has the column, if it is not a run's own."""
        key = self._sort.key
        if key.name:
            fact = fact_of(key) if key.field in METRICS else str(key)
            of_run = and_(self._fact.key == fact, self._fact.run == Run.number)
            return statement.outerjoin(self._fact, of_run)
        if key.field == "experiment":
            return statement.outerjoin(Experiment, Experiment.id == Run.experiment_id)
        return statement

    def cursor(self, values: Sequence[Any]) -> str:
        """The cursor behind a run with these `values`."""
        return base64.urlsafe_b64encode(json.dumps(list(values)).encode()).decode().rstrip("=")

    def beyond(self, cursor: str) -> ColumnElement[bool]:
        """The runs behind a cursor. Raises InvalidInput for one of another list or order."""
        values = _decoded(cursor)
        if len(values) != len(self._parts) or not all(
            _is_a(value, part.kind) for value, part in zip(values, self._parts, strict=True)
        ):
            raise _not_issued(cursor)
        found: ColumnElement[bool] = false()
        for part, value in reversed(list(zip(self._parts, values, strict=True))):
            column, last = part.column, literal(value)
            is_behind = column < last if part.is_descending else column > last
            found = or_(is_behind, and_(column == last, found))
        return found

    def _columns(self) -> list[tuple[ColumnElement[Any], type[float] | type[str]]]:
        """The columns to sort by, with what they hold."""
        key = self._sort.key
        if key.field in METRICS:
            value: ColumnElement[Any] = getattr(self._fact, number_of(key).key)
            return [(value, float)]
        if key.field == "config":
            number: ColumnElement[Any] = self._fact.number.expression
            # In lower case already, and in the order of its characters.
            return [(number, float), (self._fact.text.expression, str)]
        match key.field:
            case "created":
                return []
            case "experiment":
                return [(self._as_text(Experiment.name), str)]
            case "name" | "state" | "method" | "verdict":
                return [(self._as_text(COLUMNS[key.field]), str)]
            case "step" | "attempt":
                return [(COLUMNS[key.field], float)]
            case "started" | "finished":
                return [(self._as_number(COLUMNS[key.field]), float)]
        raise InvalidInput(
            f"runs cannot be sorted by `{key}`",
            advice="Sort by created, started, finished, name, experiment, state, method, verdict, "
            "step, attempt, or by a key such as config.kl.coef or best.eval/reward.",
        )

    def _as_text(self, column: Any) -> ColumnElement[Any]:
        """Compare text whatever its case, in the same order on both databases."""
        if self._sqlite:
            lowered: ColumnElement[Any] = func.unicode_lower(column)
            return lowered
        return func.lower(column).collate("C")

    def _as_number(self, time: Any) -> ColumnElement[Any]:
        if self._sqlite:
            days: ColumnElement[Any] = func.julianday(time)
            return days
        return cast(func.extract("epoch", time), Float)


def _decoded(cursor: str) -> list[Any]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        found = json.loads(text)
    except (ValueError, binascii.Error, RecursionError):
        raise _not_issued(cursor) from None
    return found if isinstance(found, list) else []


def _is_a(value: Any, kind: type[float] | type[str]) -> bool:
    if kind is str:
        return isinstance(value, str) and "\0" not in value
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def _not_issued(cursor: str) -> InvalidInput:
    return InvalidInput(
        f"the cursor {cursor[:40]!r} was not issued by this list in this order",
        advice="Pass the next_cursor of the previous page, or leave the cursor out.",
    )
