"""Numbers of this process and of the store for Prometheus, for administrators, at /metrics."""

from fastapi import Request, Response

from backend.deps import SessionDep
from backend.pressure.turns import Turns
from backend.pressure.waiting_annotators import WaitingAnnotators
from backend.routes import api_router
from backend.store.runs import runs
from backend.stream import Streams
from backend.traces.requests import Numbers

# Prometheus asks here, not below /api/v1.
router = api_router("numbers")

_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics", responses={200: {"content": {"text/plain": {}}}})
def scrape(request: Request, session: SessionDep) -> Response:
    """Requests, write turns, waiting requests, streams and runs in Prometheus' text format."""
    state = request.app.state
    numbers: Numbers = state.numbers
    turns: Turns = state.turns
    streams: Streams = state.streams
    waiting_annotators: WaitingAnnotators = state.waiting_annotators
    gauges: dict[str, tuple[str, dict[str, float]]] = {
        "podium_requests_waiting": ("Requests that wait for their turn.", turns.waiting()),
        "podium_streams_open": ("Open event streams.", {"all": streams.n_open}),
        "podium_annotators_waiting": (
            "Annotators who wait for a comparison.",
            {"all": waiting_annotators.n_open},
        ),
        "podium_runs": ("Runs by state.", runs.count_by_state(session)),
    }
    return Response(numbers.text(gauges), media_type=_TEXT)
