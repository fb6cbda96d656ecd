"""Workers as the API shows them: who lives, on which devices, with which runs.

Called by routes; the worker's own rows and beats are `backend.store.workers`.
"""

from collections import Counter, defaultdict
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import run_state
from backend.domain.access import Caller
from backend.schemas.runs import WorkerAnswer, WorkersAnswer
from backend.schemas.vocabulary import RunState
from backend.store.tables import Run
from backend.store.worker_tables import Worker

MOST_WORKERS = 500


def listing(session: Session, caller: Caller, *, at: datetime, stale_s: float) -> WorkersAnswer:
    """Workers that have not stopped, newest first; alive = a beat within `stale_s` before `at`.

    Runs of projects that the caller does not see are counted and not named.
    """
    statement = select(Worker).where(Worker.stopped_at.is_(None)).order_by(Worker.number.desc())
    workers = list(session.scalars(statement.limit(MOST_WORKERS)))
    run_ids: dict[str | None, list[str]] = defaultdict(list)
    busy = Counter[str | None]()
    live = select(Run.owner, Run.id, Run.project_id).where(Run.state.in_(run_state.LIVE))
    for owner, run_id, project_id in session.execute(live.order_by(Run.number)):
        busy[owner] += 1
        if caller.sees(project_id):
            run_ids[owner].append(run_id)
    limit = at - timedelta(seconds=stale_s)
    items = [
        WorkerAnswer(
            id=worker.id,
            host=worker.host,
            pid=worker.pid,
            slots=worker.slots,
            devices=worker.devices,
            busy=busy[worker.id],
            run_ids=run_ids[worker.id],
            is_alive=worker.beat_at >= limit,
            beat_at=worker.beat_at,
        )
        for worker in workers
    ]
    queued = select(func.count()).select_from(Run).where(Run.state == RunState.QUEUED)
    return WorkersAnswer(items=items, queued_runs=session.scalar(queued) or 0)
