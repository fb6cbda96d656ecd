"""Worker processes: who there is, and who is gone.

Called by the worker when it starts, beats and ends, and by the sweeper that looks for dead ones.
"""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.store.ids import new_id
from backend.store.tables.workers import Worker


class Present(NamedTuple):
    """A worker and its beat, as they were seen."""

    worker_id: str
    beat: int


def register(
    session: Session,
    *,
    host: str,
    pid: int,
    process: str,
    slots: int,
    report: dict[str, Any],
    at: datetime,
) -> str:
    """Add a worker and return its id, the owner of every run that it claims."""
    worker = Worker(
        id=new_id("worker"),
        created_at=at,
        host=host,
        pid=pid,
        process=process,
        slots=slots,
        beat_at=at,
        **_told(report),
    )
    session.add(worker)
    session.flush()
    return worker.id


def report(session: Session, worker_id: str, report: dict[str, Any], *, at: datetime) -> None:
    """Show life and say how the worker is; see `worker.worker_process` for what a report holds.

    A worker that was taken for dead is back.
    """
    back = {"beat": Worker.beat + 1, "beat_at": at, "stopped_at": None, "is_lost": False}
    session.execute(
        update(Worker)
        .where(Worker.id == worker_id)
        .values(**back, **_told(report))
        .execution_options(synchronize_session=False)
    )


def _told(report: dict[str, Any]) -> dict[str, Any]:
    """The columns of a report: the devices in one, what was measured in the other."""
    measured = {name: value for name, value in report.items() if name != "devices"}
    return {"devices": report["devices"], "report": measured}


def stop(session: Session, worker_id: str, *, at: datetime) -> None:
    """Store that a worker has stopped."""
    _end(session, worker_id, at, is_lost=False)


def lose(session: Session, worker_id: str, *, at: datetime) -> None:
    """Keep in mind that a worker is gone without a word."""
    _end(session, worker_id, at, is_lost=True)


def _end(session: Session, worker_id: str, at: datetime, *, is_lost: bool) -> None:
    session.execute(
        update(Worker)
        .where(Worker.id == worker_id, Worker.stopped_at.is_(None))
        .values(stopped_at=at, is_lost=is_lost)
        .execution_options(synchronize_session=False)
    )


def present(session: Session) -> list[Present]:
    """Every worker that has not said, or been found, to be gone."""
    statement = select(Worker.id, Worker.beat).where(Worker.stopped_at.is_(None))
    return [Present(*row) for row in session.execute(statement.order_by(Worker.number))]


def present_on(session: Session, host: str) -> list[Worker]:
    """Workers of this host that have not said that they are gone."""
    statement = select(Worker).where(Worker.host == host, Worker.stopped_at.is_(None))
    return list(session.scalars(statement.order_by(Worker.number)))
