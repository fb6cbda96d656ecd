"""What runs do not have in common besides their configs."""

from backend.api.several_runs import RunsQuery, seen_runs
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.compared.differences import DataDifferences, EnvironmentDifferences
from backend.store.differences import data, environments

router = api_router("runs")


@router.get("/environment-differences")
def compare_environments(
    session: SessionDep, caller: Caller, runs: RunsQuery
) -> EnvironmentDifferences:
    """The facts of code, libraries and hardware that differ, and what was not recorded.

    Each attempt of a run counts, the newest 20 at most.
    """
    return environments.of_runs(session, seen_runs(session, caller, runs))


@router.get("/data-differences")
def compare_data(session: SessionDep, caller: Caller, runs: RunsQuery) -> DataDifferences:
    """The snapshots that differ between these runs, and how far their prompts overlap.

    100,000 records at most are compared; hashes and counts are of all of them. A snapshot of a
    project that the caller does not see has its id as its name.
    """
    return data.of_runs(session, seen_runs(session, caller, runs), caller)
