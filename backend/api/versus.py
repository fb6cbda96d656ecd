"""Two generate runs on the same prompts, judged by people."""

from backend.deps import IDEMPOTENT, Now, SessionDep
from backend.routes import api_router
from backend.schemas.compared.versus import PairsPutUp, VersusAnswer, VersusBody
from backend.schemas.paging import Id
from backend.store import versus

router = api_router("versus")


@router.post("/runs/{run_id}/versus", status_code=201, dependencies=[IDEMPOTENT])
def put_up_pairs(run_id: str, body: VersusBody, session: SessionDep, at: Now) -> PairsPutUp:
    """Put responses of this run and another to the same prompts up for ranking, pair by pair."""
    return versus.put_up(session, run_id, body, at=at)


@router.get("/runs/{run_id}/versus")
def read_versus(run_id: str, session: SessionDep, other_run_id: Id) -> VersusAnswer:
    """How often people preferred the responses of this run to those of another."""
    return versus.answer(session, run_id, other_run_id)
