"""Which comparison an annotator gets next: that with the fewest judgments and live leases, then the
oldest; never beyond the quota and never one that this annotator has passed.

Where judgments overlap, a comparison that has one of its two counts as if it had none: people go
through the first comparisons side by side, so that their agreement is known early.

Called by `backend.store.data.assignments` inside its transaction. Nothing here reads more of a
project than the comparisons that are leased at the moment: `ix_comparisons_open` has those that
want judgments in this order, `ix_assignments_passed` those of them that an annotator is done with,
and `backend.store.data.places` how many of these need not be looked at.
"""

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Integer,
    ScalarSelect,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    text,
    tuple_,
)
from sqlalchemy.orm import Session, aliased

from backend.domain.assignment import QuotaRule, has_room
from backend.errors import Conflict
from backend.store import built, dialect
from backend.store.built import once
from backend.store.data import places, tallies
from backend.store.data.places import Look, Places
from backend.store.tables.data import Assignment, Comparison, Project, ProjectTally
from backend.store.visibility import is_visible

log = logging.getLogger("podium.store")

LEASED = "leased"
# Written out: SQLite uses an index of some rows only if the statement itself says which.
_IS_LEASED: ColumnElement[str] = literal_column(f"'{LEASED}'")
# Written out: of one that it is told later, PostgreSQL expects a tenth of all rows. It would plan
# anew each time, which takes longer than to find the row.
_ONE: ColumnElement[int] = literal_column("1", Integer)

COMPARISON_ID = bindparam("comparison_id", type_=Assignment.comparison_id.type)
AT = bindparam("at", type_=Assignment.expires_at.type)


class Candidate(NamedTuple):
    """A comparison that somebody may be given, its row locked."""

    number: int
    id: str
    project_id: str
    response_ids: list[str]
    judgments_required: int
    judged: int
    is_overlap: bool

    @property
    def is_open(self) -> bool:
        """Whether the comparison wants judgments."""
        return self.judged < self.judgments_required


CANDIDATE = tuple(getattr(Comparison, name) for name in Candidate._fields)


class Standing(NamedTuple):
    """What a look for a comparison begins with: the project's rule, and what is passed already."""

    judgments_per_comparison: int
    overlap_first: int
    overlap_share: float
    passed_up_to: dict[str, int] | None
    # Of those that want judgments; `worth` at most, and None where `passed_up_to` says something.
    passed: int | None

    @property
    def overlaps(self) -> bool:
        """Whether any comparison gets a second judgment that others do not get."""
        return QuotaRule(*self[:3]).overlaps


# To be joined to more, because whoever looks for a comparison asks for live leases, too.
STANDING = (
    select(
        Project.judgments_per_comparison,
        Project.overlap_first,
        Project.overlap_share,
        ProjectTally.passed_up_to,
        case((places.has_none(), places.passed_beyond(literal_column("0")))),
    )
    .outerjoin_from(
        Project,
        ProjectTally,
        and_(ProjectTally.project_id == Project.id, ProjectTally.user_id == places.USER_ID),
    )
    .where(Project.id == places.PROJECT_ID)
)


def is_leased(
    assignment: type[Assignment], at: datetime | ColumnElement[datetime]
) -> ColumnElement[bool]:
    """Whether an assignment is a lease that has not run out."""
    return and_(assignment.state == _IS_LEASED, assignment.expires_at > at)


def is_live(
    assignment: type[Assignment],
    project_id: str | ColumnElement[str],
    at: datetime | ColumnElement[datetime],
) -> ColumnElement[bool]:
    """Whether an assignment of this project is a lease that has not run out."""
    return and_(assignment.project_id == project_id, is_leased(assignment, at))


class Beginning(NamedTuple):
    """Where a search begins."""

    overlaps: bool
    known: Places
    # To be noted when the search has ended.
    news: Look | None


def begin(
    session: Session,
    project_id: str,
    user_id: str,
    *,
    standing: Standing | None = None,
    worth: int | None = None,
    seen: Look | None = None,
) -> Beginning:
    """Find out where an annotator's search begins.

    `standing` is the annotator's with this `worth` (None: `places.WORTH_NOTING`), if it was read
    already; `seen` is what the caller has seen after `places.FarBehind`, which is raised without
    it.
    """
    worth = places.WORTH_NOTING if worth is None else worth
    if standing is None:
        named = {"project_id": project_id, "user_id": user_id, "worth": worth}
        standing = Standing(*built.one(session, STANDING, named))
    known, news = places.advance(
        session,
        project_id,
        user_id,
        places.read(standing.passed_up_to),
        passed=standing.passed,
        worth=worth,
        seen=seen,
    )
    return Beginning(standing.overlaps, known, news)


def offers(
    session: Session, project_id: str, user_id: str, at: datetime, beginning: Beginning
) -> Iterator[Candidate]:
    """The best comparison with room for this annotator, its row locked; nothing if there is none.

    On PostgreSQL the count of its leases may be older than the lock: who wants it counts again, and
    asks for the next one if somebody else has taken it.

    Raises Conflict if the same comparison is refused twice: an import that has not ended says that
    this annotator has judged it, or its rows contradict each other. It is raised at each request
    for as long as that is so.
    """
    known, overlaps = beginning.known, beginning.overlaps
    refused: set[str] = set()
    # Rows that others are leasing this moment are skipped first and waited for only if nothing else
    # is left.
    for skip_locked in (True, False):
        while found := _best(
            session, project_id, user_id, at, known, overlaps=overlaps, skip_locked=skip_locked
        ):
            yield found
            # Once may be because others came before; who asks for the next one has refused it.
            if found.id in refused:
                raise _refused_twice(found.id, user_id)
            refused.add(found.id)


def _refused_twice(comparison_id: str, user_id: str) -> Conflict:
    log.error("store.lease_refused_twice comparison=%s user=%s", comparison_id, user_id)
    return Conflict(
        f"comparison {comparison_id} is next for you, but the database says that you have already "
        "judged or skipped it",
        advice="Try again when imports into this project have ended. If none is running, give an "
        "administrator this id: the service's log has it, too.",
    )


def is_free(session: Session, comparison: Candidate, user_id: str, at: datetime) -> bool:
    """Whether one more judgment by this annotator, whose own lease does not count, fits."""
    named = {"comparison_id": comparison.id, "user_id": user_id, "at": at}
    others = built.value(session, _leases_of_others(), named) or 0
    return has_room(
        required=comparison.judgments_required, submitted=comparison.judged, live_leases=others
    )


@once
def _leases_of_others() -> Select[int]:
    return select(leases_of_others())


def leases_of_others() -> ScalarSelect[int]:
    """How many have a comparison at the moment besides an annotator and those who judged it."""
    of_others = aliased(Assignment)
    is_of_it = (of_others.comparison_id == COMPARISON_ID, of_others.user_id != places.USER_ID)
    live = (is_leased(of_others, AT), is_visible(of_others))
    return select(func.count()).select_from(of_others).where(*is_of_it, *live).scalar_subquery()


class Left(NamedTuple):
    """The comparisons of a project that want judgments, as one annotator sees them."""

    wanting: int
    passed: int  # judged or skipped by this annotator: they want judgments of others
    held: int  # leased by this annotator
    held_by_others: int  # with no room left: they come back if a lease of others ends

    @property
    def available(self) -> int:
        """How many this annotator could be given now."""
        return self.wanting - self.passed - self.held - self.held_by_others


def left_for(session: Session, project_id: str, user_id: str, at: datetime) -> Left:
    """What is left of a project for one annotator; as few rows are read as are leased or passed."""
    sums = tallies.of_project(session, project_id)
    named = {"project_id": project_id, "user_id": user_id}
    own, others = session.execute(_taken(), named | {"at": at}).one()
    return Left(
        wanting=sums["comparisons"] - sums["finished"],
        passed=session.scalar(_passed(), named) or 0,
        held=int(own),
        held_by_others=int(others),
    )


@once
def _passed() -> Select[int]:
    """How many comparisons that want judgments an annotator has passed."""
    return select(func.count()).where(
        Assignment.user_id == places.USER_ID,
        Assignment.project_id == places.PROJECT_ID,
        Assignment.passed.is_not(None),
    )


@once
def _taken() -> Select[int, int]:
    """How many of those not passed this annotator has leased, and others to the last place."""
    leased = _leased()
    is_full = Comparison.judged + leased.c.leases >= Comparison.judgments_required
    return (
        select(
            func.coalesce(func.sum(leased.c.is_own), 0),
            func.coalesce(func.sum(case((leased.c.is_own == 0, 1), else_=0)), 0),
        )
        .select_from(leased)
        .join(Comparison, Comparison.id == leased.c.comparison_id)
        .where(
            places.is_open(),
            ~places.has_passed(places.PROJECT_ID, places.USER_ID),
            or_(leased.c.is_own == 1, is_full),
        )
    )


class Fingerprint(NamedTuple):
    """What changes whenever an annotator may find something that was not there before."""

    comparisons: int
    wanted: int
    judged: int
    leases: int  # how many last
    numbers: int  # the sum of theirs: others may have taken the place of those that ended

    @property
    def n_grantable(self) -> int:
        """How many leases could be granted; where that is unclear, one."""
        return max(1, self.wanted - self.judged - self.leases)


def fingerprint(session: Session, project_id: str, at: datetime) -> Fingerprint:
    """Read the fingerprint of a project: two cheap queries, however many people wait."""
    sums = tallies.of_project(session, project_id)
    number = Assignment.number
    live = select(func.count(number), func.coalesce(func.sum(number), 0)).where(
        is_live(Assignment, project_id, at)
    )
    leases, numbers = session.execute(live).one()
    return Fingerprint(sums["comparisons"], sums["wanted"], sums["judged"], leases, int(numbers))


def _best(
    session: Session,
    project_id: str,
    user_id: str,
    at: datetime,
    known: Places,
    *,
    overlaps: bool,
    skip_locked: bool,
) -> Candidate | None:
    own = {"project_id": project_id, "user_id": user_id, "at": at}

    def locked(query: Select[Any], **more: int) -> Candidate | None:
        found = built.row(session, query, own | more)
        return None if found is None else Candidate(*found)

    idle: Candidate | None = None
    if not known.numbers:
        idle = locked(_idle(skip_locked=skip_locked))
    else:
        next_idle = _idle_beyond(skip_locked=skip_locked, is_sqlite=dialect.is_sqlite(session))
        for judged in places.levels(session, project_id):
            idle = locked(next_idle, judged=judged, number=known.of(judged))
            if idle is not None:
                break
    if overlaps:
        begun = locked(_begun(skip_locked=skip_locked), number=known.of(1))
        idle = min((one for one in (begun, idle) if one), key=_turn, default=None)
    # A comparison that somebody works on has at least one: only fewer can come before it.
    elif idle is not None and idle.judged == 0:
        return idle
    if idle is None:
        return locked(_busy(skip_locked=skip_locked, overlaps=overlaps))
    turn, number = _turn(idle) if overlaps else (idle.judged, idle.number)
    before = _busy_before(skip_locked=skip_locked, overlaps=overlaps)
    return locked(before, turn=turn, number=number) or idle


def _turn(comparison: Candidate) -> tuple[int, int]:
    """Return a comparison's place in line where judgments overlap."""
    return comparison.judged - (comparison.is_overlap and comparison.judged > 0), comparison.number


# The statements of a lease are built once each: building them takes twenty times as long as SQLite
# needs to run them, and all other writers wait meanwhile.


@once
def _begun(*, skip_locked: bool) -> Select[Any]:
    """The oldest comparison beyond a number that wants its second judgment, and nobody leased."""
    return (
        _idle(skip_locked=skip_locked)
        # The words of ix_comparisons_begun.
        .where(text("comparisons.is_overlap AND comparisons.judged = 1"))
        .where(Comparison.number > places.NUMBER)
        .order_by(None)
        .order_by(Comparison.number)
    )


@once
def _idle_beyond(*, skip_locked: bool, is_sqlite: bool) -> Select[Any]:
    """The best comparison with so many judgments beyond a number that nobody has leased."""
    place = places.beyond(places.JUDGED, places.NUMBER, is_sqlite=is_sqlite)
    return _idle(skip_locked=skip_locked).where(*place)


@once
def _idle(*, skip_locked: bool) -> Select[Any]:
    """The best comparison that nobody has leased; an own lease that ran out may come again."""
    leased = aliased(Assignment)
    is_leased = (
        select(leased.number)
        .where(
            leased.comparison_id == Comparison.id,
            is_live(leased, places.PROJECT_ID, AT),
            is_visible(leased),
        )
        .correlate(Comparison)
        .exists()
    )
    return (
        select(*CANDIDATE)
        .where(
            Comparison.project_id == places.PROJECT_ID,
            places.is_open(),
            ~places.has_passed(places.PROJECT_ID, places.USER_ID),
            ~is_leased,
            is_visible(Comparison),
        )
        .order_by(Comparison.judged, Comparison.number)
        .limit(_ONE)
        .with_for_update(skip_locked=skip_locked, of=Comparison)
    )


@once
def _busy_before(*, skip_locked: bool, overlaps: bool) -> Select[Any]:
    """The best comparison that others have leased and that wants still more, before a place."""
    query = _busy(skip_locked=skip_locked, overlaps=overlaps)
    turn = bindparam("turn", type_=Integer)
    return query.where(tuple_(_turn_of(overlaps), Comparison.number) < tuple_(turn, places.NUMBER))


@once
def _busy(*, skip_locked: bool, overlaps: bool) -> Select[Any]:
    """The best comparison that others have leased and that wants still more."""
    leased = _leased()
    # The project is that of the leases: said again of the comparisons, it would have SQLite begin
    # with all of them.
    return (
        select(*CANDIDATE)
        .join(leased, leased.c.comparison_id == Comparison.id)
        .where(
            places.is_open(),
            is_visible(Comparison),
            Comparison.judged + leased.c.leases < Comparison.judgments_required,
            leased.c.is_own == 0,
            ~places.has_passed(places.PROJECT_ID, places.USER_ID),
        )
        .order_by(_turn_of(overlaps), Comparison.number)
        .limit(_ONE)
        .with_for_update(skip_locked=skip_locked, of=Comparison)
    )


def _turn_of(overlaps: bool) -> ColumnElement[int]:
    """Where a leased comparison stands in line."""
    used = Comparison.judged + _leased().c.leases
    return used - case((Comparison.is_overlap, 1), else_=0) if overlaps else used


@once
def _leased() -> Subquery:
    """The comparisons with live leases: how many each has, and whether one is this annotator's."""
    is_own = func.max(case((Assignment.user_id == places.USER_ID, 1), else_=0))
    return (
        select(Assignment.comparison_id, func.count().label("leases"), is_own.label("is_own"))
        .where(is_live(Assignment, places.PROJECT_ID, AT), is_visible(Assignment))
        .group_by(Assignment.comparison_id)
        .subquery("leased")
    )
