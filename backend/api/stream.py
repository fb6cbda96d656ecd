"""The live stream of one run or several, as server-sent events."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from fastapi import Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from backend.api.run_access import SeenRun, must_see, seen_runs
from backend.deps import SessionDep, Viewer, api_router, caller_of, database_of, now, settings_of
from backend.errors import Forbidden, NotFound, NotSignedIn
from backend.schemas.vocabulary import Role
from backend.stream import Streams

router = api_router("stream")

# A proxy must hand events on as they come.
_HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-cache"}
_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


def _seen(
    session: SessionDep,
    caller: Viewer,
    runs: Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")],
) -> list[str]:
    return seen_runs(session, caller, runs)


class _Begin:
    """Where a stream begins: after an id, at the first event, or with what comes next."""

    def __init__(
        self,
        last_event_id: Annotated[
            str | None,
            Header(max_length=2000, description="Id of the last event that was received."),
        ] = None,
        last_id: Annotated[
            str | None,
            Query(max_length=2000, description="As Last-Event-ID, if you cannot set a header."),
        ] = None,
        since: Annotated[
            Literal["start", "now"],
            Query(description="Without an id: start = with the first event, now = with the next."),
        ] = "start",
    ) -> None:
        self.last_id = last_event_id or last_id
        self.from_now = since == "now"


BeginDep = Annotated[_Begin, Depends()]


@router.get("/stream", response_class=StreamingResponse, responses=_ANSWERS)
async def stream_runs(
    request: Request, run_ids: Annotated[list[str], Depends(_seen)], begin: BeginDep
) -> StreamingResponse:
    """Events of several runs, each run's in order, none missing and none twice.

    Types: state, start, metric, progress, sample, checkpoint, alert, log, rewind. `data` is
    `{run, seq, at, ...}`. `reset` says that the id was unknown: load everything again.
    """
    return await _streaming(request, run_ids, begin)


@router.get("/runs/{run_id}/stream", response_class=StreamingResponse, responses=_ANSWERS)
async def stream_run(request: Request, run_id: SeenRun, begin: BeginDep) -> StreamingResponse:
    """Events of one run, as GET /stream sends them."""
    return await _streaming(request, [run_id], begin)


async def _streaming(request: Request, run_ids: Sequence[str], begin: _Begin) -> StreamingResponse:
    streams: Streams = request.app.state.streams
    events = await streams.follow(
        run_ids,
        last_id=begin.last_id,
        from_now=begin.from_now,
        may_follow=partial(_may_follow, request, run_ids),
    )
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


def _may_follow(request: Request, run_ids: Sequence[str]) -> bool:
    """Whether who sent this request may still see these runs."""
    with database_of(request).read() as session:
        try:
            caller = caller_of(request, session, settings_of(request), now())
            caller.must_hold(Role.VIEWER)
            must_see(session, caller, run_ids)
        except (NotSignedIn, Forbidden, NotFound):
            return False
    return True
