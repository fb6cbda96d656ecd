"""Runs side by side, grouped by what they are seeds of; comparisons to rank are `comparisons`."""

from typing import Annotated

from fastapi import Query, Response

from backend.api.metrics import AxisQuery, Encodings, ExactQuery, FromQuery, ToQuery, packed
from backend.api.several_runs import RunsQuery, seen_runs
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.metrics.seeds import GroupCurves, SeedGroups
from backend.store.metrics import group_curves, seed_groups
from backend.store.metrics.curves import Window

router = api_router("runs")


@router.get("/seed-groups")
def compare_runs(
    session: SessionDep,
    caller: Caller,
    runs: RunsQuery,
    metric: Annotated[
        str | None,
        Query(max_length=100, description="Default: the one that decides, if all have it."),
    ] = None,
    evaluated_on: Annotated[
        str | None,
        Query(
            max_length=200,
            description="One of `evaluation_sets`: evaluations on it decide, if no metric is asked "
            "for. Any other name is ignored.",
        ),
    ] = None,
) -> SeedGroups:
    """Groups of runs that differ by their seed alone, and whether the best is better than each.

    A mean has a t interval from three seeds on; from ten on it is the interquartile mean.
    """
    run_ids = seen_runs(session, caller, runs)
    return seed_groups.of_runs(session, run_ids, metric, evaluated_on, caller)


@router.get("/seed-groups/curves", response_model=GroupCurves)
def read_group_curves(
    session: SessionDep,
    caller: Caller,
    runs: RunsQuery,
    names: Annotated[str, Query(max_length=2000, description="Metrics, joined by commas.")],
    x: AxisQuery = "step",
    from_: FromQuery = None,
    to: ToQuery = None,
    points: Annotated[int, Query(ge=1, le=2000, description="Buckets per curve at most.")] = 300,
    exact: ExactQuery = False,
    encodings: Encodings = "",
) -> Response:
    """The mean over the seeds of each group with its interval, by metric and bucket.

    On other axes than steps a seed counts between its points by linear interpolation.
    """
    run_ids = seen_runs(session, caller, runs)
    wanted = list(dict.fromkeys(name for name in names.split(",") if name))
    window = Window(x=x, from_=from_, to=to, points=points)
    return packed(group_curves.read(session, run_ids, wanted, window, exact=exact), encodings)
