"""Lines the trainer printed.

Appended by the worker's relay inside its fenced transaction, which bounds number and length;
`store.runs.shown` shows them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from backend.store.runs import events as run_events
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import LogLine


class Printed(NamedTuple):
    """A line and the stream it came from, stdout or stderr."""

    stream: str
    text: str


def append(
    session: Session, run_id: str, attempt: int, lines: Sequence[Printed], *, at: datetime
) -> None:
    """Store lines in this order, one `log` event each."""
    run_events.append(session, run_id, store(session, run_id, attempt, lines), at=at)


def store(session: Session, run_id: str, attempt: int, lines: Sequence[Printed]) -> list[NewEvent]:
    """Store lines in this order; their events, for the caller to append."""
    if not lines:
        return []
    rows = [
        {"run_id": run_id, "attempt": attempt, "stream": line.stream, "text": line.text}
        for line in lines
    ]
    numbers = session.scalars(
        insert(LogLine).returning(LogLine.number, sort_by_parameter_order=True), rows
    ).all()
    return [
        NewEvent("log", {"number": number, "attempt": attempt, "stream": s, "text": text})
        for number, (s, text) in zip(numbers, lines, strict=True)
    ]


def counts(session: Session, run_id: str, attempt: int) -> dict[str, int]:
    """How many lines of each stream of an attempt are stored."""
    statement = (
        select(LogLine.stream, func.count())
        .where(LogLine.run_id == run_id, LogLine.attempt == attempt)
        .group_by(LogLine.stream)
    )
    return dict(session.execute(statement).all())


def tail(session: Session, run_id: str, attempt: int, *, limit: int) -> list[Printed]:
    """The newest lines of an attempt, oldest of them first."""
    statement = (
        select(LogLine.stream, LogLine.text)
        .where(LogLine.run_id == run_id, LogLine.attempt == attempt)
        .order_by(LogLine.number.desc())
        .limit(limit)
    )
    return [Printed(*row) for row in session.execute(statement)][::-1]
