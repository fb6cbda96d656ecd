"""Metric points summed up by sixty-four steps, so that a curve of a million points is a few rows.

`backend.store.metrics.points` calls `refresh` for what it has written or deleted;
`backend.store.metrics.curves` reads. A bucket is always worked out again from its points, so
replays cannot count twice.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    String,
    and_,
    delete,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from backend.schemas.events import LAST_STEP
from backend.store.metrics import given
from backend.store.tables.runs import MetricBucket, MetricPoint

WIDTH = 64

_KEY = ("run_id", "name", "step")
_SUMS = ("last_step", "n", "n_values", "min", "max", "total")


def start_of(step: int) -> int:
    """The first step of the bucket that a step belongs to."""
    return step // WIDTH * WIDTH


def refresh(session: Session, run_id: str, points: Iterable[tuple[str, int]]) -> None:
    """Work out anew the buckets that points (name, step) lie in, and no other."""
    spans: list[list[Any]] = []
    for name, start in sorted({(name, start_of(step)) for name, step in points}):
        if spans and spans[-1][0] == name and spans[-1][2] == start:
            spans[-1][2] = start + WIDTH
        else:
            spans.append([name, start, start + WIDTH])
    _refresh(session, run_id, spans)


def _refresh(session: Session, run_id: str, spans: Iterable[Sequence[Any]]) -> None:
    """Work out the buckets of (name, first step, end) anew, in one statement."""
    types: dict[str, TypeEngine[Any]] = {
        "name": String(),
        "first": BigInteger(),
        "end": BigInteger(),
    }
    span = given.rows(session, types, spans)
    is_inside = and_(
        MetricPoint.run_id == run_id,
        MetricPoint.name == span.c.name,
        MetricPoint.step >= span.c.first,
        MetricPoint.step < span.c.end,
    )
    # Written out: PostgreSQL takes two parameters for two values when it compares with GROUP BY.
    width: ColumnElement[int] = literal_column(str(WIDTH))
    start = MetricPoint.step // width * width
    sums = select(
        MetricPoint.run_id.label("run_id"),
        MetricPoint.name.label("name"),
        start.label("step"),
        func.max(MetricPoint.step).label("last_step"),
        func.count().label("n"),
        func.count(MetricPoint.value).label("n_values"),
        func.min(MetricPoint.value).label("min"),
        func.max(MetricPoint.value).label("max"),
        func.sum(MetricPoint.value).label("total"),
    ).group_by(MetricPoint.run_id, MetricPoint.name, start)
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    if is_sqlite:
        sums = sums.select_from(span).join(MetricPoint, is_inside)
    else:
        # PostgreSQL cannot know how short the spans are, and would rather read all points: so it
        # is told to work out one after the other.
        each = sums.where(is_inside).correlate(span).lateral("sums")
        sums = select(*each.c).select_from(span.join(each, true()))
    statement = (sqlite if is_sqlite else postgresql).insert(MetricBucket)
    statement = statement.from_select([*_KEY, *_SUMS], sums)
    anew = {name: statement.excluded[name] for name in _SUMS}
    session.execute(statement.on_conflict_do_update(index_elements=list(_KEY), set_=anew))


def rewind(session: Session, run_id: str, names: Collection[str], after_step: int) -> None:
    """Work out again what lies beyond a step, once its points are deleted."""
    first = after_step + 1
    session.execute(
        delete(MetricBucket).where(
            MetricBucket.run_id == run_id,
            MetricBucket.name.in_(names),
            MetricBucket.step >= start_of(first),
        )
    )
    _refresh(session, run_id, [(name, start_of(first), LAST_STEP + 1) for name in names])
