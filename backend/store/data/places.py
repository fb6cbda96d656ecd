"""How far an annotator has passed everything, so that nobody reads over it again.

One who has judged or skipped fifty thousand comparisons that still want judgments of others would
have them all read at each request. Used by `backend.store.data.candidates`.

A place is a pair: up to the comparison of this number, the annotator has passed every comparison
that wants judgments and has so many of them or fewer. It stays true: what is passed stays passed,
judgments only become more, and new comparisons have higher numbers; those of an import, which
become visible later, make `forget` necessary. For PostgreSQL, where a lower
number may be committed later, a place is noted only while nobody adds to the project.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session, aliased

from backend.store.data import tallies
from backend.store.tables.data import Assignment, Comparison, Project, ProjectTally

# So many passed comparisons are read over before a place is noted: fewer cost less than noting.
WORTH_NOTING = 500


class Places(NamedTuple):
    """The places of an annotator in a project: numbers of comparisons by judgments."""

    numbers: dict[int, int]

    def of(self, judged: int) -> int:
        """Up to where everything with so many judgments is passed; 0 = nowhere."""
        return max((n for level, n in self.numbers.items() if level >= judged), default=0)


def read(session: Session, project_id: str, user_id: str) -> Places:
    """The places that were noted."""
    kept = session.scalar(
        select(ProjectTally.passed_up_to).where(
            ProjectTally.project_id == project_id, ProjectTally.user_id == user_id
        )
    )
    return Places({int(judged): number for judged, number in (kept or {}).items()})


def levels(session: Session, project_id: str) -> Iterable[int]:
    """How many judgments those comparisons have that want more, ascending, each number once."""
    judged = -1
    while True:
        more = select(func.min(Comparison.judged)).where(
            Comparison.project_id == project_id, is_open(), Comparison.judged > judged
        )
        found = session.scalar(more)
        if found is None:
            return
        yield found
        judged = found


def note(
    session: Session,
    project_id: str,
    user_id: str,
    before: Places,
    *,
    up_to: Comparison | None,
    worth: int = WORTH_NOTING,
) -> None:
    """Note a place if a search that ended at `up_to` (None = found nothing) read over many.

    The last thing that a transaction does but for writing what it found.
    """
    ahead = select(Assignment.passed).where(
        Assignment.user_id == user_id,
        Assignment.project_id == project_id,
        Assignment.passed > before.of(0 if up_to is None else up_to.judged),
    )
    if up_to is not None:
        ahead = ahead.where(Assignment.passed < up_to.number)
    if len(session.scalars(ahead.limit(worth)).all()) < worth:
        return
    alone = select(Project.number).where(Project.id == project_id)
    if session.scalar(alone.with_for_update(skip_locked=True)) is None:
        return
    last_passed = session.scalar(ahead.with_only_columns(func.max(Assignment.passed))) or 0
    found = dict(before.numbers)
    left: list[int] = []
    for judged in levels(session, project_id):
        if up_to is not None and judged > up_to.judged:
            break
        first = (
            select(Comparison.number)
            .where(
                Comparison.project_id == project_id,
                is_open(),
                Comparison.judged == judged,
                Comparison.number > before.of(judged),
                ~has_passed(project_id, user_id),
            )
            .order_by(Comparison.number)
            .limit(1)
        )
        left += session.scalars(first)
        found[judged] = max(min(left) - 1 if left else last_passed, before.of(judged))
    if found != before.numbers:
        tallies.add(session, project_id, user_id, judged=0)
        row = session.get_one(ProjectTally, (project_id, user_id), populate_existing=True)
        row.passed_up_to = {str(judged): number for judged, number in found.items()}
        session.flush()


def forget(session: Session, project_id: str) -> None:
    """Forget the places of all annotators, because comparisons with lower numbers can be seen now.

    The caller holds the project, so nobody notes a place meanwhile.
    """
    tallies_of_project = update(ProjectTally).where(ProjectTally.project_id == project_id)
    session.execute(
        tallies_of_project.values(passed_up_to={}),
        execution_options={"synchronize_session": False},
    )


def is_open() -> ColumnElement[bool]:
    """Whether the comparison of the enclosing query wants judgments."""
    return Comparison.judged < Comparison.judgments_required


def has_passed(project_id: str, user_id: str) -> ColumnElement[bool]:
    """Whether an annotator has judged or skipped the enclosing query's open comparison."""
    own = aliased(Assignment)
    return (
        select(own.number)
        .where(
            own.user_id == user_id,
            own.project_id == project_id,
            own.passed == Comparison.number,
        )
        .correlate(Comparison)
        .exists()
    )
