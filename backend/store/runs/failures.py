"""How runs ended badly: one row per end, with what was known at that moment.

Written by `store.runs.runs.transition`, in the transaction of the move; read for the run's page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.store.runs import logs
from backend.store.runs.logs import Printed
from backend.store.tables.runs import Run, RunFailure

LOG_LINES = 200


@dataclass(frozen=True)
class Evidence:
    """What a supervisor saw of the end: last lines, and bytes and seconds by name."""

    log: Sequence[Printed] = ()
    resources: Mapping[str, float | None] = field(default_factory=dict)


def record(
    session: Session,
    run: Run,
    error: Mapping[str, Any],
    evidence: Evidence | None,
    *,
    exit_code: int | None,
    at: datetime,
) -> None:
    """Keep this end; without evidence the log is what the relay had brought home by then."""
    if evidence is None:
        evidence = Evidence(logs.tail(session, run.id, run.attempt, limit=LOG_LINES))
    session.add(
        RunFailure(
            run_id=run.id,
            attempt=run.attempt,
            cause=error["cause"][:32],
            message=error["message"],
            advice=error["advice"],
            step=run.step,
            exit_code=exit_code,
            log=[line._asdict() for line in evidence.log[-LOG_LINES:]],
            resources=dict(evidence.resources),
            created_at=at,
        )
    )


def of_run(session: Session, run_id: str, *, limit: int = 20) -> list[RunFailure]:
    """The newest bad ends of a run, newest first."""
    statement = select(RunFailure).where(RunFailure.run_id == run_id)
    return list(session.scalars(statement.order_by(RunFailure.number.desc()).limit(limit)))
