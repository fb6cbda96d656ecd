"""Metric points summed up by sixty-four steps, so that a curve of a million points is a few rows.

`backend.store.metrics.points` calls `refresh` for what it has written or deleted;
`backend.store.metrics.curves` reads. A bucket is always worked out again from its points, so
replays cannot count twice.
"""

from collections.abc import Collection

from sqlalchemy import ColumnElement, delete, func, literal_column, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from backend.store.tables.runs import MetricBucket, MetricPoint

WIDTH = 64

_KEY = ("run_id", "name", "step")
_SUMS = ("last_step", "n", "n_values", "min", "max", "total")


def start_of(step: int) -> int:
    """The first step of the bucket that a step belongs to."""
    return step // WIDTH * WIDTH


def refresh(
    session: Session, run_id: str, names: Collection[str], first_step: int, last_step: int | None
) -> None:
    """Work out the buckets of these curves anew between two steps, None = to the end."""
    where = [
        MetricPoint.run_id == run_id,
        MetricPoint.name.in_(names),
        MetricPoint.step >= start_of(first_step),
    ]
    if last_step is not None:
        where.append(MetricPoint.step < start_of(last_step) + WIDTH)
    # Written out: PostgreSQL takes two parameters for two values when it compares with GROUP BY.
    width: ColumnElement[int] = literal_column(str(WIDTH))
    start = MetricPoint.step // width * width
    sums = (
        select(
            MetricPoint.run_id,
            MetricPoint.name,
            start,
            func.max(MetricPoint.step),
            func.count(),
            func.count(MetricPoint.value),
            func.min(MetricPoint.value),
            func.max(MetricPoint.value),
            func.sum(MetricPoint.value),
        )
        .where(*where)
        .group_by(MetricPoint.run_id, MetricPoint.name, start)
    )
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    statement = (sqlite if is_sqlite else postgresql).insert(MetricBucket)
    statement = statement.from_select([*_KEY, *_SUMS], sums)
    given = {name: statement.excluded[name] for name in _SUMS}
    session.execute(statement.on_conflict_do_update(index_elements=list(_KEY), set_=given))


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
    refresh(session, run_id, names, first, None)
