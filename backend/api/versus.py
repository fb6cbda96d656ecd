"""Two generate runs on the same prompts, judged by people."""

from contextlib import suppress
from datetime import datetime
from functools import partial

from backend.deps import IDEMPOTENT, Now, SessionDep
from backend.domain.access import Caller
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.compared.versus import PairsPutUp, VersusAnswer, VersusBody
from backend.schemas.paging import Id
from backend.store import versus
from backend.store.versus import Chosen, PairsTaken

router = api_router("versus")


@router.post("/runs/{run_id}/versus", status_code=201, openapi_extra=IDEMPOTENT)
async def put_up_pairs(run_id: str, body: VersusBody, phases: Phases, at: Now) -> PairsPutUp:
    """Put responses of this run and another to the same prompts up for ranking, pair by pair."""
    while True:
        chosen = await phases.read_much(lambda session: versus.choose(session, run_id, body))
        with suppress(PairsTaken):
            return await phases.write(partial(_put_up, run_id, body, chosen, at))


def _put_up(
    run_id: str, body: VersusBody, chosen: Chosen, at: datetime, session: SessionDep, _: Caller
) -> PairsPutUp:
    return versus.put_up(session, run_id, body, chosen, at=at)


@router.get("/runs/{run_id}/versus")
def read_versus(run_id: str, session: SessionDep, other_run_id: Id) -> VersusAnswer:
    """How often people preferred the responses of this run to those of another."""
    return versus.answer(session, run_id, other_run_id)
