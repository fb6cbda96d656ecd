"""Imports: records go in batch by batch, seen by nobody before the whole import is complete.

Called by `backend.jobs.import_file` with records that `backend.domain.records.formats` has read:
`begin`, `keep` for each batch, then `complete`; or `withdraw` and `remove` if it comes to nothing.
Sending a file again adds nothing: records are recognised by the hash of their content, judgments by
annotator, comparison and ranking.

One import at a time writes into a project, so no import ever finds records of another one that may
still vanish. Every change of an import's records first makes sure that the import is in the state
that the caller believes: whoever was taken for dead writes nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.records.imported import AnyInput
from backend.errors import Conflict
from backend.schemas.data import ImportAnswer
from backend.store.data import assignments, keeping, places, projects, tallies
from backend.store.data.keeping import NewImport, Tally
from backend.store.tables.data import (
    Assignment,
    Comparison,
    Demonstration,
    Import,
    Judgment,
    Prompt,
    Response,
    Solution,
)
from backend.store.tables.people import Membership, User
from backend.store.visibility import COMPLETE, FAILED, SETTLING, UNFINISHED, WRITING, see_unfinished


class _Row(Protocol):
    """A row that an import may have brought."""

    __tablename__: str
    number: InstrumentedAttribute[int]
    import_id: InstrumentedAttribute[str | None]


# Whoever is referred to goes last.
_TABLES = cast(
    tuple[type[_Row], ...],
    (Judgment, Assignment, Comparison, Response, Solution, Demonstration, Prompt, User),
)
TABLES = [table.__tablename__ for table in _TABLES]


@dataclass(frozen=True)
class Unfinished:
    """An import that is being written or withdrawn; as long as somebody does, `beat` rises."""

    id: str
    state: str
    beat: int


def unfinished(session: Session, project_id: str | None = None) -> list[Unfinished]:
    """The imports that have not ended, the oldest first.

    Of one project if asked: then those that another one has to wait for.
    """
    states = (*UNFINISHED, SETTLING) if project_id is None else UNFINISHED
    statement = select(Import.id, Import.state, Import.beat).where(Import.state.in_(states))
    if project_id is not None:
        statement = statement.where(Import.project_id == project_id)
    rows = session.execute(statement.order_by(Import.number))
    return [Unfinished(row[0], row[1], row[2]) for row in rows]


def begin(session: Session, new: NewImport, *, at: datetime) -> bool:
    """Begin an import, unless another one into the project has not ended; whether it has begun."""
    projects.lock(session, new.project_id)
    if unfinished(session, new.project_id):
        return False
    see_unfinished(session)
    begins = {
        table.__tablename__: session.scalar(select(func.max(table.number))) or 0
        for table in _TABLES
    }
    session.add(
        Import(
            id=new.id,
            project_id=new.project_id,
            user_id=new.user_id,
            kind=new.kind,
            format=new.format,
            accepted=0,
            duplicates=0,
            rejected=[],
            state=WRITING,
            beat=0,
            begins=begins,
            created_at=at,
        )
    )
    session.flush()
    return True


def keep(
    session: Session, new: NewImport, good: Sequence[tuple[int, AnyInput]], *, at: datetime
) -> Tally:
    """Keep a batch of records, given with their lines. Raises Conflict if the import is withdrawn.

    The session sees the import's own records from here on, and so those of others.
    """
    _move(session, new.id, WRITING, WRITING)
    see_unfinished(session)
    return keeping.keep(session, new, good, at=at)


def complete(session: Session, new: NewImport, tally: Tally) -> ImportAnswer:
    """Show all records of an import at once. Raises Conflict if it is withdrawn.

    Comparisons that were there before and that it judged show their new counts once `settle` has
    gone over them.
    """
    projects.lock(session, new.project_id)
    _count(session, new.project_id, tally)
    places.forget(session, new.project_id)
    _move(
        session,
        new.id,
        WRITING,
        SETTLING if tally.judged_others else COMPLETE,
        accepted=tally.accepted,
        duplicates=tally.duplicates,
        rejected=[one.model_dump() for one in tally.rejected],
    )
    return ImportAnswer(
        import_id=new.id,
        accepted=tally.accepted,
        duplicates=tally.duplicates,
        rejected=tally.rejected,
        rejected_total=tally.rejected_total,
    )


def settle(session: Session, import_id: str, *, after: int, limit: int) -> int | None:
    """Count the judgments of comparisons that were there before the import, up to `limit` of them.

    `after`: what the last call returned, 0 at first; None: all are counted and the import has
    ended. Doing it again changes nothing.
    """
    project_id = session.scalar(
        select(Import.project_id).where(Import.id == import_id, Import.state == SETTLING)
    )
    if project_id is None:
        return None
    found = session.execute(
        select(Assignment.number, Assignment.comparison_id)
        .join(Comparison, Comparison.id == Assignment.comparison_id)
        .where(
            Assignment.import_id == import_id,
            Assignment.number > after,
            or_(Comparison.import_id.is_(None), Comparison.import_id != import_id),
        )
        .order_by(Assignment.number)
        .limit(limit)
    ).all()
    if not found:
        _move(session, import_id, SETTLING, COMPLETE)
        return None
    finished = assignments.recount(session, sorted({row[1] for row in found}))
    tallies.add(session, project_id, finished=finished)
    _move(session, import_id, SETTLING, SETTLING)
    return int(found[-1][0])


def withdraw(session: Session, import_id: str) -> bool:
    """Let an unfinished import write nothing more; whether there is something to `remove`."""
    state = session.scalar(select(Import.state).where(Import.id == import_id).with_for_update())
    if state == WRITING:
        _move(session, import_id, WRITING, FAILED)
    return state in UNFINISHED


def remove(session: Session, import_id: str, *, limit: int) -> bool:
    """Remove up to `limit` records of a withdrawn import; whether some may be left.

    With the last of them the import itself goes. Raises Conflict if it has gone already.
    """
    see_unfinished(session)
    _move(session, import_id, FAILED, FAILED)
    begins = session.scalar(select(Import.begins).where(Import.id == import_id)) or {}
    for table in _TABLES:
        numbers = session.scalars(
            select(table.number)
            .where(table.number > begins[table.__tablename__], table.import_id == import_id)
            .order_by(table.number)
            .limit(limit)
        ).all()
        if numbers:
            _delete(session, table, numbers)
            return True
    session.execute(delete(Import).where(Import.id == import_id))
    return False


def _count(session: Session, project_id: str, tally: Tally) -> None:
    tallies.add(
        session,
        project_id,
        comparisons=tally.comparisons,
        wanted=tally.wanted,
        finished=tally.finished,
    )
    for annotator, judged in sorted(tally.judged.items()):
        tallies.add(session, project_id, annotator, judged=judged)


def _delete(session: Session, table: type[_Row], numbers: Sequence[int]) -> None:
    if table is cast(type[_Row], User):
        ids = select(User.id).where(User.number.in_(numbers))
        session.execute(
            delete(Membership).where(Membership.user_id.in_(ids)),
            execution_options={"synchronize_session": False},
        )
    session.execute(
        delete(table).where(table.number.in_(numbers)),
        execution_options={"synchronize_session": False},
    )


def _move(session: Session, import_id: str, before: str, after: str, **values: object) -> None:
    moved = session.execute(
        update(Import)
        .where(Import.id == import_id, Import.state == before)
        .values(state=after, beat=Import.beat + 1, **values)
        .returning(Import.number)
    )
    if moved.one_or_none() is None:
        raise Conflict(
            "the import was withdrawn because it made no progress for a minute",
            advice="Import the file again.",
        )
