"""Metrics: curves in buckets, and results of outside evaluations attached to a run."""

import zlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated

import orjson
from fastapi import Header, Query, Response

from backend.api.several_runs import RunsQuery, seen_runs
from backend.deps import IDEMPOTENT, Now, SessionDep
from backend.domain.access import Caller
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.metrics.curves import MetricsAccepted, MetricsAnswer, OutsideMetricsBody
from backend.schemas.metrics.distributions import DistributionsAnswer
from backend.schemas.metrics.prompt_scores import PromptScoresAnswer
from backend.schemas.metrics.seeds import GroupCurves
from backend.schemas.numbers import LARGEST
from backend.schemas.paging import Id
from backend.schemas.run_directory.events import MetricLine
from backend.store.metrics import curves, distributions, outside, prompt_scores
from backend.store.metrics.curves import Axis, Window
from backend.store.metrics.prompt_scores import Asked

router = api_router("metrics")

# Columns of numbers become hardly smaller by more work.
_GZIP_LEVEL = 4
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


AxisQuery = Annotated[
    Axis, Query(description="time is seconds since the epoch, relative since the first metric.")
]
FromQuery = Annotated[
    float | None, Query(alias="from", allow_inf_nan=False, description="Least x, inclusive.")
]
ToQuery = Annotated[float | None, Query(allow_inf_nan=False, description="Greatest x, inclusive.")]
ExactQuery = Annotated[
    bool, Query(description="Values as they are, not to 1/8192 of the curve's range.")
]
Encodings = Annotated[str, Header(alias="accept-encoding", max_length=500, include_in_schema=False)]


@router.get("/metrics", response_model=MetricsAnswer)
def read_metrics(
    session: SessionDep,
    caller: Caller,
    runs: RunsQuery,
    names: Annotated[
        str | None, Query(max_length=20_000, description="Names joined by commas; default all.")
    ] = None,
    x: AxisQuery = "step",
    from_: FromQuery = None,
    to: ToQuery = None,
    points: Annotated[
        int,
        Query(
            ge=1, le=20_000, description="Buckets per curve at most; twice as many points whole."
        ),
    ] = 1000,
    exact: ExactQuery = False,
    encodings: Encodings = "",
) -> Response:
    """Columns of min, max, mean and last per bucket; curves with few points come whole."""
    run_ids = seen_runs(session, caller, runs)
    wanted = None if names is None else [name for name in names.split(",") if name]
    window = Window(x=x, from_=from_, to=to, points=points)
    return packed(curves.read(session, run_ids, wanted, window, exact=exact), encodings)


@router.get("/runs/{run_id}/distributions", response_model=DistributionsAnswer)
def read_distributions(
    run_id: str,
    session: SessionDep,
    x: AxisQuery = "step",
    from_: FromQuery = None,
    to: ToQuery = None,
    points: Annotated[int, Query(ge=1, le=1000, description="Columns of each at most.")] = 300,
    encodings: Encodings = "",
) -> Response:
    """How reward, length and advantage of a run are spread, in columns of one or more steps."""
    window = Window(x=x, from_=from_, to=to, points=points)
    return packed(distributions.read(session, run_id, window), encodings)


@router.get("/runs/{run_id}/prompt-scores", response_model=PromptScoresAnswer)
def read_prompt_scores(
    run_id: str,
    session: SessionDep,
    prompt_id: Annotated[
        list[Id] | None,
        Query(max_length=100, description="Only these prompts; may be given several times."),
    ] = None,
    after: Annotated[
        int, Query(ge=-1, le=2**31, description="The next_cursor of the previous prompts.")
    ] = -1,
    limit: Annotated[int, Query(ge=1, le=1000, description="Prompts at most.")] = 200,
    from_: Annotated[
        int | None, Query(alias="from", ge=0, le=LARGEST, description="First step, inclusive.")
    ] = None,
    to: Annotated[int | None, Query(ge=0, le=LARGEST, description="Last step, inclusive.")] = None,
    points: Annotated[
        int, Query(ge=1, le=1000, description="Columns of steps, one more at most.")
    ] = 200,
    width: Annotated[
        int | None, Query(ge=1, le=2**40, description="Steps of a column; default by `points`.")
    ] = None,
    encodings: Encodings = "",
) -> Response:
    """What the responses to each training prompt of a policy run scored through its steps."""
    asked = Asked(prompt_id, after, limit, from_, to, points, width)
    return packed(prompt_scores.read(session, run_id, asked), encodings)


def packed(
    answer: MetricsAnswer | DistributionsAnswer | PromptScoresAnswer | GroupCurves, encodings: str
) -> Response:
    """The answer as JSON, compressed where the client takes that."""
    body, headers = orjson.dumps(answer, default=vars), {"Vary": "Accept-Encoding"}
    if "gzip" in encodings:
        packing = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_FORMAT)
        body = packing.compress(body) + packing.flush()
        headers["Content-Encoding"] = "gzip"
    return Response(body, media_type="application/json", headers=headers)


@router.post("/runs/{run_id}/metrics", status_code=201, openapi_extra=IDEMPOTENT)
async def add_outside_metrics(
    run_id: str, body: OutsideMetricsBody, phases: Phases, at: Now
) -> MetricsAccepted:
    """Attach results of an evaluation made elsewhere; names start with gold/ or outside/."""
    lines = await phases.read(lambda session: outside.lines_of(session, run_id, body.points, at=at))
    return await phases.write(partial(_add, run_id, lines, body.judge, at))


def _add(
    run_id: str,
    lines: Sequence[MetricLine],
    judge: str,
    at: datetime,
    session: SessionDep,
    _: Caller,
) -> MetricsAccepted:
    stored = outside.append(session, run_id, lines, judge=judge, at=at)
    return MetricsAccepted(accepted=stored)
