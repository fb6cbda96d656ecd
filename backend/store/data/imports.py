"""Imports: records go in batch by batch, seen by nobody before the whole import is complete.

Called by `backend.jobs.import_file` with records that `backend.domain.records.formats` has read:
`begin`, `keep` for each batch, then `complete`; or `withdraw` and `remove` if it comes to nothing.
A problem set begins before it is made, and says meanwhile that it is `live`.
Sending a file again adds nothing: records are recognised by the hash of their content, judgments by
annotator, comparison and ranking.

One import at a time writes into a project, so no import ever finds records of another one that may
still vanish. Every change of an import's records first makes sure that the import is in the state
that the caller believes: whoever was taken for dead writes nothing more.

What a `generate` run leaves comes in the same way, brought by `worker.run_directory.arrival`:
`begin_run`, `keep_responses` and `keep_comparisons` for each batch, then `complete_run` in the
transaction that ends the run. It waits for no file, and no file for it: no import recognises its
records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.records.imported import AnyInput
from backend.errors import Conflict
from backend.schemas.data import ImportAnswer
from backend.schemas.records import GeneratedRecord
from backend.store.data import (
    assignments,
    comparisons,
    import_rows,
    places,
    projects,
    responses,
    tallies,
)
from backend.store.data.comparisons import Choice
from backend.store.data.import_rows import ImportOutcome, NewImport
from backend.store.jobs import UNFINISHED as UNFINISHED_JOBS
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
from backend.store.tables.jobs import Job
from backend.store.tables.people import Membership, User
from backend.store.tables.runs import Run
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
# The kind of an import that is no file but what a run leaves.
_OF_RUN = "generated"


class Withdrawn(Conflict):
    """Nobody sees anything of an import any more, because it was taken for dead."""


@dataclass(frozen=True)
class Unfinished:
    """An import that is being written or withdrawn; as long as somebody does, `beat` rises.

    `of_run`: a worker writes it, which goes on when the service ends.
    """

    id: str
    state: str
    beat: int
    of_run: bool


def unfinished(session: Session, project_id: str | None = None) -> list[Unfinished]:
    """The imports that have not ended, the oldest first.

    Of one project if asked: then those that another one has to wait for.
    """
    states = (*UNFINISHED, SETTLING) if project_id is None else UNFINISHED
    of_run = Import.kind == _OF_RUN
    statement = select(Import.id, Import.state, Import.beat, of_run).where(Import.state.in_(states))
    if project_id is not None:
        statement = statement.where(Import.project_id == project_id, ~of_run)
    rows = session.execute(statement.order_by(Import.number))
    return [Unfinished(*row) for row in rows]


def of_job(job_id: str) -> str:
    """The id of the import that a job writes."""
    return f"import_{job_id.removeprefix('job_')}"


def abandoned(session: Session) -> list[str]:
    """The imports whose job (see `of_job`) has ended without completing them."""
    job_id = func.replace(Import.id, "import_", "job_")
    ended = select(Job.id).where(Job.id == job_id, Job.state.not_in(UNFINISHED_JOBS))
    found = select(Import.id).where(Import.state.in_(UNFINISHED), ended.exists())
    return list(session.scalars(found))


def begin(session: Session, new: NewImport, *, at: datetime) -> bool:
    """Begin an import, unless another one into the project has not ended; whether it has begun."""
    projects.lock(session, new.project_id)
    if unfinished(session, new.project_id):
        return False
    row = Import(
        id=new.id,
        project_id=new.project_id,
        user_id=new.user_id,
        kind=new.kind,
        format=new.format,
        created_at=at,
    )
    _begin(session, row)
    return True


def begin_run(session: Session, import_id: str, run: Run, *, at: datetime) -> None:
    """Begin to bring what a `generate` run has sampled; nothing if it has begun already."""
    if session.scalar(select(Import.number).where(Import.id == import_id)) is None:
        row = Import(
            id=import_id,
            project_id=run.project_id,
            user_id=run.user_id,
            kind=_OF_RUN,
            format="native",
            created_at=at,
        )
        _begin(session, row)


def _begin(session: Session, row: Import) -> None:
    see_unfinished(session)
    row.accepted, row.duplicates, row.rejected = 0, 0, []
    row.state, row.beat = WRITING, 0
    row.begins = {
        table.__tablename__: session.scalar(select(func.max(table.number))) or 0
        for table in _TABLES
    }
    session.add(row)
    session.flush()


def live(session: Session, import_id: str) -> None:
    """Say that somebody still makes what an import will write. Raises Withdrawn."""
    _move(session, import_id, WRITING, WRITING)


def keep(
    session: Session, new: NewImport, good: Sequence[tuple[int, AnyInput]], *, at: datetime
) -> ImportOutcome:
    """Keep a batch of records, given with their lines. Raises Withdrawn.

    The session sees the import's own records from here on, and so those of others.
    """
    _move(session, new.id, WRITING, WRITING)
    see_unfinished(session)
    return import_rows.keep(session, new, good, at=at)


def keep_responses(
    session: Session,
    import_id: str,
    run: Run,
    batch: Sequence[GeneratedRecord],
    *,
    place: int,
    at: datetime,
) -> None:
    """Keep a batch of what a run has sampled; `place` counts the rows before it.

    A batch that was kept before, in a commit whose answer was lost, is not kept again. Raises
    Withdrawn, and InvalidInput for a response to a prompt that is not of the run's project.
    """
    if _advance(session, import_id, place, len(batch)):
        responses.insert_generated(session, run, batch, import_id=import_id, at=at)


def choices(session: Session, import_id: str, run: Run) -> Iterator[Choice]:
    """What of a run's responses is to be compared, see `comparisons.choices`."""
    see_unfinished(session)
    return comparisons.choices(session, run, import_id=import_id)


def keep_comparisons(
    session: Session,
    import_id: str,
    run: Run,
    batch: Sequence[Choice],
    *,
    place: int,
    at: datetime,
) -> None:
    """Keep a batch of comparisons, as `keep_responses` does. Raises Withdrawn."""
    if _advance(session, import_id, place, len(batch)):
        see_unfinished(session)
        comparisons.create_chosen(session, run, batch, import_id=import_id, at=at)


def counted(session: Session, import_id: str) -> ImportOutcome:
    """Count what the project's sums grow by once the import of a run is complete."""
    see_unfinished(session)
    begins = session.scalar(select(Import.begins).where(Import.id == import_id)) or {}
    wanted = func.coalesce(func.sum(Comparison.judgments_required), 0)
    own = _brought(cast(type[_Row], Comparison), import_id, begins)
    row = session.execute(select(func.count(), wanted).where(*own)).one()
    return ImportOutcome(comparisons=row[0], wanted=row[1])


def complete_run(session: Session, import_id: str, run: Run, outcome: ImportOutcome) -> None:
    """Show all that a run has left at once, in the transaction that ends it. Raises Withdrawn."""
    if outcome.comparisons:
        projects.lock(session, run.project_id)
        _count(session, run.project_id, outcome)
        places.forget(session, run.project_id)
    _move(session, import_id, WRITING, COMPLETE)


def complete(session: Session, new: NewImport, outcome: ImportOutcome) -> ImportAnswer:
    """Show all records of an import at once. Raises Withdrawn.

    Comparisons that were there before and that it judged show their new counts once `settle` has
    gone over them.
    """
    projects.lock(session, new.project_id)
    _count(session, new.project_id, outcome)
    places.forget(session, new.project_id)
    _move(
        session,
        new.id,
        WRITING,
        SETTLING if outcome.judged_others else COMPLETE,
        accepted=outcome.accepted,
        duplicates=outcome.duplicates,
        rejected=[one.model_dump() for one in outcome.rejected],
    )
    return ImportAnswer(
        import_id=new.id,
        accepted=outcome.accepted,
        duplicates=outcome.duplicates,
        rejected=outcome.rejected,
        rejected_total=outcome.rejected_total,
    )


def settle(session: Session, import_id: str, *, after: int, limit: int) -> int | None:
    """Count the judgments of comparisons that were there before the import, up to `limit` of them.

    `after`: what the last call returned, 0 at first; None: all are counted and the import has
    ended. Doing it again changes nothing.
    """
    row = session.execute(
        select(Import.project_id, Import.begins).where(
            Import.id == import_id, Import.state == SETTLING
        )
    ).one_or_none()
    if row is None:
        return None
    # Its assignments are found by their numbers: from 0 on, those of all projects would be read.
    begin = max(after, row.begins.get(Assignment.__tablename__, 0))
    found = session.execute(
        select(Assignment.number, Assignment.comparison_id)
        .join(Comparison, Comparison.id == Assignment.comparison_id)
        .where(
            Assignment.import_id == import_id,
            Assignment.number > begin,
            or_(Comparison.import_id.is_(None), Comparison.import_id != import_id),
        )
        .order_by(Assignment.number)
        .limit(limit)
    ).all()
    if not found:
        _move(session, import_id, SETTLING, COMPLETE)
        return None
    finished = assignments.recount(session, sorted({row[1] for row in found}))
    tallies.add(session, row.project_id, finished=finished)
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

    With the last of them the import itself goes. Raises Withdrawn if it has gone already.
    """
    see_unfinished(session)
    _move(session, import_id, FAILED, FAILED)
    begins = session.scalar(select(Import.begins).where(Import.id == import_id)) or {}
    for table in _TABLES:
        numbers = session.scalars(
            select(table.number)
            .where(*_brought(table, import_id, begins))
            .order_by(table.number)
            .limit(limit)
        ).all()
        if numbers:
            _delete(session, table, numbers)
            return True
    session.execute(delete(Import).where(Import.id == import_id))
    return False


def _brought(
    table: type[_Row], import_id: str, begins: Mapping[str, int]
) -> tuple[ColumnElement[bool], ...]:
    """Which rows of a table an import has brought; they are found by their numbers."""
    return table.number > begins[table.__tablename__], table.import_id == import_id


def _count(session: Session, project_id: str, outcome: ImportOutcome) -> None:
    tallies.add(
        session,
        project_id,
        comparisons=outcome.comparisons,
        wanted=outcome.wanted,
        finished=outcome.finished,
    )
    for annotator, judged in sorted(outcome.judged.items()):
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
        raise _withdrawn()


def _advance(session: Session, import_id: str, place: int, count: int) -> bool:
    """Go on from a place by so many rows; False if that was done before. Raises Withdrawn."""
    of_import = (Import.id == import_id, Import.state == WRITING)
    moved = session.execute(
        update(Import)
        .where(*of_import, Import.accepted == place)
        .values(accepted=place + count, beat=Import.beat + 1)
        .returning(Import.number)
    )
    if moved.one_or_none() is not None:
        return True
    if session.scalar(select(Import.accepted).where(*of_import)) == place + count:
        return False
    raise _withdrawn()


def _withdrawn() -> Withdrawn:
    return Withdrawn(
        "the import was withdrawn because it made no progress for a minute",
        advice="Send it again.",
    )
