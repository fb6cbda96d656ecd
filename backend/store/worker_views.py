"""Workers as the API shows them: who lives, on which devices, with which runs.

Called by routes; the worker's own rows and beats are `backend.store.workers`.
"""

from collections import defaultdict
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import run_state
from backend.schemas.runs import WorkerAnswer
from backend.store.tables import Run, Worker

MOST_WORKERS = 500


def listing(session: Session, *, at: datetime, stale_s: float) -> list[WorkerAnswer]:
    """Workers that have not stopped, newest first; alive = a beat within `stale_s` before `at`."""
    statement = select(Worker).where(Worker.stopped_at.is_(None)).order_by(Worker.number.desc())
    workers = list(session.scalars(statement.limit(MOST_WORKERS)))
    run_ids: dict[str | None, list[str]] = defaultdict(list)
    live = select(Run.owner, Run.id).where(Run.state.in_(run_state.LIVE)).order_by(Run.number)
    for owner, run_id in session.execute(live):
        run_ids[owner].append(run_id)
    limit = at - timedelta(seconds=stale_s)
    return [
        WorkerAnswer(
            id=worker.id,
            host=worker.host,
            pid=worker.pid,
            slots=worker.slots,
            devices=worker.devices,
            run_ids=run_ids[worker.id],
            is_alive=worker.beat_at >= limit,
            beat_at=worker.beat_at,
        )
        for worker in workers
    ]
