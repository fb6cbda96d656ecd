"""The levels of a curve: its points summed up in buckets of 8, 32, 128, ... steps.

`backend.store.metrics.points` calls `grow` for what it has written and `rewind` for what it has
deleted, the worker's sweeper calls `behind` and `catch_up` for curves that are older than the
levels, and `backend.store.metrics.curves` reads. The end of a curve, up to a hundred steps or so,
is in no level yet: `cover` says where each step of a curve is found.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.store import built, dialect, given
from backend.store.metrics import buckets
from backend.store.tables.metrics import MetricCurve, MetricLevel, MetricPoint

# Steps of a bucket by level; level 0 are the points themselves.
WIDTHS: tuple[int, ...] = (1, *(8 << 2 * level for level in range(13)))
TOP = len(WIDTHS) - 1

# How far the levels may be behind the newest step: summing up in one go costs less.
_SEAL_EVERY = 128
# Points that one transaction sums up at most, besides as many as it has written.
_MOST_AT_ONCE = 2048

_NAME: given.Types = {"name": String()}
_Steps = tuple[int, int, int]  # number of a curve, first step, end


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
    passed = given.json_of(_NAME, [[name] for name in sorted(names)])
    finding = _finding(is_sqlite=dialect.is_sqlite(session))
    rows = built.rows(session, finding, {"given": passed, "of_run": run_id})
    return {
        name: None if number is None else Curve(number, run_id, name, sealed, last)
        for name, number, sealed, last in rows
    }


@built.once
def _finding(*, is_sqlite: bool) -> Select[Any]:
    """Curves of a run by their names; of those that are missing, the name alone."""
    wanted, run_id = given.table(_NAME, sqlite=is_sqlite), bindparam("of_run", type_=String)
    of_name = and_(MetricCurve.run_id == run_id, MetricCurve.name == wanted.c.name)
    newest = _newest_step(run_id, wanted.c.name).correlate(wanted).scalar_subquery()
    found = select(wanted.c.name, MetricCurve.number, MetricCurve.sealed_step, newest)
    return found.select_from(wanted.outerjoin(MetricCurve, of_name))


def _newest_step(
    run_id: ColumnElement[str] | InstrumentedAttribute[str],
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
) -> dict[str, Curve]:
    """Take in the points just stored at these steps of each curve, in any order.

    Returns the curves as they are now: `newest` counts these points, too.
    """
    grown = {name: _with(curve, steps.get(name, ())) for name, curve in curves.items()}
    changed = [
        (curves[name].number, step, step + 1)
        for name, stored in steps.items()
        for step in stored
        if step < curves[name].sealed
    ]
    left = max(_MOST_AT_ONCE, 2 * sum(len(stored) for stored in steps.values()))
    targets = {name: (max(stored) + 1) // WIDTHS[1] * WIDTHS[1] for name, stored in steps.items()}
    behind = {name: target - curves[name].sealed for name, target in targets.items()}
    moved: list[Curve] = []
    for name in sorted(behind, key=behind.__getitem__, reverse=True):
        if behind[name] < _SEAL_EVERY or left <= 0:
            break
        first = curves[name].sealed
        end = _reachable(session, curves[name], targets[name])
        grown[name] = grown[name]._replace(sealed=end)
        moved.append(grown[name])
        changed.append((curves[name].number, first, end))
        left -= min(_MOST_AT_ONCE, end - first)
    _build(session, grown.values(), changed)
    _seal(session, moved)
    return grown


def _with(curve: Curve, stored: Collection[int]) -> Curve:
    known = [*stored] if curve.newest is None else [*stored, curve.newest]
    return curve._replace(newest=max(known, default=None))


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
        _build(session, [done], [(done.number, now.sealed, end)])
        _seal(session, [done])
        return done
    return now


def rewind(session: Session, run_id: str, names: Collection[str], after_step: int) -> list[Curve]:
    """Forget the buckets that have a step beyond this one; returns the curves as they are now."""
    left = []
    for curve in of_run(session, run_id, names).values() if names else ():
        sealed = frontier(max(0, min(curve.sealed, after_step + 1)), 1)
        of_curve = delete(MetricLevel).where(MetricLevel.curve == curve.number)
        for level in range(1, TOP + 1):
            if frontier(curve.sealed, level) > frontier(sealed, level):
                beyond = MetricLevel.step >= frontier(sealed, level)
                session.execute(of_curve.where(MetricLevel.level == level, beyond))
        left.append(curve._replace(sealed=sealed))
    _seal(session, left)
    return left


def _seal(session: Session, curves: Sequence[Curve]) -> None:
    if not curves:
        return
    rows = [{"of_number": curve.number, "to_step": curve.sealed} for curve in curves]
    is_it = MetricCurve.number == bindparam("of_number")
    moved = update(MetricCurve).where(is_it).values(sealed_step=bindparam("to_step"))
    session.connection().execute(moved, rows)


def _build(session: Session, curves: Collection[Curve], changed: Sequence[_Steps]) -> None:
    """Work out anew, level by level, each complete bucket that holds one of these steps.

    Steps are told as spans: number of the curve, first, end. PostgreSQL works a few buckets out one
    by one, in three fifths of the time. That may be slow where a span is wide and has hardly any
    points; but where a level has few buckets, so have all above it.
    """
    by_number = {curve.number: curve for curve in curves}
    few = 0 if dialect.is_sqlite(session) else 2 * len(changed)
    spans = sorted(changed)
    for level in range(1, TOP + 1):
        width = WIDTHS[level]
        ends = {number: frontier(curve.sealed, level) for number, curve in by_number.items()}
        spans = _whole(spans, width, ends)
        if not spans:
            return
        if sum(end - first for _, first, end in spans) <= few * width:
            each = [(curve, at) for curve, first, end in spans for at in range(first, end, width)]
            _fill_each(session, level, each, by_number)
            return
        of_curves = [(by_number[number], first, end) for number, first, end in spans]
        _fill(session, level, of_curves)


def _whole(spans: Iterable[_Steps], width: int, ends: Mapping[int, int]) -> list[_Steps]:
    """The buckets of a width that hold these steps and lie before the end of their curve.

    Each is there once, as one statement may not touch it twice; given and returned in order.
    """
    found: list[_Steps] = []
    for number, first, end in spans:
        begin, stop = first // width * width, min(-(-end // width) * width, ends[number])
        if begin >= stop:
            continue
        if found and found[-1][0] == number and begin <= found[-1][2]:
            found[-1] = (number, found[-1][1], max(stop, found[-1][2]))
        else:
            found.append((number, begin, stop))
    return found


def _fill(session: Session, level: int, spans: Iterable[tuple[Curve, int, int]]) -> None:
    """Store a level's buckets in these spans, from the points or from the level below."""
    rows = [
        [curve.number, curve.run_id, curve.name, first, end, WIDTHS[level]]
        for curve, first, end in spans
    ]
    passed = {"given": given.json_of(buckets.SPAN, rows)}
    filling = buckets.filling(level, sqlite=dialect.is_sqlite(session))
    session.connection().execute(filling, passed)


def _fill_each(
    session: Session, level: int, each: Sequence[tuple[int, int]], curves: Mapping[int, Curve]
) -> None:
    """The same for buckets told by curve and first step, and all above them; PostgreSQL alone.

    All but those of points have one statement: the driver does not wait between them.
    """
    told: list[dict[str, Any]] = []
    while each:
        columns = (f"{{{orjson.dumps(one).decode()[1:-1]}}}" for one in zip(*each, strict=True))
        named = dict(zip(("curves", "steps"), columns, strict=True))
        told.append({**named, "level": level, "width": WIDTHS[level]})
        level += 1
        if level > TOP:
            break
        width = WIDTHS[level]
        ends = {number: frontier(curve.sealed, level) for number, curve in curves.items()}
        above = {(number, at // width * width) for number, at in each if at < ends[number]}
        each = sorted(above)
    n_of_points = sum(one["level"] == 1 for one in told)
    for some in (told[:n_of_points], told[n_of_points:]):
        if some:
            filling = buckets.filling_each(of_points=some[0]["level"] == 1)
            session.connection().execute(filling, some)
