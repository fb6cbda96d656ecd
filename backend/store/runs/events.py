"""The numbered history of a run: what the live stream replays.

Every writer takes its numbers by one UPDATE of the run's row inside its own transaction, so commit
order is `seq` order and a reader that has seen n never misses n - 1.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, insert, select, update
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.store.tables.runs import FREQUENT, IS_RARE, Run, RunEvent


class NewEvent(NamedTuple):
    """An event that has no number yet."""

    type: str
    data: dict[str, Any]


def append(session: Session, run_id: str, events: Sequence[NewEvent], *, at: datetime) -> int:
    """Append events to the run's history and return the last number given out.

    Without events nothing is written, and it is 0. Raises NotFound if there is no such run.
    """
    if not events:
        return 0
    last = session.execute(
        update(Run).where(Run.id == run_id).values(seq=Run.seq + len(events)).returning(Run.seq)
    ).scalar_one_or_none()
    if last is None:
        raise NotFound(f"there is no run {run_id}")
    first = last - len(events) + 1
    rows = [
        {"run_id": run_id, "seq": first + i, "type": e.type, "data": e.data, "created_at": at}
        for i, e in enumerate(events)
    ]
    session.connection().execute(insert(RunEvent), rows)
    return int(last)


class KeptEvent(NamedTuple):
    """An event of a run with its number."""

    run_id: str
    seq: int
    type: str
    data: dict[str, Any]
    created_at: datetime


def heads(session: Session, run_ids: Collection[str]) -> dict[str, int]:
    """The last number given out for each of these runs."""
    rows = session.execute(select(Run.id, Run.seq).where(Run.id.in_(run_ids)))
    return dict(rows.all())


def told(
    session: Session, run_ids: Collection[str], kind: ColumnElement[bool]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(run, data) of the events of a kind that has an index, such as IS_START, in order."""
    if not run_ids:
        return
    found = select(RunEvent.run_id, RunEvent.data).where(RunEvent.run_id.in_(run_ids), kind)
    rows = session.execute(found.order_by(RunEvent.run_id, RunEvent.seq))
    yield from ((row.run_id, row.data) for row in rows)


def after(
    session: Session, run_id: str, seq: int, *, limit: int, types: Sequence[str] = ()
) -> list[KeptEvent]:
    """The run's events beyond number `seq`, in order, at most `limit`; no types = all types."""
    columns = (RunEvent.run_id, RunEvent.seq, RunEvent.type, RunEvent.data, RunEvent.created_at)
    statement = select(*columns).where(RunEvent.run_id == run_id, RunEvent.seq > seq)
    if types:
        statement = statement.where(RunEvent.type.in_(types))
        if set(FREQUENT).isdisjoint(types):
            # Implied by the types, and in the words of the index that leaves the frequent ones out.
            statement = statement.where(IS_RARE)
    rows = session.execute(statement.order_by(RunEvent.seq).limit(limit))
    return [KeptEvent(*row) for row in rows]
