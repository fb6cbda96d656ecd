"""Filters as SQL: a tree of `backend.domain.filters` becomes one condition on runs.

Every part is true or false and never NULL, so that Not means what it says; every value is a bound
parameter.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.orm import InstrumentedAttribute

from backend.domain.direction import is_lower_better
from backend.domain.filters.fields import METRICS, Key
from backend.domain.filters.tree import (
    And,
    Compares,
    Contains,
    During,
    Equals,
    Has,
    Not,
    Or,
    Term,
    Tree,
)
from backend.store.runs.table import facts
from backend.store.tables.runs import Experiment, Run, RunFact

_ORDERS: Mapping[str, Callable[[Any, Any], ColumnElement[bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COLUMNS: Mapping[str, Any] = {
    "state": Run.state,
    "method": Run.method,
    "verdict": Run.verdict,
    "name": Run.name,
    "experiment": Run.experiment_id,
    "id": Run.id,
    "parent": Run.parent_id,
    "step": Run.step,
    "attempt": Run.attempt,
    "created": Run.created_at,
    "started": Run.started_at,
    "finished": Run.finished_at,
}


class Compiler:
    """Conditions for one kind of database."""

    def __init__(self, *, sqlite: bool) -> None:
        # SQLite's own `lower` knows the letters of English alone.
        self._lower = func.unicode_lower if sqlite else func.lower

    def condition(self, tree: Tree) -> ColumnElement[bool]:
        """What of `runs` a filter lets through."""
        match tree:
            case And(parts):
                return and_(true(), *map(self.condition, parts))
            case Or(parts):
                return or_(false(), *map(self.condition, parts))
            case Not(inside):
                return not_(self.condition(inside))
            case term:
                return self._term(term)

    def _term(self, term: Term) -> ColumnElement[bool]:
        match term.key.field:
            case "archived":
                return self._archived(term)
            case "tag":
                return _in_facts(facts.TAGS, self._tag(term))
            case "config":
                return _in_facts(str(term.key), self._leaf(term))
            case "experiment":
                return self._experiment(term)
            case field if field in METRICS:
                return _in_facts(fact_of(term.key), _number(number_of(term.key), term))
            case field:
                column = COLUMNS[field]
                return and_(column.is_not(None), self._column(column, term))

    def _column(self, column: Any, term: Term) -> ColumnElement[bool]:
        match term:
            case Has():
                return true()
            case Equals(_, _, number) if number is not None:
                return and_(column == literal(number))
            case Equals(_, text):
                return and_(self._lower(column) == text)
            case Contains(_, part):
                return and_(self._lower(column).contains(part, autoescape=True))
            case Compares(_, order, number):
                return _ORDERS[order](column, literal(number))
            case During(_, start, end):
                since = true() if start is None else column >= start
                return and_(since, true() if end is None else column < end)

    def _archived(self, term: Term) -> ColumnElement[bool]:
        if isinstance(term, Equals):
            is_yes = term.text == "yes"
            return Run.archived_at.is_not(None) if is_yes else Run.archived_at.is_(None)
        return true()

    def _tag(self, term: Term) -> ColumnElement[bool]:
        match term:
            case Equals(_, text):
                return RunFact.text.contains(facts.tag_in(text), autoescape=True)
            case Contains(_, part):
                return RunFact.text.contains(part, autoescape=True)
            case _:
                return true()

    def _leaf(self, term: Term) -> ColumnElement[bool]:
        match term:
            case Equals(_, text, number):
                is_text = RunFact.text == text[: facts.LONGEST_TEXT]
                return is_text if number is None else or_(is_text, RunFact.number == number)
            case Contains(_, part):
                return RunFact.text.contains(part, autoescape=True)
            case Compares():
                return _number(RunFact.number, term)
            case _:
                return true()

    def _experiment(self, term: Term) -> ColumnElement[bool]:
        of_run: Select[Any] = select(Experiment.id)
        match term:
            case Equals(_, text):
                named = self._lower(Experiment.name) == text
                of_run = of_run.where(or_(named, Experiment.id == text))
            case Contains(_, part):
                of_run = of_run.where(self._lower(Experiment.name).contains(part, autoescape=True))
        return and_(Run.experiment_id.is_not(None), Run.experiment_id.in_(of_run))


def fact_of(key: Key) -> str:
    """The key of the fact that has a metric's values."""
    return f"metric.{key.name}"


def number_of(key: Key) -> InstrumentedAttribute[float | None]:
    """The column of a metric's fact that a key such as `best.loss` asks for."""
    match key.field:
        case "min":
            return RunFact.least
        case "max":
            return RunFact.greatest
        case "best":
            return RunFact.least if is_lower_better(key.name) else RunFact.greatest
        case _:
            return RunFact.number


def _number(column: InstrumentedAttribute[float | None], term: Term) -> ColumnElement[bool]:
    match term:
        case Equals(_, _, number):
            return column == number
        case Compares(_, order, number):
            return _ORDERS[order](column, number)
        case _:
            return column.is_not(None)


def _in_facts(key: str, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return Run.number.in_(select(RunFact.run).where(RunFact.key == key, condition))
