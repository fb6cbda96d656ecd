"""The runs that a list in a query names, for routes that show several at once; no route here."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from backend.deps import SessionDep
from backend.domain.access import Caller, missing
from backend.errors import InvalidInput
from backend.schemas.vocabulary import Role
from backend.store.runs import runs

MOST_RUNS = 100

RunsQuery = Annotated[str, Query(max_length=5000, description="Ids of runs, joined by commas.")]


def seen_runs(session: SessionDep, caller: Caller, joined: str) -> list[str]:
    """The runs of a list joined by commas, without repeats; raises NotFound for an unseen one."""
    run_ids = _named(joined)
    must_see(session, caller, run_ids)
    return run_ids


def those_seen(session: SessionDep, caller: Caller, joined: str) -> list[str]:
    """The same without those that the caller does not see; raises NotFound if none is left."""
    run_ids = _named(joined)
    projects = runs.known_projects(session, run_ids)
    seen = [one for one in projects if caller.holds_in(projects[one], Role.VIEWER)]
    if not seen:
        must_see(session, caller, run_ids)
    return seen


def _named(joined: str) -> list[str]:
    run_ids = list(dict.fromkeys(part for part in joined.split(",") if part))
    if not 1 <= len(run_ids) <= MOST_RUNS:
        raise InvalidInput(
            f"`runs` names {len(run_ids)} runs; expected 1 to {MOST_RUNS}",
            advice=f"Join the ids of at most {MOST_RUNS} runs with commas.",
        )
    return run_ids


def must_see(session: SessionDep, caller: Caller, run_ids: Sequence[str]) -> None:
    """Raise NotFound, naming the first that is missing or foreign, unless the caller sees each."""
    projects = runs.known_projects(session, run_ids)
    for run_id in run_ids:
        if run_id not in projects:
            raise missing(f"run {run_id}")
        caller.must_see(projects[run_id], f"run {run_id}")
