"""Curves: the metrics of runs in at most so many buckets each.

Called by `backend.api.metrics`; `backend.domain.downsample` says how wide a bucket is. Short curves
come as they are; long ones are put together by the database from what `metric_buckets` keeps.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Select,
    Subquery,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from backend.domain.downsample import Bucket, ascending, bucket_width
from backend.errors import InvalidInput
from backend.schemas.events import LAST_STEP
from backend.schemas.runs import MetricsAnswer, Series
from backend.store.metrics import buckets as metric_buckets
from backend.store.tables.runs import MetricBucket, MetricPoint, Run

# Of one answer: a run with 300 curves at the 1,000 points of a screen.
MOST_BUCKETS = 300_000

Axis = Literal["step", "time", "tokens"]

_COLUMNS: dict[Axis, Any] = {
    "step": MetricPoint.step,
    "time": MetricPoint.time_s,
    "tokens": MetricPoint.tokens,
}
_X: dict[Axis, Callable[[Bucket], float]] = {
    "step": lambda bucket: bucket.step,
    "time": lambda bucket: bucket.time_s,
    "tokens": lambda bucket: bucket.tokens,
}


@dataclass(frozen=True)
class Window:
    """What part of a curve is wanted, on which axis, in how many buckets at most.

    `from_` and `to` are inclusive, in units of the axis: steps, seconds since the epoch, tokens.
    """

    x: Axis = "step"
    from_: float | None = None
    to: float | None = None
    points: int = 1000

    @property
    def is_in_steps(self) -> bool:
        """Whether the borders, if there are any, are steps."""
        return self.x == "step" or (self.from_ is None and self.to is None)

    def steps(self) -> tuple[int, int]:
        """The steps that can lie in the window, both inclusive."""
        if self.x != "step":
            return 0, LAST_STEP
        low = 0 if self.from_ is None else max(0, math.ceil(self.from_))
        high = LAST_STEP if self.to is None else min(LAST_STEP, math.floor(self.to))
        return low, high

    def conditions(self) -> list[ColumnElement[bool]]:
        """The window as SQL."""
        column = _COLUMNS[self.x]
        found: list[ColumnElement[bool]] = []
        if self.from_ is not None:
            found.append(column >= self.from_)
        if self.to is not None:
            found.append(column <= self.to)
        return found


def read(
    session: Session, run_ids: Sequence[str], names: Sequence[str] | None, window: Window
) -> MetricsAnswer:
    """The curves of these runs, `names` None = all; runs and names in the order they were asked."""
    known = _names(session, run_ids)
    wanted = known if names is None else list(dict.fromkeys(names))
    extents = _extents(session, run_ids, wanted, window)
    _must_fit(extents.values(), window)
    short = [key for key, extent in extents.items() if extent.n <= window.points]
    found = dict(_short_curves(session, short, window))
    for key, extent in extents.items():
        if extent.n > window.points:
            found[key] = _long_curve(session, key, extent, window)
    keys = [(run_id, name) for run_id in run_ids for name in wanted if (run_id, name) in found]
    return MetricsAnswer(series=[_series(key, found[key], window) for key in keys], names=known)


Key = tuple[str, str]


@dataclass(frozen=True)
class _Extent:
    n: int
    first_step: int
    last_step: int


def _must_fit(extents: Iterable[_Extent], window: Window) -> None:
    count = sum(min(extent.n, window.points) for extent in extents)
    if count > MOST_BUCKETS:
        raise InvalidInput(
            f"the answer would have {count:,} buckets; at most {MOST_BUCKETS:,} are allowed",
            advice="Ask for fewer points, names or runs.",
        )


def _names(session: Session, run_ids: Sequence[str]) -> list[str]:
    # A run's summary has every name; a DISTINCT over its points would read them all.
    summaries = session.scalars(select(Run.summary).where(Run.id.in_(run_ids)))
    return sorted({name for summary in summaries for name in summary})


def _extents(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> dict[Key, _Extent]:
    """How many points each curve has in the window (at most, by whole buckets), and where."""
    low, high = window.steps()
    table: type[MetricPoint] | type[MetricBucket] = MetricPoint
    inside, n, last = window.conditions(), func.sum(1), func.max(MetricPoint.step)
    if window.is_in_steps:
        table, inside = MetricBucket, [MetricBucket.last_step >= low, MetricBucket.step <= high]
        n, last = func.sum(MetricBucket.n), func.max(MetricBucket.last_step)
    statement = (
        select(table.run_id, table.name, n, func.min(table.step), last)
        .where(table.run_id.in_(run_ids), table.name.in_(names), *inside)
        .group_by(table.run_id, table.name)
    )
    return {
        (run_id, name): _Extent(int(count), max(first, low), min(end, high))
        for run_id, name, count, first, end in session.execute(statement)
    }


def _short_curves(
    session: Session, keys: Sequence[Key], window: Window
) -> Iterator[tuple[Key, list[Bucket]]]:
    if not keys:
        return
    by_run = groupby(sorted(keys), key=lambda key: key[0])
    wanted = [
        and_(MetricPoint.run_id == run_id, MetricPoint.name.in_([name for _, name in group]))
        for run_id, group in by_run
    ]
    point = MetricPoint
    statement = (
        select(point.run_id, point.name, point.step, point.time_s, point.tokens, point.value)
        .where(or_(*wanted), *window.conditions())
        .order_by(point.run_id, point.name, point.step)
    )
    rows = session.execute(statement)
    for key, group in groupby(rows, key=lambda row: (row.run_id, row.name)):
        yield key, [_point(*row[2:]) for row in group]


def _point(step: int, time_s: float, tokens: int, value: float | None) -> Bucket:
    return Bucket(
        step=step,
        time_s=time_s,
        tokens=tokens,
        n=1,
        n_values=0 if value is None else 1,
        min=value,
        max=value,
        mean=value,
        last=value,
    )


def _long_curve(session: Session, key: Key, extent: _Extent, window: Window) -> list[Bucket]:
    """The curve in buckets: whole kept buckets where they fit, points everywhere else."""
    width = bucket_width(extent.first_step, extent.last_step, points=window.points)
    parts = _parts(key, extent, width, window)
    grouped = (
        select(
            func.max(parts.c.last_step).label("step"),
            func.sum(parts.c.n).label("n"),
            func.sum(parts.c.n_values).label("n_values"),
            func.min(parts.c.min).label("min"),
            func.max(parts.c.max).label("max"),
            (func.sum(parts.c.total) / func.nullif(func.sum(parts.c.n_values), 0)).label("mean"),
        )
        .group_by(parts.c.step // width)
        .subquery()
    )
    point = MetricPoint
    # Looked up one by one: before PostgreSQL has counted the points of a new run, it joins every
    # bucket with every point.
    at_its_end = [
        select(column)
        .where(*_of(point, key), point.step == grouped.c.step)
        .scalar_subquery()
        .label(name)
        for name, column in (
            ("time_s", point.time_s),
            ("tokens", point.tokens),
            ("last", point.value),
        )
    ]
    statement = select(grouped, *at_its_end).order_by(grouped.c.step)
    return [_bucket(row) for row in session.execute(statement).mappings()]


def _parts(key: Key, extent: _Extent, width: int, window: Window) -> Subquery:
    low, high = extent.first_step, extent.last_step
    # Buckets know steps alone: a window in time or tokens is cut from the points.
    begin = metric_buckets.start_of(low + metric_buckets.WIDTH - 1)
    end = metric_buckets.start_of(high + 1)
    if width < metric_buckets.WIDTH or not window.is_in_steps or begin >= end:
        return _points(key, low, high, window).subquery()
    bucket = MetricBucket
    columns = ("step", "last_step", "n", "n_values", "min", "max", "total")
    kept = select(*(getattr(bucket, column) for column in columns)).where(
        *_of(bucket, key), bucket.step >= begin, bucket.step < end
    )
    edges = (_points(key, low, begin - 1, window), _points(key, end, high, window))
    return union_all(kept, *edges).subquery()


def _points(key: Key, low: int, high: int, window: Window) -> Select[Any]:
    # The limits of step stand here once: with two, SQLite searches by the wider ones.
    point = MetricPoint
    conditions = () if window.is_in_steps else window.conditions()
    return select(
        point.step,
        point.step.label("last_step"),
        literal(1).label("n"),
        case((point.value.is_(None), 0), else_=1).label("n_values"),
        point.value.label("min"),
        point.value.label("max"),
        point.value.label("total"),
    ).where(*_of(point, key), point.step.between(low, high), *conditions)


def _of(table: type[MetricPoint] | type[MetricBucket], key: Key) -> list[ColumnElement[bool]]:
    return [table.run_id == key[0], table.name == key[1]]


def _bucket(row: RowMapping) -> Bucket:
    # PostgreSQL sums integers to decimals.
    return Bucket(**{**row, "n": int(row["n"]), "n_values": int(row["n_values"])})


def _series(key: Key, buckets: list[Bucket], window: Window) -> Series:
    x = _X[window.x]
    kept = buckets if window.x == "step" else ascending(buckets, x)
    return Series(
        run=key[0],
        name=key[1],
        x=[x(bucket) for bucket in kept],
        min=[bucket.min for bucket in kept],
        max=[bucket.max for bucket in kept],
        mean=[bucket.mean for bucket in kept],
        last=[bucket.last for bucket in kept],
        n=sum(bucket.n for bucket in kept),
    )
