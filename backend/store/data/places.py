"""How far an annotator has passed everything, so that nobody reads over it again.

One who has judged or skipped fifty thousand comparisons that still want judgments of others would
have them all read at each request. Used by `backend.store.data.candidates`.

A place is a pair: up to the comparison of this number, the annotator has passed every comparison
that wants judgments and has so many of them or fewer. It stays true: what is passed stays passed,
judgments only become more, and new comparisons have higher numbers; those of an import, which
become visible later, make `forget` necessary. For PostgreSQL, where a lower
number may be committed later, a place is noted only while nobody adds to the project.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    Integer,
    ScalarSelect,
    Select,
    String,
    bindparam,
    except_,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import Session, aliased

from backend.store import built, dialect
from backend.store.built import once
from backend.store.data import tallies
from backend.store.tables.data import Assignment, Comparison, Project, ProjectTally
from backend.store.visibility import is_visible

# What statements that are built once are told each time.
PROJECT_ID, USER_ID = bindparam("project_id", type_=String), bindparam("user_id", type_=String)
JUDGED, NUMBER = bindparam("judged", type_=Integer), bindparam("number", type_=Integer)

# A place is noted if it saves reading over so many passed comparisons: fewer cost less than noting.
WORTH_NOTING = 500
# Comparisons that PostgreSQL looks through in one statement: many more it would rather sort.
_AT_ONCE = 4000


class Places(NamedTuple):
    """The places of an annotator in a project: numbers of comparisons by judgments."""

    numbers: dict[int, int]

    def of(self, judged: int) -> int:
        """Return the number up to which everything with so many judgments is passed; 0 = none."""
        return max((n for level, n in self.numbers.items() if level >= judged), default=0)

    def or_further(self, other: "Places") -> "Places":
        """These or those of `other`, whichever are further; both are true at the same time."""
        levels = self.numbers.keys() | other.numbers.keys()
        return Places({level: max(self.of(level), other.of(level)) for level in levels})


def read(kept: Mapping[str, int] | None) -> Places:
    """The places as a tally keeps them; None = no tally."""
    return Places({int(judged): number for judged, number in (kept or {}).items()})


def levels(session: Session, project_id: str) -> Iterable[int]:
    """How many judgments those comparisons have that want more, ascending, each number once."""
    judged = -1
    while True:
        named = {"project_id": project_id, "judged": judged}
        found = built.value(session, _next_level(), named)
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


class FarBehind(Exception):
    """So much was passed that somebody has to look through it before the write turn: `look`."""


class Look(NamedTuple):
    """The places of an annotator, and the version of the project's sums before they were found."""

    places: Places
    version: int | None


def look(session: Session, project_id: str, user_id: str, *, few: int = _AT_ONCE) -> Look:
    """Look through all that an annotator has passed, so many comparisons at a time.

    Where thousands are passed that takes PostgreSQL as long as several leases: it is done in a
    session that only reads, and so nobody waits for it.
    """
    version = _version(session, project_id)
    known = _kept(session, project_id, user_id)
    found = _found(session, project_id, user_id, known, few=few, goes_on=True)
    return Look(found, version)


def _kept(session: Session, project_id: str, user_id: str) -> Places:
    own = (ProjectTally.project_id == project_id, ProjectTally.user_id == user_id)
    return read(session.scalar(select(ProjectTally.passed_up_to).where(*own)))


def advance(
    session: Session,
    project_id: str,
    user_id: str,
    known: Places,
    *,
    passed: int | None,
    worth: int,
    seen: Look | None,
) -> tuple[Places, Look | None]:
    """The places as they are now, and what is worth to `note`, if anything.

    `passed`: how many are passed beyond the known places, `worth` at most; None: count them.
    `seen`: what the caller has seen before. Raises FarBehind without it, for PostgreSQL, if the
    places are far behind: the caller then looks, and tries again.
    """
    if passed is None:
        own = {"project_id": project_id, "user_id": user_id, "number": known.of(0), "worth": worth}
        passed = built.value(session, _passed_beyond(), own) or 0
    if passed < worth:
        return known, None
    is_sqlite = dialect.is_sqlite(session)
    if is_sqlite or seen is None:
        found = _found(session, project_id, user_id, known, few=worth, goes_on=is_sqlite)
        if all(found.of(judged) - known.of(judged) < worth for judged in found.numbers):
            return found, None
        if not is_sqlite:
            raise FarBehind
        return found, Look(found, None)
    # What was committed since counts, too: also that places were forgotten, so that those known
    # before may be true no more.
    version = _version(session, project_id)
    known = _kept(session, project_id, user_id)
    found = (
        known.or_further(seen.places)
        if seen.version == version
        else _found(session, project_id, user_id, known, few=_AT_ONCE, goes_on=True)
    )
    return found, Look(found, version)


def note(session: Session, project_id: str, user_id: str, found: Look) -> None:
    """Note the places of an annotator, unless somebody adds to the project or has since then.

    Whoever is here holds the project, for which those who judge wait with their comparisons: it
    waits for no comparison any more.
    """
    alone = select(Project.number).where(Project.id == project_id)
    is_alone = session.scalar(alone.with_for_update(skip_locked=True)) is not None
    if not is_alone or found.version != _version(session, project_id):
        return
    # Another device of this annotator may have noted more.
    noted = _kept(session, project_id, user_id).or_further(found.places)
    tallies.add(session, project_id, user_id, judged=0)
    row = session.get_one(ProjectTally, (project_id, user_id), populate_existing=True)
    row.passed_up_to = {str(judged): number for judged, number in noted.numbers.items()}
    session.flush()


def _version(session: Session, project_id: str) -> int | None:
    """Which transaction has changed the sums of a project last: who adds to it changes them.

    SQLite, where nobody adds beside who writes, has no such number.
    """
    if dialect.is_sqlite(session):
        return None
    own = (ProjectTally.project_id == project_id, ProjectTally.user_id == "")
    changed_by = literal_column("CAST(CAST(project_tallies.xmin AS text) AS bigint)", BigInteger())
    return session.scalar(select(changed_by).select_from(ProjectTally).where(*own))


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


def _found(
    session: Session, project_id: str, user_id: str, known: Places, *, few: int, goes_on: bool
) -> Places:
    """How far everything is passed; PostgreSQL looks at a few at a time, at the first or at all."""
    last = select(func.max(Assignment.passed)).where(
        Assignment.user_id == user_id,
        Assignment.project_id == project_id,
        Assignment.passed.is_not(None),
    )
    last_passed = session.scalar(last) or 0
    own = {"project_id": project_id, "user_id": user_id}
    find: Callable[[Session, Mapping[str, Any]], int | None] = (
        _not_passed_beside
        if dialect.is_sqlite(session)
        else partial(_not_passed_among, few=few, goes_on=goes_on)
    )
    found = dict(known.numbers)
    left: list[int] = []
    for judged in levels(session, project_id):
        place = known.of(judged)
        first = find(session, own | {"judged": judged, "number": place})
        left += [] if first is None else [first]
        found[judged] = max(min(left) - 1 if left else last_passed, place)
    return Places(found)


def _not_passed_beside(session: Session, beyond_it: Mapping[str, Any]) -> int | None:
    """The first comparison with so many judgments beyond a number that is not passed."""
    # As others are hidden where there are any: to say it here would cost a look at each row.
    first: int | None = session.scalar(_difference(), beyond_it)
    return first


@once
def _difference() -> Executable:
    """For SQLite, which reads both by their indexes side by side and ends at the difference.

    That is three times as fast as to look for each of the ones among the others.
    """
    place = beyond(JUDGED, NUMBER, is_sqlite=True)
    wanted = select(Comparison.number).where(Comparison.project_id == PROJECT_ID, is_open(), *place)
    return except_(wanted, _passed_beyond_it()).order_by("number").limit(1)


def _not_passed_among(
    session: Session, beyond_it: Mapping[str, Any], *, few: int, goes_on: bool
) -> int | None:
    """The same, or what may be it: the one behind the first few, if all of these are passed."""
    first: int | None
    while True:
        named = {**beyond_it, "few": few}
        first, last, count = session.connection().execute(_next_ones(), named).one()
        if first is not None or count < few:
            return first
        if not goes_on:
            return int(last) + 1
        beyond_it = {**beyond_it, "number": last}


@once
def _next_ones() -> Executable:
    """For PostgreSQL: of the next ones the first that is not passed, the last, and their count.

    Both sides are read at once, however few PostgreSQL thinks there are: a full join never looks
    for each of the ones among the others.
    """
    wanted = (
        select(Comparison.number)
        .where(
            Comparison.project_id == PROJECT_ID,
            is_open(),
            *beyond(JUDGED, NUMBER, is_sqlite=False),
            is_visible(Comparison),
        )
        .order_by(Comparison.judged, Comparison.number)
        .limit(bindparam("few", type_=Integer))
        .cte("wanted")
    )
    number, last = wanted.c.number, select(func.max(wanted.c.number)).scalar_subquery()
    within = _passed_beyond_it().where(Assignment.passed <= last, is_visible(Assignment))
    passed = within.subquery("own")
    return select(
        func.min(number).filter(passed.c.passed.is_(None)), func.max(number), func.count(number)
    ).select_from(wanted.outerjoin(passed, passed.c.passed == number, full=True))


def _passed_beyond_it() -> Select[Any]:
    """What an annotator has passed beyond a number, of that which wants judgments."""
    return select(Assignment.passed).where(
        Assignment.user_id == USER_ID,
        Assignment.project_id == PROJECT_ID,
        Assignment.passed > NUMBER,
    )


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
