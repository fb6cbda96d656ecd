"""The levels of a curve: its points summed up in buckets of 8, 32, 128, ... steps.

`backend.store.metrics.points` calls `grow` for what it has written and `rewind` for what it has
deleted, the worker's sweeper calls `behind` and `catch_up` for curves that are older than the
levels, and `backend.store.metrics.curves` reads. The end of a curve, up to a hundred steps or so,
is in no level yet: `cover` says where each step of a curve is found.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    FromClause,
    Insert,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    true,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.store import dialect, given
from backend.store.tables.metrics import MetricCurve, MetricLevel, MetricPoint

# Steps of a bucket by level; level 0 are the points themselves.
WIDTHS: tuple[int, ...] = (1, *(8 << 2 * level for level in range(13)))
TOP = len(WIDTHS) - 1

# How far the levels may be behind the newest step: summing up in one go costs less.
_SEAL_EVERY = 128
# Points that one transaction sums up at most, besides as many as it has written.
_MOST_AT_ONCE = 2048

# A sum must not overflow, whatever a trainer says.
_LARGEST = 1e290

_KEY = ("curve", "level", "step")
_SPAN: given.Types = {
    "curve": BigInteger(),
    "run": String(),
    "name": String(),
    "first": BigInteger(),
    "end": BigInteger(),
    "width": BigInteger(),
}


class Curve(NamedTuple):
    """A metric of a run; steps before `sealed` are in the levels, `newest` is its last step."""

    number: int
    run_id: str
    name: str
    sealed: int
    newest: int | None = None


class Span(NamedTuple):
    """Buckets of a level, or points (level 0), from step `first` to before step `end`."""

    level: int
    first: int
    end: int


def frontier(sealed: int, level: int) -> int:
    """The step before which all of a level's buckets are there."""
    return sealed // WIDTHS[level] * WIDTHS[level]


def cover(first: int, end: int, level: int, sealed: int) -> Iterator[Span]:
    """The fewest spans of this level and finer ones that hold exactly these steps, in order."""
    if first >= end:
        return
    if level == 0:
        yield Span(0, first, end)
        return
    width = WIDTHS[level]
    begin, stop = -(-first // width) * width, min(end, sealed) // width * width
    if begin >= stop:
        yield from cover(first, end, level - 1, sealed)
        return
    yield from cover(first, begin, level - 1, sealed)
    yield Span(level, begin, stop)
    yield from cover(stop, end, level - 1, sealed)


def of_run(session: Session, run_id: str, names: Collection[str]) -> dict[str, Curve]:
    """Read these curves of a run, making those that are missing; the caller holds the run."""
    found = _known(session, run_id, names)
    missing = sorted(name for name, curve in found.items() if curve is None)
    if missing:
        rows = [{"run_id": run_id, "name": name, "sealed_step": 0} for name in missing]
        session.execute(insert(MetricCurve), rows)
        found |= _known(session, run_id, missing)
    return {name: curve for name, curve in found.items() if curve is not None}


def _known(session: Session, run_id: str, names: Collection[str]) -> dict[str, Curve | None]:
    wanted = given.rows(session, {"name": String()}, [[name] for name in sorted(names)])
    of_name = and_(MetricCurve.run_id == run_id, MetricCurve.name == wanted.c.name)
    newest = _newest_step(run_id, wanted.c.name).correlate(wanted).scalar_subquery()
    found = select(wanted.c.name, MetricCurve.number, MetricCurve.sealed_step, newest)
    rows = session.execute(found.select_from(wanted).outerjoin(MetricCurve, of_name))
    return {
        name: None if number is None else Curve(number, run_id, name, sealed, last)
        for name, number, sealed, last in rows
    }


def _newest_step(
    run_id: str | ColumnElement[str] | InstrumentedAttribute[str],
    name: ColumnElement[str] | InstrumentedAttribute[str],
) -> Select[Any]:
    of_name = (MetricPoint.run_id == run_id, MetricPoint.name == name)
    return select(MetricPoint.step).where(*of_name).order_by(MetricPoint.step.desc()).limit(1)


def newest_steps(
    session: Session, names: Mapping[str, Collection[str]]
) -> dict[str, dict[str, int]]:
    """Find the last step of these curves of each run; a curve without points is left out."""
    asked = [(run_id, name) for run_id, own in names.items() for name in sorted(own)]
    wanted = given.rows(session, {"run": String(), "name": String()}, asked)
    newest = _newest_step(wanted.c.run, wanted.c.name).correlate(wanted).scalar_subquery()
    found: dict[str, dict[str, int]] = {run_id: {} for run_id in names}
    for run_id, name, step in session.execute(select(wanted.c.run, wanted.c.name, newest)):
        if step is not None:
            found[run_id][name] = step
    return found


def grow(
    session: Session, curves: Mapping[str, Curve], steps: Mapping[str, Collection[int]]
) -> None:
    """Take in the points just stored at these steps of each curve, in any order."""
    changed = [
        (curves[name], step, step + 1)
        for name, stored in steps.items()
        for step in stored
        if step < curves[name].sealed
    ]
    left = max(_MOST_AT_ONCE, 2 * sum(len(stored) for stored in steps.values()))
    targets = {name: (max(stored) + 1) // WIDTHS[1] * WIDTHS[1] for name, stored in steps.items()}
    behind = {name: target - curves[name].sealed for name, target in targets.items()}
    for name in sorted(behind, key=behind.__getitem__, reverse=True):
        if behind[name] < _SEAL_EVERY or left <= 0:
            break
        curve = curves[name]
        end = _reachable(session, curve, targets[name])
        changed.append((curve._replace(sealed=end), curve.sealed, end))
        left -= min(_MOST_AT_ONCE, end - curve.sealed)
    _build(session, changed)


def _reachable(session: Session, curve: Curve, target: int) -> int:
    """How far towards a step the curve can be summed up in one transaction."""
    if target - curve.sealed <= _MOST_AT_ONCE:
        return target
    beyond = select(MetricPoint.step).where(
        MetricPoint.run_id == curve.run_id,
        MetricPoint.name == curve.name,
        MetricPoint.step >= curve.sealed,
    )
    step = session.scalar(beyond.order_by(MetricPoint.step).offset(_MOST_AT_ONCE).limit(1))
    return target if step is None else min(target, step // WIDTHS[1] * WIDTHS[1])


def behind(session: Session, after: int, *, limit: int) -> list[Curve]:
    """The next curves in order of their number, those that need `catch_up` and all others."""
    newest = _newest_step(MetricCurve.run_id, MetricCurve.name)
    columns = (
        MetricCurve.number,
        MetricCurve.run_id,
        MetricCurve.name,
        MetricCurve.sealed_step,
        newest.correlate(MetricCurve).scalar_subquery(),
    )
    after_it = select(*columns).where(MetricCurve.number > after)
    return [
        Curve(*row) for row in session.execute(after_it.order_by(MetricCurve.number).limit(limit))
    ]


def is_behind(curve: Curve) -> bool:
    """Whether so much of the curve is in no level that `catch_up` has work."""
    newest = -1 if curve.newest is None else curve.newest
    return newest + 1 - curve.sealed >= 2 * _SEAL_EVERY


def catch_up(session: Session, curve: Curve) -> Curve:
    """Sum up some thousand points of a curve that is behind; the caller holds the run."""
    now = of_run(session, curve.run_id, [curve.name])[curve.name]
    if is_behind(now) and now.newest is not None:
        end = _reachable(session, now, (now.newest + 1) // WIDTHS[1] * WIDTHS[1])
        done = now._replace(sealed=end)
        _build(session, [(done, now.sealed, end)])
        return done
    return now


def rewind(session: Session, run_id: str, names: Collection[str], after_step: int) -> None:
    """Forget the buckets that have a step beyond this one."""
    for curve in of_run(session, run_id, names).values() if names else ():
        sealed = frontier(max(0, min(curve.sealed, after_step + 1)), 1)
        of_curve = delete(MetricLevel).where(MetricLevel.curve == curve.number)
        for level in range(1, TOP + 1):
            if frontier(curve.sealed, level) > frontier(sealed, level):
                beyond = MetricLevel.step >= frontier(sealed, level)
                session.execute(of_curve.where(MetricLevel.level == level, beyond))
        _seal(session, [curve._replace(sealed=sealed)])


def _seal(session: Session, curves: Iterable[Curve]) -> None:
    rows = [{"of_number": curve.number, "to_step": curve.sealed} for curve in curves]
    is_it = MetricCurve.number == bindparam("of_number")
    moved = update(MetricCurve).where(is_it).values(sealed_step=bindparam("to_step"))
    session.connection().execute(moved, rows)


def _build(session: Session, changed: Sequence[tuple[Curve, int, int]]) -> None:
    """Work out anew, level by level, each complete bucket that holds one of these steps."""
    if not changed:
        return
    sealed: dict[int, Curve] = {}
    for curve, _, _ in changed:
        known = sealed.setdefault(curve.number, curve)
        sealed[curve.number] = max(known, curve, key=lambda one: one.sealed)
    for level in range(1, TOP + 1):
        width = WIDTHS[level]
        spans = [
            (sealed[curve.number], first // width * width, -(-end // width) * width)
            for curve, first, end in changed
        ]
        whole = [
            (curve, first, min(end, frontier(curve.sealed, level))) for curve, first, end in spans
        ]
        wanted = _joined([span for span in whole if span[1] < span[2]])
        if not wanted:
            break
        _fill(session, level, wanted)
    _seal(session, sealed.values())


def _joined(spans: Iterable[tuple[Curve, int, int]]) -> list[tuple[Curve, int, int]]:
    """The same steps of each curve, each once: one statement may not touch a bucket twice."""
    found: list[tuple[Curve, int, int]] = []
    for curve, first, end in sorted(spans, key=lambda span: (span[0].number, span[1])):
        if found and found[-1][0].number == curve.number and first <= found[-1][2]:
            found[-1] = (curve, found[-1][1], max(end, found[-1][2]))
        else:
            found.append((curve, first, end))
    return found


def _fill(session: Session, level: int, spans: Iterable[tuple[Curve, int, int]]) -> None:
    """Store a level's buckets in these spans, from the points or from the level below."""
    width = WIDTHS[level]
    rows = [
        [curve.number, curve.run_id, curve.name, first, end, width] for curve, first, end in spans
    ]
    statement = _filling(level, sqlite=dialect.is_sqlite(session))
    session.connection().execute(statement, {"given": given.json_of(_SPAN, rows)})


@cache
def _filling(level: int, *, sqlite: bool) -> Insert:
    """The statement of `_fill`: to build it takes longer than to execute it."""
    span = given.table(_SPAN, sqlite=sqlite)
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
    statement = (sqlite_dialect if sqlite else postgresql).insert(MetricLevel)
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
    """Buckets of the points in each span of `_SPAN`, as wide as the span says, without `last`."""
    point = MetricPoint
    is_inside = and_(
        point.run_id == span.c.run,
        point.name == span.c.name,
        point.step >= span.c.first,
        point.step < span.c.end,
        *conditions,
    )
    bounded = case(
        (point.value > _LARGEST, _literal(_LARGEST)),
        (point.value < -_LARGEST, _literal(-_LARGEST)),
        else_=point.value,
    )
    sums: dict[str, ColumnElement[Any]] = {
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
    return _summed(span, point, is_inside, sums, sqlite=sqlite)


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
    sums: dict[str, ColumnElement[Any]] = {
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
    return _summed(span, part, is_inside, sums, sqlite=sqlite)


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
