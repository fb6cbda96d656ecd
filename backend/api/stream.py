"""The live stream of one run or several, as server-sent events."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from backend.api.run_access import SeenRun, seen_runs
from backend.deps import ApiRoute, SessionDep, Viewer, claim_of
from backend.domain.access import Caller
from backend.pressure.permissions import Claim, Permissions
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


class _StreamRoute(ApiRoute):
    """A route whose caller gets a turn among those who open streams."""

    opens_stream = True


router = APIRouter(tags=["stream"], route_class=_StreamRoute)


class _Opening(NamedTuple):
    """What a stream needs of the store before it begins: all of it, in the request's session."""

    heads: dict[str, int]
    claim: Claim


def _opening(
    request: Request, session: SessionDep, caller: Caller, run_ids: Sequence[str]
) -> _Opening:
    projects = frozenset(kept_runs.projects_of(session, run_ids).values())
    claim = claim_of(request, caller, partial(_may_follow, projects))
    return _Opening(run_events.heads(session, run_ids), claim)


def _opening_of_many(
    request: Request,
    session: SessionDep,
    caller: Viewer,
    runs: Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")],
) -> _Opening:
    return _opening(request, session, caller, seen_runs(session, caller, runs))


def _opening_of_one(
    request: Request, session: SessionDep, caller: Viewer, run_id: SeenRun
) -> _Opening:
    return _opening(request, session, caller, [run_id])


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
    request: Request, opening: Annotated[_Opening, Depends(_opening_of_many)], begin: BeginDep
) -> StreamingResponse:
    """Events of several runs, each run's in order, none missing and none twice.

    Types: state, start, metric, progress, sample, checkpoint, alert, log, rewind. `data` is
    `{run, seq, at, ...}`. `reset` says that the id was unknown: load everything anew.
    """
    return _streaming(request, opening, begin)


@router.get("/runs/{run_id}/stream", response_class=StreamingResponse, responses=_ANSWERS)
async def stream_run(
    request: Request, opening: Annotated[_Opening, Depends(_opening_of_one)], begin: BeginDep
) -> StreamingResponse:
    """Events of one run, as GET /stream sends them."""
    return _streaming(request, opening, begin)


def _streaming(request: Request, opening: _Opening, begin: _Begin) -> StreamingResponse:
    streams: Streams = request.app.state.streams
    permissions: Permissions = request.app.state.permissions
    events = streams.follow(
        opening.heads,
        last_id=begin.last_id,
        from_now=begin.from_now,
        permission=permissions.open(opening.claim, most=MOST_STREAMS),
    )
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


def _may_follow(project_ids: frozenset[str], caller: Caller) -> bool:
    """Whether this person may still see runs of these projects."""
    return caller.holds(Role.VIEWER) and all(caller.sees(one) for one in project_ids)
