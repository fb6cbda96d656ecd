"""How far an annotator has passed everything, so that nobody reads over it again.

One who has judged or skipped fifty thousand comparisons that still want judgments of others would
have them all read at each request. Used by `backend.store.data.candidates`.

A place is a pair: up to the comparison of this number, the annotator has passed every comparison
that wants judgments and has so many of them or fewer. It stays true: what is passed stays passed,
judgments only become more, and new comparisons have higher numbers; those of an import, which
become visible later, make `forget` necessary. For PostgreSQL, where a lower
number may be committed later, a place is noted only while nobody adds to the project.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Executable,
    Integer,
    ScalarSelect,
    Select,
    String,
    bindparam,
    except_,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import Session, aliased

from backend.store import dialect
from backend.store.built import once
from backend.store.data import tallies
from backend.store.tables.data import Assignment, Comparison, Project, ProjectTally
from backend.store.visibility import is_visible

# What statements that are built once are told each time.
PROJECT_ID, USER_ID = bindparam("project_id", type_=String), bindparam("user_id", type_=String)
JUDGED, NUMBER = bindparam("judged", type_=Integer), bindparam("number", type_=Integer)

# A place is noted if it saves reading over so many passed comparisons: fewer cost less than noting.
WORTH_NOTING = 500


class Places(NamedTuple):
    """The places of an annotator in a project: numbers of comparisons by judgments."""

    numbers: dict[int, int]

    def of(self, judged: int) -> int:
        """Return the number up to which everything with so many judgments is passed; 0 = none."""
        return max((n for level, n in self.numbers.items() if level >= judged), default=0)


def read(kept: Mapping[str, int] | None) -> Places:
    """The places as a tally keeps them; None = no tally."""
    return Places({int(judged): number for judged, number in (kept or {}).items()})


def levels(session: Session, project_id: str) -> Iterable[int]:
    """How many judgments those comparisons have that want more, ascending, each number once."""
    judged = -1
    while True:
        named = {"project_id": project_id, "judged": judged}
        found = session.connection().scalar(_next_level(), named)
        if found is None:
            return
        yield found
        judged = found


@once
def _next_level() -> Select[int]:
    return select(func.min(Comparison.judged)).where(
        Comparison.project_id == PROJECT_ID,
        is_open(),
        Comparison.judged > JUDGED,
        is_visible(Comparison),
    )


def advance(
    session: Session,
    project_id: str,
    user_id: str,
    known: Places,
    *,
    passed: int | None,
    worth: int,
) -> Places:
    """The places as they are now; noted if that saves reading over many passed comparisons.

    `passed`: how many are passed beyond the known places, `worth` at most; None: count them.
    """
    if passed is None:
        own = {"project_id": project_id, "user_id": user_id, "number": known.of(0), "worth": worth}
        passed = session.connection().scalar(_passed_beyond(), own) or 0
    if passed < worth:
        return known
    found = _look(session, project_id, user_id, known)
    if all(found.of(judged) - known.of(judged) < worth for judged in found.numbers):
        return found
    alone = select(Project.number).where(Project.id == project_id)
    if session.scalar(alone.with_for_update(skip_locked=True)) is None:
        return found
    if not dialect.is_sqlite(session):
        # What was committed while the lock was free counts, too.
        found = _look(session, project_id, user_id, known)
    tallies.add(session, project_id, user_id, judged=0)
    row = session.get_one(ProjectTally, (project_id, user_id), populate_existing=True)
    row.passed_up_to = {str(judged): number for judged, number in found.numbers.items()}
    session.flush()
    return found


def has_none() -> ColumnElement[bool]:
    """Whether the tally of the enclosing query has no places, or is not there."""
    noted = ProjectTally.passed_up_to
    return or_(noted.is_(None), noted == literal_column("'{}'"))


def passed_beyond(number: ColumnElement[int]) -> ScalarSelect[int]:
    """How many an annotator has passed beyond a number; `worth` at most, which is enough."""
    own = aliased(Assignment)
    few = (
        select(own.passed)
        .where(
            own.user_id == USER_ID,
            own.project_id == PROJECT_ID,
            own.passed > number,
            is_visible(own),
        )
        .limit(bindparam("worth", type_=Integer))
        .subquery()
    )
    return select(func.count()).select_from(few).scalar_subquery()


@once
def _passed_beyond() -> Select[int]:
    return select(passed_beyond(NUMBER))


def _look(session: Session, project_id: str, user_id: str, known: Places) -> Places:
    last = select(func.max(Assignment.passed)).where(
        Assignment.user_id == user_id,
        Assignment.project_id == project_id,
        Assignment.passed.is_not(None),
    )
    last_passed = session.scalar(last) or 0
    found = dict(known.numbers)
    left: list[int] = []
    for judged in levels(session, project_id):
        place = known.of(judged)
        left += session.scalars(_not_passed(session, project_id, user_id, judged, place))
        found[judged] = max(min(left) - 1 if left else last_passed, place)
    return Places(found)


def _not_passed(
    session: Session, project_id: str, user_id: str, judged: int, number: int
) -> Executable:
    """The first comparison with so many judgments beyond a number that is not passed."""
    place = beyond(literal(judged), literal(number), is_sqlite=dialect.is_sqlite(session))
    wanted = select(Comparison.number).where(Comparison.project_id == project_id, is_open(), *place)
    if not dialect.is_sqlite(session):
        rest = wanted.where(~has_passed(project_id, user_id))
        return rest.order_by(Comparison.judged, Comparison.number).limit(1)
    passed = select(Assignment.passed).where(
        Assignment.user_id == user_id,
        Assignment.project_id == project_id,
        Assignment.passed > number,
    )
    # SQLite reads both by their indexes side by side, three times as fast as one for each of the
    # other, and ends at the first difference.
    return except_(wanted, passed).order_by("number").limit(1)


def beyond(
    judged: ColumnElement[int], number: ColumnElement[int], *, is_sqlite: bool
) -> tuple[ColumnElement[bool], ...]:
    """Whether a comparison has so many judgments and a higher number, for a search by index."""
    if is_sqlite:
        return Comparison.judged == judged, Comparison.number > number
    # Told that the judgments are equal, PostgreSQL would rather read all comparisons of all
    # projects by their number.
    here = tuple_(Comparison.judged, Comparison.number)
    return Comparison.judged <= judged, here > tuple_(judged, number)


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


def has_passed(
    project_id: str | ColumnElement[str], user_id: str | ColumnElement[str]
) -> ColumnElement[bool]:
    """Whether an annotator has judged or skipped the enclosing query's open comparison."""
    own = aliased(Assignment)
    return (
        select(own.number)
        .where(
            own.user_id == user_id,
            own.project_id == project_id,
            own.passed == Comparison.number,
            is_visible(own),
        )
        .correlate(Comparison)
        .exists()
    )
