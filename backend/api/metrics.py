"""Metrics: curves in buckets, and results of outside evaluations attached to a run."""

import zlib
from typing import Annotated

import orjson
from fastapi import Header, Query, Response

from backend.api.several_runs import seen_runs
from backend.deps import IDEMPOTENT, Now, SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.runs import MetricsAccepted, MetricsAnswer, OutsideMetricsBody
from backend.store.metrics import curves
from backend.store.metrics import points as metrics
from backend.store.metrics.curves import Axis, Window

router = api_router("metrics")

# Columns of numbers become hardly smaller by more work.
_GZIP_LEVEL = 4
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


@router.get("/metrics", response_model=MetricsAnswer)
def read_metrics(
    session: SessionDep,
    caller: Caller,
    runs: Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")],
    names: Annotated[
        str | None, Query(max_length=20_000, description="Names joined by commas; default all.")
    ] = None,
    x: Annotated[
        Axis,
        Query(description="time is seconds since the epoch, relative since the first metric."),
    ] = "step",
    from_: Annotated[
        float | None, Query(alias="from", allow_inf_nan=False, description="Least x, inclusive.")
    ] = None,
    to: Annotated[
        float | None, Query(allow_inf_nan=False, description="Greatest x, inclusive.")
    ] = None,
    points: Annotated[
        int,
        Query(
            ge=1, le=20_000, description="Buckets per curve at most; twice as many points whole."
        ),
    ] = 1000,
    exact: Annotated[
        bool, Query(description="Values as they are, not to 1/8192 of the curve's range.")
    ] = False,
    encodings: Annotated[
        str, Header(alias="accept-encoding", max_length=500, include_in_schema=False)
    ] = "",
) -> Response:
    """Columns of min, max, mean and last per bucket; curves with few points come whole."""
    run_ids = seen_runs(session, caller, runs)
    wanted = None if names is None else [name for name in names.split(",") if name]
    window = Window(x=x, from_=from_, to=to, points=points)
    return packed(curves.read(session, run_ids, wanted, window, exact=exact), encodings)


def packed(answer: MetricsAnswer, encodings: str) -> Response:
    """The answer as JSON, compressed where the client takes that."""
    body, headers = orjson.dumps(answer, default=vars), {"Vary": "Accept-Encoding"}
    if "gzip" in encodings:
        packing = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_FORMAT)
        body = packing.compress(body) + packing.flush()
        headers["Content-Encoding"] = "gzip"
    return Response(body, media_type="application/json", headers=headers)


@router.post("/runs/{run_id}/metrics", status_code=201, dependencies=[IDEMPOTENT])
def add_outside_metrics(
    run_id: str, body: OutsideMetricsBody, session: SessionDep, at: Now
) -> MetricsAccepted:
    """Attach results of an evaluation made elsewhere; names start with gold/ or outside/."""
    return MetricsAccepted(accepted=metrics.append_outside(session, run_id, body.points, at=at))
