"""Which run a route is about: the one in its path, if the caller may see or steer it.

Routers of runs, metrics, samples and the stream declare these; no route of its own.
"""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends

from backend.deps import Researcher, SessionDep, Viewer
from backend.domain.access import Caller
from backend.errors import InvalidInput
from backend.store.runs import runs

MOST_RUNS = 100


def _seen(run_id: str, session: SessionDep, caller: Viewer) -> str:
    caller.must_see(runs.get(session, run_id).project_id, f"run {run_id}")
    return run_id


def _steered(run_id: str, session: SessionDep, caller: Researcher) -> str:
    return _seen(run_id, session, caller)


def seen_runs(session: SessionDep, caller: Viewer, joined: str) -> list[str]:
    """The runs of a list joined by commas, without repeats; raises NotFound for an unseen one."""
    run_ids = list(dict.fromkeys(part for part in joined.split(",") if part))
    if not 1 <= len(run_ids) <= MOST_RUNS:
        raise InvalidInput(
            f"`runs` names {len(run_ids)} runs; expected 1 to {MOST_RUNS}",
            advice=f"Join the ids of at most {MOST_RUNS} runs with commas.",
        )
    must_see(session, caller, run_ids)
    return run_ids


def must_see(session: SessionDep, caller: Caller, run_ids: Sequence[str]) -> None:
    """Raise NotFound unless the caller sees each of these runs."""
    for run_id, project_id in runs.projects_of(session, run_ids).items():
        caller.must_see(project_id, f"run {run_id}")


# The id of a run that the caller may look at, and of one that the caller may change.
SeenRun = Annotated[str, Depends(_seen)]
SteeredRun = Annotated[str, Depends(_steered)]
