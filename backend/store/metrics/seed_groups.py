"""Runs side by side, grouped by what they are seeds of: last values, differences and bands.

Called by `backend.api.seed_groups`; the statistics are `backend.domain.seeds`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from backend.domain.seeds import groups as seeds
from backend.domain.seeds.bands import Points, band
from backend.domain.seeds.compared import compared, deciding_metric
from backend.schemas.metrics.seeds import GroupCurve, GroupCurves, SeedGroups
from backend.schemas.metrics.verdicts import Span
from backend.schemas.runs import Series
from backend.store.metrics import curves
from backend.store.metrics.curves import Window
from backend.store.tables.runs import MetricPoint, Run

_FINER = 4


def of_runs(session: Session, run_ids: Sequence[str], metric: str | None) -> SeedGroups:
    """These runs in groups, by `metric` or by the one that decides."""
    columns = (Run.id, Run.config, Run.summary)
    found = {run.id: run for run in session.execute(select(*columns).where(Run.id.in_(run_ids)))}
    configs = {run_id: found[run_id].config for run_id in run_ids}
    by, why_none = metric, ""
    if metric is None:
        names = [set(found[run_id].summary) for run_id in run_ids]
        by, why_none = deciding_metric(list(configs.values()), names)
    last = {} if by is None else _last(session, run_ids, by)
    return compared(configs, by, why_none, last)


def group_curves(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> GroupCurves:
    """What the seeds of each group say together of these metrics, in at most so many bins."""
    rows = session.execute(select(Run.id, Run.config).where(Run.id.in_(run_ids)))
    configs: dict[str, dict[str, Any]] = dict(rows.all())
    groups = seeds.seed_groups({run_id: configs[run_id] for run_id in run_ids})
    # Finer than the bins, which their own buckets would not fit otherwise.
    fine = replace(window, points=_FINER * window.points)
    answer = curves.read(session, run_ids, names, fine, exact=True)
    drawn = {(one.run, one.name): one for one in answer.series}
    width = {name: _width(answer.series, name, window) for name in names}
    items = []
    for name in names:
        for place, runs in enumerate(groups):
            series = [drawn[run, name] for run in runs if (run, name) in drawn]
            found = band([_points(one) for one in series], width[name])
            items.append(GroupCurve(group=place, name=name, **vars(found)))
    return GroupCurves(items=items)


def _last(session: Session, run_ids: Sequence[str], name: str) -> dict[str, tuple[int, float]]:
    """Step and value of the newest point of each run that has a finite one."""
    points = (
        MetricPoint.run_id == Run.id,
        MetricPoint.name == name,
        MetricPoint.value.is_not(None),
    )
    newest = select(MetricPoint.step).where(*points).order_by(MetricPoint.step.desc()).limit(1)
    last = newest.correlate(Run).scalar_subquery()
    found = (
        select(Run.id, MetricPoint.step, MetricPoint.value)
        .join(MetricPoint, and_(*points, MetricPoint.step == last))
        .where(Run.id.in_(run_ids))
    )
    rows = session.execute(found)
    return {run_id: (step, value) for run_id, step, value in rows if value is not None}


def _width(series: Sequence[Series], name: str, window: Window) -> float:
    """Bins of a step where every point is there and x is the step; else so many over all runs."""
    own = [one for one in series if one.name == name and one.x]
    if window.x == "step" and all(one.n == len(one.x) for one in own):
        return 1.0
    ends = Span(
        low=min((s.x[0] for s in own), default=0), high=max((s.x[-1] for s in own), default=1)
    )
    return max((ends.high - ends.low) / window.points, 1e-9)


def _points(series: Series) -> Points:
    pairs = zip(series.x, series.y.mean, strict=True)
    return [(x, series.y.low + series.y.unit * y) for x, y in pairs if y is not None]
