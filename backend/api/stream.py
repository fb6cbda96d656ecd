"""The live stream of one run or several, as server-sent events."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import StreamingResponse

from backend.api.several_runs import seen_runs
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.phases import Phases
from backend.pressure.lookout import Lookout
from backend.pressure.permissions import Permissions
from backend.routes import StreamRoute
from backend.schemas.vocabulary import Role
from backend.store.runs import events as run_events
from backend.store.runs import runs as kept_runs
from backend.stream import Streams

# Per person and process; browsers keep six connections to one address at most.
MOST_STREAMS = 20

# A proxy must hand events on as they come.
_HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-cache"}
_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


router = APIRouter(tags=["stream"], route_class=StreamRoute)


class _Begin:
    """Where a stream begins: after an id, at the first event, or with what comes next."""

    def __init__(
        self,
        last_event_id: Annotated[
            str | None, Header(max_length=2000, description="Sent by a browser that comes back.")
        ] = None,
        last_id: Annotated[
            str | None, Query(max_length=2000, description="The same, where no header can be set.")
        ] = None,
        since: Annotated[
            Literal["start", "now"], Query(description="Where to start without an id.")
        ] = "start",
    ) -> None:
        self.last_id = last_event_id or last_id
        self.from_now = since == "now"


BeginDep = Annotated[_Begin, Depends()]


@router.get("/stream", response_class=StreamingResponse, responses=_ANSWERS)
async def stream_runs(
    phases: Phases,
    begin: BeginDep,
    runs: Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")],
) -> StreamingResponse:
    """Events of several runs, each run's in order, none missing and none twice.

    Types: state, start, metric, progress, sample, checkpoint, alert, log, rewind. `data` is
    `{run, seq, at, ...}`. `reset` says that the id was unknown: load everything anew.
    """

    def _open(session: SessionDep) -> _Opening:
        return _opening(session, seen_runs(session, phases.caller, runs))

    return _streaming(phases, await phases.read(_open), begin)


@router.get("/runs/{run_id}/stream", response_class=StreamingResponse, responses=_ANSWERS)
async def stream_run(run_id: str, phases: Phases, begin: BeginDep) -> StreamingResponse:
    """Events of one run, as GET /stream sends them."""
    opening = await phases.read(lambda session: _opening(session, [run_id]))
    return _streaming(phases, opening, begin)


@router.get(
    "/projects/{project_id}/annotation/stream", response_class=StreamingResponse, responses=_ANSWERS
)
async def stream_work(project_id: str, phases: Phases) -> StreamingResponse:
    """One event `work`, as soon as this annotator could be given a comparison; then it ends.

    For whoever was told that nothing is left. It says nothing else: request an assignment then.
    """
    request = phases.request
    lookout: Lookout = request.app.state.lookout
    permissions: Permissions = request.app.state.permissions
    claim = phases.claim(partial(_may_rank, project_id))
    events = lookout.wait(project_id, phases.caller.id, permissions.open(claim, most=MOST_STREAMS))
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


class _Opening(NamedTuple):
    """What a stream needs of the store before it begins: all of it, in one session."""

    heads: dict[str, int]
    project_ids: frozenset[str]


def _opening(session: SessionDep, run_ids: Sequence[str]) -> _Opening:
    project_ids = frozenset(kept_runs.projects_of(session, run_ids).values())
    return _Opening(run_events.heads(session, run_ids), project_ids)


def _streaming(phases: Phases, opening: _Opening, begin: _Begin) -> StreamingResponse:
    streams: Streams = phases.request.app.state.streams
    permissions: Permissions = phases.request.app.state.permissions
    claim = phases.claim(partial(_may_follow, opening.project_ids))
    events = streams.follow(
        opening.heads,
        last_id=begin.last_id,
        from_now=begin.from_now,
        permission=permissions.open(claim, most=MOST_STREAMS),
    )
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


def _may_rank(project_id: str, caller: Caller) -> bool:
    """Whether whoever waits may still be given comparisons of this project."""
    return caller.holds_in(project_id, Role.ANNOTATOR)


def _may_follow(project_ids: frozenset[str], caller: Caller) -> bool:
    """Whether whoever opened a stream may still see the runs of these projects."""
    return all(caller.holds_in(one, Role.VIEWER) for one in project_ids)
