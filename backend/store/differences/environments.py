"""Where runs were executed: what each of their attempts reported at its start.

Called by `backend.api.differences`; the rules are `backend.domain.differences.environments`.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.differences.environments import environment_differences
from backend.schemas.compared.differences import EnvironmentDifferences
from backend.store.tables.runs import IS_START, Run, RunEvent

# Of one run, the newest; a run that crashes for ever is no reason to read for ever.
_MOST_ATTEMPTS = 20


def of_runs(session: Session, run_ids: Sequence[str]) -> EnvironmentDifferences:
    """What was not the same where these runs were executed."""
    rows = session.execute(
        select(Run.id, Run.environment, Run.attempt).where(Run.id.in_(run_ids))
    ).all()
    found = {
        run_id: _of_attempts(session, run_id) if attempt > 1 else [environment]
        for run_id, environment, attempt in rows
    }
    return environment_differences({run_id: found[run_id] for run_id in run_ids})


def _of_attempts(session: Session, run_id: str) -> list[dict[str, Any]]:
    starts = (
        select(RunEvent.data)
        .where(RunEvent.run_id == run_id, IS_START)
        .order_by(RunEvent.seq.desc())
        .limit(_MOST_ATTEMPTS)
    )
    return [data.get("environment", {}) for data in reversed(session.scalars(starts).all())]
