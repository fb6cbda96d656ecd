"""What the seeds of a group say together of a metric: its curve, on any axis, any part of it.

Called by `backend.api.seed_groups`; the statistics are `backend.domain.seeds.bands`.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from backend.domain.curves.downsample import EXACT, scale_of
from backend.domain.seeds import groups as seeds
from backend.domain.seeds.bands import Band, Point, SeedCurve, bands
from backend.domain.seeds.draws import counted
from backend.domain.seeds.estimates import FEWEST_FOR_IQM
from backend.domain.seeds.shares import is_share
from backend.schemas.metrics.curves import Series
from backend.schemas.metrics.seeds import BandValues, GroupCurve, GroupCurves, PackedValues
from backend.store.metrics import curves, draws
from backend.store.metrics.curves import Window
from backend.store.metrics.seed_groups import configs_of, metrics_of

_FINER = 4

# Run and metric.
_Key = tuple[str, str]


def read(
    session: Session,
    run_ids: Sequence[str],
    names: Sequence[str],
    window: Window,
    *,
    exact: bool = False,
) -> GroupCurves:
    """Read what the seeds of each group say of these metrics, in at most so many buckets.

    Values are told to 1/8192 of the range of their column, or exactly.

    Of each seed one run counts. On other axes than steps, where seeds rarely have points at the
    same places, a seed counts between its points by linear interpolation. Which estimator a curve
    has does not depend on the window.
    """
    configs = configs_of(session, run_ids)
    known = metrics_of(session, configs)
    groups = counted(seeds.seed_groups(configs), draws.of_runs(session, configs))
    # Finer than the buckets of the band, which those of the runs would not fit otherwise.
    fine = replace(window, points=_FINER * window.points)
    series = curves.read(session, run_ids, names, fine, exact=True).series
    is_joined = window.x != "step"
    outside = _neighbours(session, run_ids, names, fine) if is_joined else {}
    inside = {(one.run, one.name): one for one in series}
    items = []
    for name in names:
        own = [one for one in series if one.name == name and one.x]
        found = bands(
            [[_seed_curve((run, name), inside, outside) for run in runs] for runs in groups],
            _width(own, window),
            are_iqms=[_n_with(name, runs, known) >= FEWEST_FOR_IQM for runs in groups],
            is_joined=is_joined,
            is_share=is_share(name),
        )
        items += [_curve(place, name, one, exact=exact) for place, one in enumerate(found)]
    return GroupCurves.model_construct(items=items)


def _curve(group: int, name: str, band: Band, *, exact: bool) -> GroupCurve:
    ends = (band.low, band.high)
    lower, upper = ends if exact else (_beside(band.value, end) for end in ends)
    values = BandValues.model_construct(
        value=_packed(band.value, exact=exact),
        lower=_packed(lower, exact=exact),
        upper=_packed(upper, exact=exact),
    )
    return GroupCurve.model_construct(
        group=group,
        name=name,
        is_iqm=band.is_iqm,
        x=band.x,
        n=band.n,
        n_nan=band.n_nan,
        y=values,
    )


def _beside(value: Sequence[float | None], end: Sequence[float | None]) -> list[float | None]:
    """The end without what is the value: in parts of another range it would be beside it."""
    return [None if one == own else one for own, one in zip(value, end, strict=True)]


def _packed(values: Sequence[float | None], *, exact: bool) -> PackedValues:
    scale = EXACT if exact else scale_of(values)
    return PackedValues.model_construct(
        low=scale.low, unit=scale.unit, numbers=scale.numbers(values)
    )


def _seed_curve(
    key: _Key,
    inside: Mapping[_Key, Series],
    outside: Mapping[_Key, tuple[Point | None, Point | None]],
) -> SeedCurve:
    series = inside.get(key)
    points, n_nan = ((), ()) if series is None else (_points(series), series.n_nan)
    return SeedCurve(points, *outside.get(key, (None, None)), n_nan)


def _n_with(name: str, runs: Iterable[str], known: Mapping[str, Collection[str]]) -> int:
    return len([run for run in runs if name in known[run]])


def _neighbours(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> dict[_Key, tuple[Point | None, Point | None]]:
    """The last point before the window and the first behind it; of long curves means of some."""
    if window.from_ is None and window.to is None:
        return {}
    low = -math.inf if window.from_ is None else window.from_
    high = math.inf if window.to is None else window.to
    whole = curves.read(session, run_ids, names, replace(window, from_=None, to=None), exact=True)
    found = {}
    for one in whole.series:
        points = _points(one)
        before = next((point for point in reversed(points) if point[0] < low), None)
        behind = next((point for point in points if point[0] > high), None)
        found[one.run, one.name] = (before, behind)
    return found


def _width(series: Sequence[Series], window: Window) -> float:
    """Return the width of buckets: a step where every step is there, else a part of the window."""
    if window.x == "step" and all(one.n == len(one.x) for one in series):
        return 1.0
    low = min((one.x[0] for one in series), default=0)
    high = max((one.x[-1] for one in series), default=1)
    return max((high - low) / window.points, 1e-9)


def _points(series: Series) -> list[Point]:
    y = series.y
    pairs = zip(series.x, y.mean, strict=True)
    return [(x, None if mean is None else y.low + y.unit * mean) for x, mean in pairs]
