"""Curves: the metrics of runs in at most so many buckets each.

Called by `backend.api.metrics`; `backend.domain.downsample` says how wide a bucket is and joins
them. Short curves come as they are; long ones are put into buckets by the database.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from backend.domain.downsample import Bucket, ascending, bucket_width
from backend.schemas.runs import MetricsAnswer, Series
from backend.store.tables import MetricPoint, Run

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


def _names(session: Session, run_ids: Sequence[str]) -> list[str]:
    # A run's summary has every name; a DISTINCT over its points would read them all.
    summaries = session.scalars(select(Run.summary).where(Run.id.in_(run_ids)))
    return sorted({name for summary in summaries for name in summary})


def _extents(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> dict[Key, _Extent]:
    statement = (
        select(
            MetricPoint.run_id,
            MetricPoint.name,
            func.count(),
            func.min(MetricPoint.step),
            func.max(MetricPoint.step),
        )
        .where(MetricPoint.run_id.in_(run_ids), MetricPoint.name.in_(names), *window.conditions())
        .group_by(MetricPoint.run_id, MetricPoint.name)
    )
    return {(run, name): _Extent(*rest) for run, name, *rest in session.execute(statement)}


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
    width = bucket_width(extent.first_step, extent.last_step, points=window.points)
    run_id, name = key
    of_curve = (MetricPoint.run_id == run_id, MetricPoint.name == name)
    grouped = (
        select(
            func.max(MetricPoint.step).label("step"),
            func.count().label("n"),
            func.count(MetricPoint.value).label("n_values"),
            func.min(MetricPoint.value).label("min"),
            func.max(MetricPoint.value).label("max"),
            func.avg(MetricPoint.value).label("mean"),
        )
        .where(*of_curve, *window.conditions())
        .group_by(MetricPoint.step // width)
        .subquery()
    )
    statement = (
        select(grouped, MetricPoint.time_s, MetricPoint.tokens, MetricPoint.value.label("last"))
        .join(MetricPoint, and_(*of_curve, MetricPoint.step == grouped.c.step))
        .order_by(grouped.c.step)
    )
    return [Bucket(**row) for row in session.execute(statement).mappings()]


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
