"""The levels of a run's curves beside what a scan of its points finds."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.store.metrics.levels import TOP, WIDTHS, frontier
from backend.store.tables.metrics import MetricCurve, MetricLevel, MetricPoint


def check_levels(session: Session, run_id: str) -> int:
    """Every level has each of its buckets up to the curve's sealed step, and nothing beyond it.

    Every point has a curve. Returns how many buckets there are.
    """
    curves = session.scalars(select(MetricCurve).where(MetricCurve.run_id == run_id)).all()
    names = session.scalars(select(MetricPoint.name).where(MetricPoint.run_id == run_id).distinct())
    assert set(names) <= {curve.name for curve in curves}
    return sum(_check_curve(session, curve) for curve in curves)


def _check_curve(session: Session, curve: MetricCurve) -> int:
    of_curve = select(MetricLevel).where(MetricLevel.curve == curve.number)
    found = {(one.level, one.step): one for one in session.scalars(of_curve)}
    of_name = select(MetricPoint).where(
        MetricPoint.run_id == curve.run_id, MetricPoint.name == curve.name
    )
    points = session.scalars(of_name.order_by(MetricPoint.step)).all()
    expected: dict[tuple[int, int], list[MetricPoint]] = {}
    for level in range(1, TOP + 1):
        for point in points:
            if point.step < frontier(curve.sealed_step, level):
                expected.setdefault((level, frontier(point.step, level)), []).append(point)
    assert set(found) == set(expected)
    for (level, step), mine in expected.items():
        one = found[level, step]
        values = [point.value for point in mine if point.value is not None]
        assert step % WIDTHS[level] == 0
        assert (one.last_step, one.n, one.n_values) == (mine[-1].step, len(mine), len(values))
        assert (one.min, one.max) == (min(values, default=None), max(values, default=None))
        assert one.total == (pytest.approx(sum(values), abs=1e-9) if values else None)
        assert one.last == mine[-1].value
        times, tokens = [point.time_s for point in mine], [point.tokens for point in mine]
        assert (one.time_min, one.time_max) == (min(times), max(times))
        assert (one.tokens_min, one.tokens_max) == (min(tokens), max(tokens))
    return len(found)
