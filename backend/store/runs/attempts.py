"""When the newest attempts of runs began.

Called by `backend.store.runs.shown`.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.store.tables.runs import IS_START, Run, RunEvent


def newest_starts(session: Session, runs: Sequence[Run]) -> dict[str, datetime | None]:
    """When the newest attempt of each run began; None if that is not known.

    The first began when a worker took the run, a later one when its trainer reported it: one whose
    trainer has not started yet has no start.
    """
    found = {run.id: run.started_at if run.attempt == 1 else None for run in runs}
    attempts = {run.id: run.attempt for run in runs if run.attempt > 1}
    if attempts:
        newest = (
            select(RunEvent.run_id, func.max(RunEvent.seq).label("seq"))
            .where(RunEvent.run_id.in_(attempts), IS_START)
            .group_by(RunEvent.run_id)
            .subquery()
        )
        attempt = RunEvent.data["attempt"].as_integer()
        columns = select(RunEvent.run_id, attempt, RunEvent.created_at)
        at_newest = (RunEvent.run_id == newest.c.run_id) & (RunEvent.seq == newest.c.seq)
        for run_id, number, created_at in session.execute(columns.join(newest, at_newest)):
            if number == attempts[run_id]:
                found[run_id] = created_at
    return found
