"""The live stream of one run or several, as server-sent events."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from backend.api.several_runs import RunsQuery, seen_runs, those_seen
from backend.auth import check_page
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.errors import InvalidInput
from backend.phases import Phases
from backend.pressure.permissions import Permissions
from backend.pressure.waiting_annotators import WaitingAnnotators
from backend.routes import StreamRoute
from backend.schemas.vocabulary import Role
from backend.store.runs import events as run_events
from backend.store.runs import runs as kept_runs
from backend.stream import Streams

# Per person and process; browsers keep six connections to one address at most.
MOST_STREAMS = 20
# Of the number of an event.
MOST_DIGITS = 15

# A proxy must hand events on as they come.
_HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-cache"}
_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


async def _must_be_own_page(
    request: Request,
    user_id: Annotated[
        str | None,
        Query(
            max_length=64,
            description="Refuse (401) unless this user is signed in, as the header X-Podium-User "
            "does: a browser's EventSource sets no header.",
        ),
    ] = None,
) -> None:
    phases: Phases = request.state.phases
    check_page(phases.caller, user_id)


router = APIRouter(
    tags=["stream"], route_class=StreamRoute, dependencies=[Depends(_must_be_own_page)]
)


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
    runs: RunsQuery,
    after: Annotated[
        str | None,
        Query(
            max_length=5000,
            description="Where runs continue, joined by commas: `RUN:SEQ` = after that event, "
            "`RUN:now` = with the next one. The stream then begins with `position`.",
        ),
    ] = None,
) -> StreamingResponse:
    """Events of several runs, each run's in order, none missing and none twice.

    Types: state, start, metric, progress, sample, checkpoint, alert, log, rewind. `data` is
    `{run, seq, at, ...}`. `reset` says that the id was unknown: load everything anew.

    With `after` the runs may change from one request to the next: the first event is `position`
    with `{RUN: SEQ}` of each run that is followed; those that you do not see are left out. `reset`
    names the run whose events end before its `SEQ`, and every 15 s without an event there is a
    `ping`.
    """

    def _open(session: SessionDep) -> _Opening:
        seen = seen_runs if after is None else those_seen
        return _opening(session, seen(session, phases.caller, runs))

    numbers = None if after is None else _numbers(after, runs)
    return _streaming(phases, await phases.read(_open), begin, numbers)


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
    waiting_annotators: WaitingAnnotators = request.app.state.waiting_annotators
    permissions: Permissions = request.app.state.permissions
    claim = phases.claim(partial(_may_rank, project_id))
    permission = permissions.open(claim, most=MOST_STREAMS)
    events = waiting_annotators.wait(project_id, phases.caller.id, permission)
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


class _Opening(NamedTuple):
    """What a stream needs of the store before it begins: all of it, in one session."""

    heads: dict[str, int]
    project_ids: frozenset[str]


def _opening(session: SessionDep, run_ids: Sequence[str]) -> _Opening:
    project_ids = frozenset(kept_runs.known_projects(session, run_ids).values())
    return _Opening(run_events.heads(session, run_ids), project_ids)


def _numbers(after: str, runs: str) -> dict[str, int | None]:
    """Parse `after`: for each run a number, or None for now. Raises InvalidInput."""
    named = set(runs.split(","))
    numbers: dict[str, int | None] = {}
    for part in after.split(","):
        run_id, _, number = part.partition(":")
        is_number = number.isascii() and number.isdecimal() and len(number) <= MOST_DIGITS
        if run_id not in named - set(numbers) or not (is_number or number == "now"):
            raise InvalidInput(
                f"`after` has {part[:80]!r}; expected RUN:SEQ or RUN:now, each run of `runs` at "
                "most once",
                advice="Join such pairs with commas, for example run_a:17,run_b:now.",
            )
        numbers[run_id] = None if number == "now" else int(number)
    return numbers


def _after(numbers: Mapping[str, int | None], heads: Mapping[str, int]) -> dict[str, int]:
    """Find where each run that the caller sees goes on."""
    return {
        run_id: heads[run_id] if number is None else number
        for run_id, number in numbers.items()
        if run_id in heads
    }


def _streaming(
    phases: Phases,
    opening: _Opening,
    begin: _Begin,
    numbers: Mapping[str, int | None] | None = None,
) -> StreamingResponse:
    heads = opening.heads
    after = None if numbers is None else _after(numbers, heads)
    streams: Streams = phases.request.app.state.streams
    permissions: Permissions = phases.request.app.state.permissions
    claim = phases.claim_to_view(*opening.project_ids)
    events = streams.follow(
        heads,
        last_id=begin.last_id,
        from_now=begin.from_now,
        after=after,
        permission=permissions.open(claim, most=MOST_STREAMS),
    )
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


def _may_rank(project_id: str, caller: Caller) -> bool:
    """Whether whoever waits may still be given comparisons of this project."""
    return caller.holds_in(project_id, Role.ANNOTATOR)
