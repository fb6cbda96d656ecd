"""Assignments: leases on comparisons, never more than the quota, nobody twice.

Called by the assignment routes. On SQLite writers are alone; on PostgreSQL the comparison's row is
locked before its judgments and leases are counted again, so the count cannot move underneath.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from backend.domain.assignment import (
    LEASE,
    MOST_LEASES,
    has_room,
    presented_order,
    renewable_until,
)
from backend.errors import Conflict, NotFound
from backend.schemas.comparisons import (
    AnnotationProgress,
    AssignedComparison,
    AssignedPrompt,
    AssignedResponse,
    AssignmentAnswer,
)
from backend.store.ids import new_id
from backend.store.tables.data import Assignment, Comparison, Judgment, Prompt, Response

LEASED, SUBMITTED, SKIPPED = "leased", "submitted", "skipped"


def lease(
    session: Session,
    project_id: str,
    user_id: str,
    *,
    held: Sequence[str] | None,
    is_offline: bool = False,
    at: datetime,
) -> AssignmentAnswer | None:
    """Lease the next comparison to an annotator, None when nothing is left for this one.

    Comparisons with the fewest judgments come first, then the oldest. `held` names the leases that
    the client still has; others of its live ones come back first. None = always a new one. Raises
    Conflict if the annotator has `MOST_LEASES` already, which nobody else can get meanwhile.
    """
    if held is not None:
        lost = session.scalar(
            _mine(project_id, user_id, at).where(Assignment.id.not_in(held)).limit(1)
        )
        if lost is not None:
            return answer(session, lost)
    _must_hold_few(session, project_id, user_id, at)
    comparison = _next(session, project_id, user_id, at)
    if comparison is None:
        return None
    assignment = _own(session, comparison.id, user_id)
    if assignment is None:
        assignment = Assignment(
            id=new_id("assignment"),
            project_id=project_id,
            comparison_id=comparison.id,
            user_id=user_id,
            presented_order=presented_order(
                comparison.response_ids, comparison_id=comparison.id, user_id=user_id
            ),
            created_at=at,
        )
        session.add(assignment)
    assignment.state = LEASED
    assignment.expires_at = at + LEASE
    assignment.granted_at = at
    assignment.is_offline = is_offline
    session.flush()
    return answer(session, assignment)


def _must_hold_few(session: Session, project_id: str, user_id: str, at: datetime) -> None:
    live = session.scalar(
        select(func.count()).select_from(_mine(project_id, user_id, at).order_by(None).subquery())
    )
    if (live or 0) >= MOST_LEASES:
        raise Conflict(
            f"you hold {live} comparisons of this project; {MOST_LEASES} are allowed at once",
            advice="Rank or skip one of them, or wait until a lease expires (15 minutes).",
        )


def get_own(session: Session, assignment_id: str, user_id: str) -> Assignment:
    """An annotator's own assignment; its comparison is locked. Raises NotFound for others'."""
    assignment = session.scalar(
        select(Assignment).where(Assignment.id == assignment_id, Assignment.user_id == user_id)
    )
    if assignment is None:
        raise NotFound(f"you have no assignment {assignment_id}")
    session.scalar(
        select(Comparison.number).where(Comparison.id == assignment.comparison_id).with_for_update()
    )
    session.refresh(assignment)
    return assignment


def must_be_open(session: Session, assignment: Assignment, *, at: datetime) -> None:
    """Raise Conflict if the lease is over and enough others have taken the comparison."""
    if assignment.state == LEASED and assignment.expires_at > at:
        return
    comparison = session.scalar(select(Comparison).where(Comparison.id == assignment.comparison_id))
    if comparison is None or not _has_room(session, comparison, assignment.user_id, at):
        raise Conflict(
            "your lease expired, and other annotators have taken this comparison",
            advice="Continue with the next comparison (API: request another assignment).",
        )


def skip(session: Session, assignment_id: str, user_id: str, *, reason: str) -> None:
    """Pass a comparison on; this annotator does not get it again.

    Raises Conflict if it is judged already.
    """
    assignment = get_own(session, assignment_id, user_id)
    if assignment.state == SUBMITTED:
        raise Conflict(
            "this assignment is judged already",
            advice="Reopen the comparison to change your judgment (API: `revise: true`).",
        )
    assignment.state = SKIPPED
    assignment.skip_reason = reason


def renew(session: Session, assignment_id: str, user_id: str, *, at: datetime) -> AssignmentAnswer:
    """Extend the lease, at most to the end that its grant gives it.

    Raises Conflict if it is judged or skipped, was granted too long ago, or ran out and others took
    the comparison.
    """
    assignment = get_own(session, assignment_id, user_id)
    if assignment.state != LEASED:
        raise Conflict(
            f"this assignment is {assignment.state}, so it has no lease to renew",
            advice="Request another assignment.",
        )
    # A lease from before grants were kept counts from its last renewal.
    granted_at = assignment.granted_at or assignment.expires_at - LEASE
    ends_at = renewable_until(granted_at, is_offline=assignment.is_offline)
    if at >= ends_at:
        raise Conflict(
            f"this lease was granted at {granted_at.isoformat(timespec='seconds')} and can be "
            f"renewed until {ends_at.isoformat(timespec='seconds')}",
            advice="Send your judgment if you have one: it is taken unless others have taken the "
            "comparison. Else request another assignment.",
        )
    must_be_open(session, assignment, at=at)
    assignment.expires_at = min(at + LEASE, ends_at)
    session.flush()
    return answer(session, assignment)


def answer(session: Session, assignment: Assignment) -> AssignmentAnswer:
    """What the annotator sees: texts in presented order, and nothing about where they came from."""
    row = session.execute(
        select(Comparison.id, Prompt.id, Prompt.messages)
        .join(Prompt, Prompt.id == Comparison.prompt_id)
        .where(Comparison.id == assignment.comparison_id)
    ).one()
    found = session.execute(
        select(Response.id, Response.content).where(Response.id.in_(assignment.presented_order))
    )
    content: dict[str, str] = {one[0]: one[1] for one in found}
    return AssignmentAnswer(
        id=assignment.id,
        comparison=AssignedComparison(
            id=row[0],
            prompt=AssignedPrompt(id=row[1], messages=row[2]),
            responses=[
                AssignedResponse(id=one, content=content[one]) for one in assignment.presented_order
            ],
        ),
        presented_order=assignment.presented_order,
        expires_at=assignment.expires_at,
    )


def progress(
    session: Session, project_id: str, user_id: str, *, at: datetime
) -> AnnotationProgress:
    """Where an annotator and the project stand; today begins at midnight UTC."""
    first = and_(Judgment.project_id == project_id, Judgment.revision == 1)
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)

    def count(*where: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).select_from(Judgment).where(*where)) or 0

    wanted = select(func.sum(Comparison.judgments_required)).where(
        Comparison.project_id == project_id
    )
    available = (
        select(func.count())
        .select_from(Comparison)
        .where(*_available(project_id, user_id, at, used=_used(at)))
    )
    return AnnotationProgress(
        mine=count(first, Judgment.user_id == user_id),
        mine_today=count(first, Judgment.user_id == user_id, Judgment.created_at >= today),
        done=count(first),
        wanted=session.scalar(wanted) or 0,
        available=session.scalar(available) or 0,
    )


def _next(session: Session, project_id: str, user_id: str, at: datetime) -> Comparison | None:
    """The best comparison with room, its row locked."""
    used = _used(at)
    best = (
        select(Comparison)
        .where(*_available(project_id, user_id, at, used=used))
        .order_by(used, Comparison.number)
        .limit(1)
    )
    # Rows that others are leasing this moment are skipped first and waited for only if nothing else
    # is left; after the lock the count is taken again, because it may be older than the lock.
    for skip_locked in (True, False):
        while True:
            found = session.scalar(best.with_for_update(skip_locked=skip_locked, of=Comparison))
            if found is None:
                break
            own = _own(session, found.id, user_id)
            is_taken = own is not None and (own.state != LEASED or own.expires_at > at)
            if not is_taken and _has_room(session, found, user_id, at):
                return found
    return None


def _used(at: datetime) -> ColumnElement[int]:
    """Judgments and live leases of the enclosing query's comparison."""
    return (
        select(func.count())
        .select_from(Assignment)
        .where(Assignment.comparison_id == Comparison.id, _counts(at))
        .correlate(Comparison)
        .scalar_subquery()
    )


def _available(
    project_id: str, user_id: str, at: datetime, *, used: ColumnElement[int]
) -> tuple[ColumnElement[bool], ...]:
    # An own lease that ran out may be leased again; all other own assignments are out.
    own = (
        select(Assignment.number)
        .where(
            Assignment.comparison_id == Comparison.id,
            Assignment.user_id == user_id,
            or_(Assignment.state != LEASED, Assignment.expires_at > at),
        )
        .correlate(Comparison)
        .exists()
    )
    return Comparison.project_id == project_id, ~own, used < Comparison.judgments_required


def _has_room(session: Session, comparison: Comparison, user_id: str, at: datetime) -> bool:
    """Whether one more judgment by this annotator, whose own lease does not count, fits."""
    counted = session.execute(
        select(Assignment.state, func.count())
        .where(
            Assignment.comparison_id == comparison.id,
            Assignment.user_id != user_id,
            _counts(at),
        )
        .group_by(Assignment.state)
    )
    counts = {row[0]: row[1] for row in counted}
    return has_room(
        required=comparison.judgments_required,
        submitted=counts.get(SUBMITTED, 0),
        live_leases=counts.get(LEASED, 0),
    )


def _counts(at: datetime) -> ColumnElement[bool]:
    return or_(
        Assignment.state == SUBMITTED,
        and_(Assignment.state == LEASED, Assignment.expires_at > at),
    )


def _own(session: Session, comparison_id: str, user_id: str) -> Assignment | None:
    return session.scalar(
        select(Assignment).where(
            Assignment.comparison_id == comparison_id, Assignment.user_id == user_id
        )
    )


def _mine(project_id: str, user_id: str, at: datetime) -> Select[Assignment]:
    return (
        select(Assignment)
        .where(
            Assignment.project_id == project_id,
            Assignment.user_id == user_id,
            Assignment.state == LEASED,
            Assignment.expires_at > at,
        )
        .order_by(Assignment.number)
    )
