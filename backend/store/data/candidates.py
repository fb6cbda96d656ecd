"""Which comparison an annotator gets next: that with the fewest judgments and live leases, then the
oldest; never beyond the quota and never one that this annotator has passed.

Where votes overlap, a comparison that has one of its two votes counts as if it had none: people go
through the first comparisons side by side, so that their agreement is known early.

Called by `backend.store.data.assignments` inside its transaction. Nothing here reads more of a
project than the comparisons that are leased at the moment: `ix_comparisons_open` has those that
want judgments in this order, `ix_assignments_passed` those of them that an annotator is done with,
and `backend.store.data.places` how many of these need not be looked at.
"""

from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    and_,
    case,
    func,
    literal_column,
    or_,
    select,
    text,
    tuple_,
)
from sqlalchemy.orm import Session, aliased

from backend.domain.assignment import has_room
from backend.store.data import places, projects, tallies
from backend.store.data.places import Places
from backend.store.tables.data import Assignment, Comparison

LEASED = "leased"
# Written out: SQLite uses an index of some rows only if the statement itself says which.
_IS_LEASED: ColumnElement[str] = literal_column(f"'{LEASED}'")


def is_live(assignment: type[Assignment], project_id: str, at: datetime) -> ColumnElement[bool]:
    """Whether an assignment of this project is a lease that has not run out."""
    return and_(
        assignment.project_id == project_id,
        assignment.state == _IS_LEASED,
        assignment.expires_at > at,
    )


def next_for(
    session: Session,
    project_id: str,
    user_id: str,
    at: datetime,
    *,
    worth_noting: int = places.WORTH_NOTING,
) -> Comparison | None:
    """The best comparison with room for this annotator, its row locked; None if there is none."""
    noted = places.read(session, project_id, user_id)
    known = places.advance(session, project_id, user_id, noted, worth=worth_noting)
    overlaps = projects.quota_rule(session, project_id).overlaps
    # Rows that others are leasing this moment are skipped first and waited for only if nothing else
    # is left; after the lock the count is taken again, because it may be older than the lock.
    for skip_locked in (True, False):
        while True:
            found = _best(
                session, project_id, user_id, at, known, overlaps=overlaps, skip_locked=skip_locked
            )
            if found is None:
                break
            if not _is_taken(session, found, user_id, at) and is_free(session, found, user_id, at):
                return found
    return None


def is_free(session: Session, comparison: Comparison, user_id: str, at: datetime) -> bool:
    """Whether one more judgment by this annotator, whose own lease does not count, fits."""
    others = select(func.count()).where(
        Assignment.comparison_id == comparison.id,
        Assignment.user_id != user_id,
        is_live(Assignment, comparison.project_id, at),
    )
    return has_room(
        required=comparison.judgments_required,
        submitted=comparison.judged,
        live_leases=session.scalar(others) or 0,
    )


def available(session: Session, project_id: str, user_id: str, at: datetime) -> int:
    """How many comparisons this annotator could still be given."""
    sums = tallies.of_project(session, project_id)
    passed = select(func.count()).where(
        Assignment.user_id == user_id,
        Assignment.project_id == project_id,
        Assignment.passed.is_not(None),
    )
    leased = _leased(project_id, user_id, at)
    is_full = Comparison.judged + leased.c.leases >= Comparison.judgments_required
    full = (
        select(func.count())
        .select_from(leased)
        .join(Comparison, Comparison.id == leased.c.comparison_id)
        .where(
            places.is_open(),
            ~places.has_passed(project_id, user_id),
            or_(leased.c.is_own == 1, is_full),
        )
    )
    still_open = sums["comparisons"] - sums["finished"]
    return still_open - (session.scalar(passed) or 0) - (session.scalar(full) or 0)


def _best(
    session: Session,
    project_id: str,
    user_id: str,
    at: datetime,
    known: Places,
    *,
    overlaps: bool,
    skip_locked: bool,
) -> Comparison | None:
    def locked(query: Select[Comparison]) -> Comparison | None:
        held = query.with_for_update(skip_locked=skip_locked, of=Comparison)
        return session.scalar(held, execution_options={"populate_existing": True})

    of_all = _idle(project_id, user_id, at)
    idle: Comparison | None = None
    if not known.numbers:
        idle = locked(of_all)
    else:
        for judged in places.levels(session, project_id):
            idle = locked(of_all.where(*places.beyond(session, judged, known.of(judged))))
            if idle is not None:
                break
    if overlaps:
        begun = locked(_begun(project_id, user_id, at, beyond=known.of(1)))
        idle = min((one for one in (begun, idle) if one), key=_turn, default=None)
    # A comparison that somebody works on has at least one: only fewer can come before it.
    elif idle is not None and idle.judged == 0:
        return idle
    return locked(_busy(project_id, user_id, at, before=idle, overlaps=overlaps)) or idle


def _turn(comparison: Comparison) -> tuple[int, int]:
    """Where a comparison stands in line if votes overlap."""
    return comparison.judged - (comparison.is_overlap and comparison.judged > 0), comparison.number


def _begun(project_id: str, user_id: str, at: datetime, *, beyond: int) -> Select[Comparison]:
    """The oldest comparison beyond a number that wants its second vote, and that nobody leased."""
    return (
        _idle(project_id, user_id, at)
        # The words of ix_comparisons_begun.
        .where(text("comparisons.is_overlap AND comparisons.judged = 1"))
        .where(Comparison.number > beyond)
        .order_by(None)
        .order_by(Comparison.number)
    )


def _idle(project_id: str, user_id: str, at: datetime) -> Select[Comparison]:
    """The best comparison that nobody has leased; an own lease that ran out may come again."""
    leased = aliased(Assignment)
    is_leased = (
        select(leased.number)
        .where(leased.comparison_id == Comparison.id, is_live(leased, project_id, at))
        .correlate(Comparison)
        .exists()
    )
    return (
        select(Comparison)
        .where(
            Comparison.project_id == project_id,
            places.is_open(),
            ~places.has_passed(project_id, user_id),
            ~is_leased,
        )
        .order_by(Comparison.judged, Comparison.number)
        .limit(1)
    )


def _busy(
    project_id: str, user_id: str, at: datetime, *, before: Comparison | None, overlaps: bool
) -> Select[Comparison]:
    """The best comparison that others have leased and that wants still more, if before `before`."""
    leased = _leased(project_id, user_id, at)
    used = Comparison.judged + leased.c.leases
    turn = used - case((Comparison.is_overlap, 1), else_=0) if overlaps else used
    # The project is that of the leases: said again of the comparisons, it would have SQLite begin
    # with all of them.
    query = (
        select(Comparison)
        .join(leased, leased.c.comparison_id == Comparison.id)
        .where(
            places.is_open(),
            used < Comparison.judgments_required,
            leased.c.is_own == 0,
            ~places.has_passed(project_id, user_id),
        )
        .order_by(turn, Comparison.number)
        .limit(1)
    )
    if before is None:
        return query
    first = _turn(before) if overlaps else (before.judged, before.number)
    return query.where(tuple_(turn, Comparison.number) < tuple_(*first))


def _leased(project_id: str, user_id: str, at: datetime) -> Subquery:
    """The comparisons with live leases: how many each has, and whether one is this annotator's."""
    is_own = func.max(case((Assignment.user_id == user_id, 1), else_=0))
    return (
        select(Assignment.comparison_id, func.count().label("leases"), is_own.label("is_own"))
        .where(is_live(Assignment, project_id, at))
        .group_by(Assignment.comparison_id)
        .subquery("leased")
    )


def _is_taken(session: Session, comparison: Comparison, user_id: str, at: datetime) -> bool:
    """Whether this annotator has it already, other than by a lease that ran out."""
    own = session.execute(
        select(Assignment.state, Assignment.expires_at).where(
            Assignment.comparison_id == comparison.id, Assignment.user_id == user_id
        )
    ).one_or_none()
    return own is not None and (own[0] != LEASED or own[1] > at)
