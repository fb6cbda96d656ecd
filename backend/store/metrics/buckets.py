"""Statements that sum up points and buckets; `levels` and `curves` beside it execute them."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Float,
    FromClause,
    Insert,
    Integer,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    column,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.dialects.postgresql import aggregate_order_by

from backend.store import given
from backend.store.tables.metrics import MetricCurve, MetricLevel, MetricPoint

# A sum must not overflow, whatever a trainer says.
_LARGEST = 1e290

_KEY = ("curve", "level", "step")
SPAN: given.Types = {
    "curve": BigInteger(),
    "run": String(),
    "name": String(),
    "first": BigInteger(),
    "end": BigInteger(),
    "width": BigInteger(),
}


@cache
def filling(level: int, *, sqlite: bool) -> Insert:
    """Store the buckets of a level in each span of `SPAN`; built once, which takes longest."""
    span = given.table(SPAN, sqlite=sqlite)
    sums = (
        point_sums(span, sqlite=sqlite)
        if level == 1
        else _level_sums(span, level - 1, sqlite=sqlite)
    )
    kept = sums.subquery("sums")
    columns = [one for one in kept.c if one.name not in ("curve", "run", "name", "step")]
    names = [one.name for one in columns]
    buckets = select(
        kept.c.curve, literal_column(str(level)), kept.c.step, *columns, last_of(kept)
    ).where(true())  # without it, SQLite takes ON CONFLICT for the ON of a join
    return _or_anew((sqlite_dialect if sqlite else postgresql).insert(MetricLevel), names, buckets)


@cache
def filling_each(*, of_points: bool) -> Insert:
    """The same for PostgreSQL and single buckets, whose curves and first steps come as arrays.

    A bucket that is there alone needs no groups, and is given its last value in passing. One
    statement is for all levels but the first, which is made `of_points`.
    """
    arrays = (
        cast(bindparam(name, type_=String), ARRAY(BigInteger)) for name in ("curves", "steps")
    )
    own = func.unnest(*arrays).table_valued(column("curve", BigInteger), column("step", BigInteger))
    asked = own.render_derived(name="asked")
    level, width = bindparam("level", type_=Integer), bindparam("width", type_=BigInteger)
    if of_points:
        table: type[MetricPoint] | type[MetricLevel] = MetricPoint
        sums, value = _of_points(), MetricPoint.value
        whose = (MetricPoint.run_id == MetricCurve.run_id, MetricPoint.name == MetricCurve.name)
        # The curve says whose points they are.
        known: FromClause = asked.join(MetricCurve, MetricCurve.number == asked.c.curve)
    else:
        table, known = MetricLevel, asked
        sums, value = _of_parts(), MetricLevel.last
        whose = (MetricLevel.curve == asked.c.curve, MetricLevel.level == level - 1)
    last = func.array_agg(aggregate_order_by(value, table.step.desc()), type_=ARRAY(Float))[1]
    each = (
        select(*(one.label(name) for name, one in sums.items()), last.label("last"))
        .where(*whose, table.step >= asked.c.step, table.step < asked.c.step + width)
        .having(func.count() > 0)
        .correlate(asked, MetricCurve)
        .lateral("each")
    )
    buckets = select(asked.c.curve, level, asked.c.step, *each.c)
    buckets = buckets.select_from(known.join(each, true()))
    return _or_anew(postgresql.insert(MetricLevel), [*sums], buckets)


def _or_anew(statement: Any, names: Sequence[str], buckets: Select[Any]) -> Insert:
    """Insert buckets with these columns and `last`, or replace those that are there."""
    statement = statement.from_select([*_KEY, *names, "last"], buckets)
    anew = {name: statement.excluded[name] for name in (*names, "last")}
    filling: Insert = statement.on_conflict_do_update(index_elements=list(_KEY), set_=anew)
    return filling


def last_of(sums: FromClause) -> ScalarSelect[float | None]:
    """The value at the last step of each bucket of `point_sums`."""
    point = MetricPoint
    at_its_end = (
        point.run_id == sums.c.run, point.name == sums.c.name, point.step == sums.c.last_step,
    )  # fmt: skip
    return select(point.value).where(*at_its_end).correlate(sums).scalar_subquery()


def point_sums(span: FromClause, *conditions: ColumnElement[bool], sqlite: bool) -> Select[Any]:
    """Buckets of the points in each span of `SPAN`, as wide as the span says, without `last`."""
    point = MetricPoint
    is_inside = and_(
        point.run_id == span.c.run,
        point.name == span.c.name,
        point.step >= span.c.first,
        point.step < span.c.end,
        *conditions,
    )
    return _summed(span, point, is_inside, _of_points(), sqlite=sqlite)


def _of_points() -> dict[str, ColumnElement[Any]]:
    """The columns of a bucket but `last`, as sums of points."""
    point = MetricPoint
    bounded = case(
        (point.value > _LARGEST, _literal(_LARGEST)),
        (point.value < -_LARGEST, _literal(-_LARGEST)),
        else_=point.value,
    )
    return {
        "last_step": func.max(point.step),
        "n": func.count(),
        "n_values": func.count(point.value),
        "min": func.min(point.value),
        "max": func.max(point.value),
        "total": func.sum(bounded),
        "time_min": func.min(point.time_s),
        "time_max": func.max(point.time_s),
        "tokens_min": func.min(point.tokens),
        "tokens_max": func.max(point.tokens),
    }


def _literal(value: float) -> ColumnElement[float]:
    return literal_column(repr(value), Float())


def _level_sums(span: FromClause, level: int, *, sqlite: bool) -> Select[Any]:
    """Buckets of the buckets of a level in each span, without `last`."""
    part = MetricLevel
    is_inside = and_(
        part.curve == span.c.curve,
        part.level == level,
        part.step >= span.c.first,
        part.step < span.c.end,
    )
    return _summed(span, part, is_inside, _of_parts(), sqlite=sqlite)


def _of_parts() -> dict[str, ColumnElement[Any]]:
    """The same as sums of the buckets of the level below."""
    part = MetricLevel
    return {
        "last_step": func.max(part.last_step),
        "n": func.sum(part.n),
        "n_values": func.sum(part.n_values),
        "min": func.min(part.min),
        "max": func.max(part.max),
        "total": func.sum(part.total),
        "time_min": func.min(part.time_min),
        "time_max": func.max(part.time_max),
        "tokens_min": func.min(part.tokens_min),
        "tokens_max": func.max(part.tokens_max),
    }


def _summed(
    span: FromClause,
    table: type[MetricPoint] | type[MetricLevel],
    is_inside: ColumnElement[bool],
    sums: Mapping[str, ColumnElement[Any]],
    *,
    sqlite: bool,
) -> Select[Any]:
    start = table.step // span.c.width * span.c.width
    columns = [start.label("step"), *(one.label(name) for name, one in sums.items())]
    whose = (span.c.curve, span.c.run, span.c.name)
    if sqlite:
        found = select(*whose, *columns).select_from(span).join(table, is_inside)
        return found.group_by(span.c.curve, start)
    # PostgreSQL cannot know how short the spans are, and would rather read all points: so it is
    # told to work out one after the other.
    each = select(*columns).where(is_inside).group_by(start).correlate(span).lateral("each")
    return select(*whose, *each.c).select_from(span.join(each, true()))
