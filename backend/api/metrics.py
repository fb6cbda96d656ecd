"""Metrics: curves in buckets, and results of outside evaluations attached to a run."""

from typing import Annotated

from fastapi import Query

from backend.api.several_runs import seen_runs
from backend.deps import IDEMPOTENT, Now, SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.runs import MetricsAccepted, MetricsAnswer, OutsideMetricsBody
from backend.store.metrics import curves
from backend.store.metrics import points as metrics
from backend.store.metrics.curves import Axis, Window

router = api_router("metrics")


@router.get("/metrics")
def read_metrics(
    session: SessionDep,
    caller: Caller,
    runs: Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")],
    names: Annotated[
        str | None, Query(max_length=20_000, description="Names joined by commas; default all.")
    ] = None,
    x: Annotated[Axis, Query(description="time is seconds since the epoch.")] = "step",
    from_: Annotated[float | None, Query(alias="from", description="Least x, inclusive.")] = None,
    to: Annotated[float | None, Query(description="Greatest x, inclusive.")] = None,
    points: Annotated[int, Query(ge=1, le=20_000, description="Buckets per curve at most.")] = 1000,
) -> MetricsAnswer:
    """Columns of min, max, mean and last per bucket; curves with fewer points come whole."""
    run_ids = seen_runs(session, caller, runs)
    wanted = None if names is None else [name for name in names.split(",") if name]
    window = Window(x=x, from_=from_, to=to, points=points)
    return curves.read(session, run_ids, wanted, window)


@router.post("/runs/{run_id}/metrics", status_code=201, dependencies=[IDEMPOTENT])
def add_outside_metrics(
    run_id: str, body: OutsideMetricsBody, session: SessionDep, at: Now
) -> MetricsAccepted:
    """Attach results of an evaluation made elsewhere; names start with gold/ or outside/."""
    return MetricsAccepted(accepted=metrics.append_outside(session, run_id, body.points, at=at))
