"""Workers as the API shows them: how they are, on which devices, with which runs.

Called by routes; the worker's own rows and beats are `backend.store.workers.workers`.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from backend.domain import run_state, worker_state
from backend.domain.access import Caller
from backend.domain.worker_state import Heartbeats
from backend.schemas.vocabulary import RunState, WorkerState
from backend.schemas.workers import DeviceAnswer, WorkerAnswer, WorkersAnswer
from backend.store.tables.runs import Run
from backend.store.tables.workers import Worker

MOST_WORKERS = 500
# A worker that vanished is of interest for this long.
_LOST_FOR = timedelta(hours=1)


class Watch(NamedTuple):
    """Who looks, when by both clocks, and what he has seen before."""

    heartbeats: Heartbeats
    at: datetime
    now_s: float
    silent_after_s: float


# Runs at work by worker, oldest first, each with whether the caller may see it.
_Work = Mapping[str | None, Mapping[str, bool]]


def listing(session: Session, caller: Caller, watch: Watch) -> WorkersAnswer:
    """Workers at work, and those that vanished lately, newest first.

    Whether one is silent is decided by the watcher's own clock as soon as he has seen it twice.
    Runs of projects that the caller does not see are counted and not named.
    """
    vanished = and_(Worker.is_lost, Worker.stopped_at >= watch.at - _LOST_FOR)
    statement = select(Worker).where(or_(Worker.stopped_at.is_(None), vanished))
    workers = session.scalars(statement.order_by(Worker.number.desc()).limit(MOST_WORKERS))
    work = _work(session, caller)
    queued = select(func.count()).select_from(Run).where(Run.state == RunState.QUEUED)
    return WorkersAnswer(
        items=[_answer(worker, work, watch) for worker in workers],
        queued_runs=session.scalar(queued) or 0,
    )


def _work(session: Session, caller: Caller) -> _Work:
    work: defaultdict[str | None, dict[str, bool]] = defaultdict(dict)
    live = select(Run.owner, Run.id, Run.project_id).where(Run.state.in_(run_state.LIVE))
    for owner, run_id, project_id in session.execute(live.order_by(Run.number)):
        work[owner][run_id] = caller.sees(project_id)
    return work


def _answer(worker: Worker, work: _Work, watch: Watch) -> WorkerAnswer:
    report, is_lost = worker.report, worker.stopped_at is not None
    state = worker_state.state_of(report, is_lost=is_lost, is_silent=_is_silent(worker, watch))
    at_work = work.get(worker.id, {})
    return WorkerAnswer(
        **{name: report.get(name) for name in _MEASURED},
        id=worker.id,
        host=worker.host,
        pid=worker.pid,
        state=state,
        state_sentence=worker_state.sentence(state, report),
        is_alive=state not in (WorkerState.SILENT, WorkerState.LOST),
        slots=worker.slots,
        devices=[_device(told, at_work) for told in worker.devices],
        busy=len(at_work),
        run_ids=[run_id for run_id, is_seen in at_work.items() if is_seen],
        beat_at=worker.beat_at,
    )


_MEASURED = (
    "memory_used_bytes",
    "memory_bytes",
    "disk_free_bytes",
    "disk_bytes",
    "disk_needed_bytes",
)


def _device(told: Mapping[str, Any], at_work: Mapping[str, bool]) -> dict[str, Any]:
    holders = told.get("run_ids", [])
    unknown: dict[str, Any] = dict.fromkeys(DeviceAnswer.model_fields)
    return {
        **unknown,
        "is_returning": False,
        **told,
        "busy": len(holders),
        # The report is of the last beat, and a lease outlives its run by a moment.
        "leaving": sum(run_id not in at_work for run_id in holders),
        "run_ids": [run_id for run_id in holders if at_work.get(run_id, False)],
    }


def _is_silent(worker: Worker, watch: Watch) -> bool:
    silence_s = watch.heartbeats.silence_s(worker.id, worker.beat, watch.now_s)
    if silence_s is None:
        # The first look: only the clock of the worker says how old its beat is.
        silence_s = (watch.at - worker.beat_at).total_seconds()
    return silence_s > watch.silent_after_s
