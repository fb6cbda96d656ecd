"""The times at which a run's trainer was at its steps.

`backend.store.metrics.outside` asks where on the axes of time a result from outside belongs.
"""

from collections.abc import Collection

from sqlalchemy import BigInteger, func, select
from sqlalchemy.orm import Session

from backend.store import given
from backend.store.metrics import curves, points
from backend.store.tables.metrics import MetricCurve, MetricPoint

# The machine is measured all the time, also before the first step is done.
_NOT_THE_TRAINERS = (*points.OUTSIDE_PREFIXES, "system/")


def at_steps(session: Session, run_id: str, steps: Collection[int]) -> dict[int, float]:
    """Read when the trainer was at each of these steps, in seconds since the epoch, by step.

    Reads the trainer's metric that has most points: a step without one has the time of the newest
    before it, a step before all of them the time of the first. Empty if the trainer has no metric.
    """
    name = _most_often(session, run_id)
    if name is None:
        return {}
    wanted = given.rows(session, {"step": BigInteger()}, [[step] for step in sorted({*steps})])
    of_name = (MetricPoint.run_id == run_id, MetricPoint.name == name)
    times = select(MetricPoint.time_s).where(*of_name)
    before = times.where(MetricPoint.step <= wanted.c.step).order_by(MetricPoint.step.desc())
    first = times.order_by(MetricPoint.step)
    time = func.coalesce(
        before.limit(1).correlate(wanted).scalar_subquery(), first.limit(1).scalar_subquery()
    )
    return dict(session.execute(select(wanted.c.step, time)).all())


def _most_often(session: Session, run_id: str) -> str | None:
    """The metric that the trainer tells most often; of several the first by name."""
    names = session.scalars(select(MetricCurve.name).where(MetricCurve.run_id == run_id))
    own = [name for name in names if not name.startswith(_NOT_THE_TRAINERS)]
    counts = curves.counts(session, run_id, own)
    return min(counts, key=lambda name: (-counts[name], name), default=None)
