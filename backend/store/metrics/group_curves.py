"""What the seeds of a group say together of a metric: its curve, on any axis, any part of it.

Called by `backend.api.seed_groups`; the statistics are `backend.domain.seeds.bands`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from backend.domain.seeds import groups as seeds
from backend.domain.seeds.bands import Points, band
from backend.domain.seeds.draws import counted
from backend.domain.seeds.estimates import FEWEST_FOR_IQM
from backend.schemas.metrics.seeds import GroupCurve, GroupCurves
from backend.schemas.runs import Series
from backend.store.metrics import curves, draws
from backend.store.metrics.curves import Window
from backend.store.metrics.seed_groups import configs_of, metrics_of

_FINER = 4

# By run and metric.
_Drawn = dict[tuple[str, str], Points]


def read(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> GroupCurves:
    """Read what the seeds of each group say of these metrics, in at most so many bins.

    Of each seed one run counts. On other axes than steps, where seeds rarely have points at the
    same places, a seed counts between its points by linear interpolation. Which estimator a curve
    has does not depend on the window.
    """
    configs = configs_of(session, run_ids)
    known = metrics_of(session, configs)
    groups = counted(seeds.seed_groups(configs), draws.of_runs(session, configs))
    # Finer than the bins, which their own buckets would not fit otherwise.
    fine = replace(window, points=_FINER * window.points)
    series = curves.read(session, run_ids, names, fine, exact=True).series
    is_joined = window.x != "step"
    drawn: _Drawn = {(one.run, one.name): _points(one) for one in series}
    if is_joined and (window.from_ is not None or window.to is not None):
        whole = replace(fine, from_=None, to=None)
        drawn = _led_in(drawn, curves.read(session, run_ids, names, whole, exact=True).series, fine)
    items = []
    for name in names:
        width = _width([one for one in series if one.name == name and one.x], window)
        for place, runs in enumerate(groups):
            points = [drawn[run, name] for run in runs if (run, name) in drawn]
            n_seeds = len([run for run in runs if name in known[run]])
            found = band(
                points, width, is_iqm=n_seeds >= FEWEST_FOR_IQM, is_joined=is_joined
            ).between(*_borders(window))
            items.append(GroupCurve(group=place, name=name, **vars(found)))
    return GroupCurves(items=items)


def _borders(window: Window) -> tuple[float, float]:
    return (
        -math.inf if window.from_ is None else window.from_,
        math.inf if window.to is None else window.to,
    )


def _led_in(
    drawn: Mapping[tuple[str, str], Points], whole: Sequence[Series], window: Window
) -> _Drawn:
    """Add the neighbours of the window, so that a seed counts as far as its borders."""
    low, high = _borders(window)
    found: _Drawn = {}
    for one in whole:
        points = _points(one)
        before = [point for point in points if point[0] < low][-1:]
        behind = [point for point in points if point[0] > high][:1]
        key = (one.run, one.name)
        found[key] = [*before, *drawn.get(key, ()), *behind]
    return found


def _width(series: Sequence[Series], window: Window) -> float:
    """Return the width of bins: one step if every point is there and x is the step, else more."""
    if window.x == "step" and all(one.n == len(one.x) for one in series):
        return 1.0
    low = min((one.x[0] for one in series), default=0)
    high = max((one.x[-1] for one in series), default=1)
    return max((high - low) / window.points, 1e-9)


def _points(series: Series) -> Points:
    y = series.y
    pairs = zip(series.x, y.mean, strict=True)
    return [(x, None if mean is None else y.low + y.unit * mean) for x, mean in pairs]
