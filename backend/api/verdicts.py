"""Verdicts: what the metrics of runs say of them, in a sentence each."""

from backend.api.several_runs import RunsQuery, seen_runs
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.metrics.verdicts import VerdictsAnswer
from backend.store.metrics import verdicts

router = api_router("verdicts")


@router.get("/verdicts")
def list_verdicts(
    session: SessionDep,
    caller: Caller,
    runs: RunsQuery,
) -> VerdictsAnswer:
    """Whether each run made its model better, by what was held out or measured outside the run."""
    return VerdictsAnswer(items=verdicts.of_runs(session, seen_runs(session, caller, runs)))
