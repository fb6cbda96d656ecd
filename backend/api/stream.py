"""The live stream of one run or several, as server-sent events."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from fastapi import Depends, Header, Query
from fastapi.responses import StreamingResponse

from backend.api.several_runs import must_see, seen_runs
from backend.deps import database_of
from backend.errors import Forbidden, NotFound, NotSignedIn
from backend.phases import Phases
from backend.routes import api_router
from backend.stream import Streams

router = api_router("stream")

# A proxy must hand events on as they come.
_HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-cache"}
_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


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
    phases: Phases,
    begin: BeginDep,
    runs: Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")],
) -> StreamingResponse:
    """Events of several runs, each run's in order, none missing and none twice.

    Types: state, start, metric, progress, sample, checkpoint, alert, log, rewind. `data` is
    `{run, seq, at, ...}`. `reset` says that the id was unknown: load everything again.
    """
    run_ids = await phases.read(lambda session: seen_runs(session, phases.caller, runs))
    return await _streaming(phases, run_ids, begin)


@router.get("/runs/{run_id}/stream", response_class=StreamingResponse, responses=_ANSWERS)
async def stream_run(run_id: str, phases: Phases, begin: BeginDep) -> StreamingResponse:
    """Events of one run, as GET /stream sends them."""
    return await _streaming(phases, [run_id], begin)


async def _streaming(phases: Phases, run_ids: Sequence[str], begin: _Begin) -> StreamingResponse:
    streams: Streams = phases.request.app.state.streams
    events = await streams.follow(
        run_ids,
        last_id=begin.last_id,
        from_now=begin.from_now,
        may_follow=partial(_may_follow, phases, run_ids),
    )
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


def _may_follow(phases: Phases, run_ids: Sequence[str]) -> bool:
    """Whether who sent this request may still see these runs."""
    with database_of(phases.request).read() as session:
        try:
            must_see(session, phases.admitted(session), run_ids)
        except (NotSignedIn, Forbidden, NotFound):
            return False
    return True
