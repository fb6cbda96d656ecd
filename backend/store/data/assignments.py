"""Assignments: leases on comparisons, never more than the quota, nobody twice.

Called by the assignment routes; which comparison comes next is `backend.store.data.candidates`. On
SQLite writers are alone; on PostgreSQL the comparison's row is locked before its judgments and
leases are counted again, so the count cannot move underneath.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    CompoundSelect,
    Executable,
    Integer,
    ScalarSelect,
    Select,
    Text,
    Update,
    and_,
    bindparam,
    case,
    cast,
    func,
    insert,
    literal_column,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.assignment import (
    LEASE,
    MOST_LEASES,
    RELEASED,
    leased_until,
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
    LeaseEnd,
)
from backend.store import built, dialect
from backend.store.built import once
from backend.store.data import candidates, places, tallies
from backend.store.data.candidates import AT, CANDIDATE, LEASED, Candidate, Standing
from backend.store.data.places import PROJECT_ID, USER_ID, Look
from backend.store.ids import new_id
from backend.store.tables.data import Assignment, Comparison, Judgment, Project, Prompt, Response
from backend.store.visibility import is_visible

# Late: judged when the comparison wanted no more judgments; the judgment is kept for review.
SUBMITTED, SKIPPED, LATE = "submitted", "skipped", "late"


@dataclass(frozen=True, eq=False)
class Gate:
    """What an annotator must have done before a lease, asked together with all else.

    `must_be_open` gets what the columns say of the enclosing query's project, and raises Conflict.
    """

    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[Any], ...]
    must_be_open: Callable[..., None]


def lease(
    session: Session,
    project_id: str,
    user_id: str,
    *,
    held: Sequence[str] | None,
    is_offline: bool = False,
    gate: Gate | None = None,
    seen: Look | None = None,
    at: datetime,
) -> AssignmentAnswer | None:
    """Lease the next comparison to an annotator, None when nothing is left for this one.

    Comparisons with the fewest judgments come first, then the oldest. `held` names the leases that
    the client still has; others of its live ones come back first. None = always a new one. A lease
    for work offline stays with the device that took it, and comes back only to a request for work
    offline. Raises Conflict if the annotator has `MOST_LEASES` already, which nobody else can get
    meanwhile, if the same comparison cannot be granted twice, and what `gate` raises; FarBehind if
    the caller has to take a `places.look` first, and give it as `seen`.
    """
    live, standing = _live_and_standing(session, project_id, user_id, gate, at)
    lost = _first_lost(live, held, is_offline=is_offline)
    if lost is not None:
        if not is_offline or lost.is_offline:
            return answer(session, lost)
        if (again := _granted_again(session, lost, at)) is not None:
            return answer(session, again)
        # Judged, skipped or released since it was read: it is none of the live ones any more.
        return lease(
            session,
            project_id,
            user_id,
            held=held,
            is_offline=is_offline,
            gate=gate,
            seen=seen,
            at=at,
        )
    _must_be_few(live)
    beginning = candidates.begin(session, project_id, user_id, standing=standing, seen=seen)
    offered = candidates.offers(session, project_id, user_id, at, beginning)
    tries = (_granted(session, one, user_id, at, is_offline=is_offline) for one in offered)
    granted = next((one for one in tries if one is not None), None)
    if beginning.news is not None:
        places.note(session, project_id, user_id, beginning.news)
    return granted


class TooManyLeases(Conflict):
    """The annotator holds as many comparisons of the project as one may.

    A program that hoards them asks again at once, and each time takes a turn to write.
    """

    rests = True


class Lease(NamedTuple):
    """An assignment as its row is."""

    number: int
    id: str
    project_id: str
    comparison_id: str
    user_id: str
    state: str
    presented_order: list[str]
    criteria: list[Any]
    expires_at: datetime
    granted_at: datetime | None
    is_offline: bool


def _granted(
    session: Session, comparison: Candidate, user_id: str, at: datetime, *, is_offline: bool
) -> AssignmentAnswer | None:
    """Lease a comparison whose row is locked; None if it has no room any more."""
    order = presented_order(comparison.response_ids, comparison_id=comparison.id, user_id=user_id)
    row = {
        "id": new_id("assignment"),
        "project_id": comparison.project_id,
        "comparison_id": comparison.id,
        "user_id": user_id,
        "presented_order": order,
        "created_at": at,
        **_grant(at, is_offline=is_offline),
    }
    room = comparison.judgments_required - comparison.judged
    named = {"comparison_id": comparison.id, "user_id": user_id, "at": at, "room": room}
    new = {f"new_{name}": value for name, value in row.items()}
    shown = _numbered(order)
    granting = _granting(tuple(row), len(order), is_sqlite=dialect.is_sqlite(session))
    found = built.row(session, granting, named | new | shown)
    if found is None:
        return None
    width = len(Lease._fields)
    lease, beside = Lease(*found[:width]), found[width:]
    if not beside:
        return answer(session, lease)
    prompt_id, messages, texts = beside
    prompt = AssignedPrompt(id=prompt_id, messages=messages)
    return _answer(lease, _shown(comparison.id, prompt, dict(texts), order))


def _live_and_standing(
    session: Session, project_id: str, user_id: str, gate: Gate | None, at: datetime
) -> tuple[list[Lease], Standing]:
    """The live leases of an annotator, and where this one stands. Raises what the gate raises."""
    named = {"project_id": project_id, "user_id": user_id, "at": at, "worth": places.WORTH_NOTING}
    rows = built.rows(session, _live(gate), named)
    begins = len(Standing._fields)
    ends = begins + len(Lease._fields)
    if gate is not None:
        gate.must_be_open(*rows[0][ends:])
    live = [Lease(*row[begins:ends]) for row in rows if row[begins] is not None]
    return live, Standing(*rows[0][:begins])


def _first_lost(
    live: Iterable[Lease], held: Collection[str] | None, *, is_offline: bool
) -> Lease | None:
    """Return the oldest lease that a client has lost, None if it has all or wants none back."""
    if held is None:
        return None
    # An online client cannot know what another device of the annotator has taken along.
    back = (one for one in live if is_offline or not one.is_offline)
    return next((one for one in back if one.id not in held), None)


def _grant(at: datetime, *, is_offline: bool) -> dict[str, Any]:
    return {
        "state": LEASED,
        "expires_at": leased_until(at, is_offline=is_offline),
        "granted_at": at,
        "is_offline": is_offline,
    }


def _granted_again(session: Session, lost: Lease, at: datetime) -> Lease | None:
    """A lease that was taken for a while is one for hours from now on; None if it has ended."""
    granted = _grant(at, is_offline=True)
    still = _change(lost).where(candidates.is_leased(Assignment, at))
    is_granted = session.connection().execute(still.values(granted)).rowcount > 0
    return lost._replace(**granted) if is_granted else None


def _must_be_few(live: Sequence[Lease]) -> None:
    if len(live) >= MOST_LEASES:
        raise TooManyLeases(
            f"you hold {len(live)} comparisons of this project; {MOST_LEASES} are allowed at once",
            advice="Rank or skip one of them, or wait until a lease expires: 15 minutes after it "
            "was granted or renewed, 8 hours if it is for work offline.",
        )


class Own(NamedTuple):
    """An annotator's own assignment and its comparison, whose rows are locked."""

    assignment: Lease
    comparison: Candidate


def get_own(session: Session, assignment_id: str, user_id: str) -> Own:
    """What an annotator was assigned, as it is now. Raises NotFound for what others were."""
    named = {"assignment_id": assignment_id, "user_id": user_id}
    row = built.row(session, _OWN, named)
    if row is None:
        raise NotFound(f"you have no assignment {assignment_id}")
    width = len(Lease._fields)
    return Own(Lease(*row[:width]), Candidate(*row[width:]))


def has_place(session: Session, own: Own, *, at: datetime) -> bool:
    """Whether a judgment counts: the lease lasts, or not enough others have the comparison."""
    assignment, comparison = own
    if assignment.state == LEASED and assignment.expires_at > at:
        return True
    return candidates.is_free(session, comparison, assignment.user_id, at)


def pass_late(session: Session, own: Own) -> None:
    """Offer a comparison to its annotator no more, whose judgment came too late to count."""
    if own.assignment.state == LEASED:
        _pass(session, own, LATE)


def _pass(session: Session, own: Own, state: str, reason: str | None = None) -> None:
    """End a lease; `reason` is why the comparison was passed on, None leaves what was said."""
    assignment, comparison = own
    passed = {
        "of_number": assignment.number,
        "state": state,
        "passed": comparison.number if comparison.is_open else None,
    }
    said = {} if reason is None else {"skip_reason": reason}
    built.changed(session, _PASSED, passed | said)


class _First(NamedTuple):
    """What the first judgment of an assignment changes, each as its statement is told."""

    judgment: Mapping[str, Any]
    judged: dict[str, Any]
    submitted: dict[str, Any]
    # All that others have passed, if the comparison wants no more judgments now.
    wanted: dict[str, Any]
    is_last: bool


def submit(session: Session, own: Own, judgment: Mapping[str, Any]) -> None:
    """Keep the first judgment of an assignment, given as its row, and count it.

    Rows are locked in one order: the comparison and the assignment, which are held by now; their
    project, as foreign keys lock it; the sums of the annotator; what others have passed.
    """
    assignment, comparison = own
    judged = comparison._replace(judged=comparison.judged + 1)
    number = judged.number
    first = _First(
        judgment,
        judged={"of_judged": number, "now_judged": judged.judged},
        submitted={
            "of_submitted": assignment.number,
            "now_passed": number if judged.is_open else None,
        },
        wanted={"of_comparison": comparison.id},
        is_last=comparison.is_open and not judged.is_open,
    )
    submit_it = _submit_in_turn if dialect.is_sqlite(session) else _submit_at_once
    submit_it(session, assignment, first)


def _submit_in_turn(session: Session, assignment: Lease, first: _First) -> None:
    built.changed(session, NEW_JUDGMENT, first.judgment)
    built.changed(session, _JUDGED, first.judged)
    built.changed(session, _SUBMITTED, first.submitted)
    sums = {"judged": 1, "finished": int(first.is_last)}
    tallies.add(session, assignment.project_id, assignment.user_id, **sums)
    if first.is_last:
        built.changed(session, _PASSED_BY_NOBODY, first.wanted)


def _submit_at_once(session: Session, assignment: Lease, first: _First) -> None:
    new = {f"new_{name}": value for name, value in first.judgment.items()}
    told = {"of_project": assignment.project_id, **first.judged, **first.submitted, **new}
    submitting = _submitting(tuple(first.judgment), is_last=first.is_last)
    wanted = first.wanted if first.is_last else {}
    built.changed(session, submitting, told | wanted)


def recount(session: Session, comparison_ids: Sequence[str]) -> int:
    """Count the judgments of these comparisons anew, once assignments were added to them.

    Returns how many of them want no more judgments because of it.
    """
    of_these = Comparison.id.in_(comparison_ids)
    held = select(Comparison.judged < Comparison.judgments_required).where(of_these)
    before = session.scalars(held.order_by(Comparison.number).with_for_update()).all()
    submitted = (
        select(func.count())
        .where(Assignment.comparison_id == Comparison.id, Assignment.state == SUBMITTED)
        .correlate(Comparison)
        .scalar_subquery()
    )
    unseen = {"synchronize_session": False}
    session.execute(
        update(Comparison).where(of_these).values(judged=submitted), execution_options=unseen
    )
    number = (
        select(
            case((Comparison.judged < Comparison.judgments_required, Comparison.number), else_=None)
        )
        .where(Comparison.id == Assignment.comparison_id)
        .correlate(Assignment)
        .scalar_subquery()
    )
    passed = update(Assignment).where(
        Assignment.comparison_id.in_(comparison_ids), Assignment.state != LEASED
    )
    session.execute(passed.values(passed=number), execution_options=unseen)
    return sum(before) - sum(session.scalars(held))


def skip(session: Session, assignment_id: str, user_id: str, *, reason: str) -> None:
    """Pass a comparison on; this annotator does not get it again.

    Raises Conflict if it is judged already.
    """
    own = get_own(session, assignment_id, user_id)
    if own.assignment.state == SUBMITTED:
        raise Conflict(
            "this assignment is judged already",
            advice="Revise it under Mine (API: `revise: true`).",
        )
    _pass(session, own, SKIPPED, reason)


def renew(session: Session, assignment_id: str, user_id: str, *, at: datetime) -> AssignmentAnswer:
    """Extend the lease, at most to the end that its grant gives it.

    Raises Conflict if it is judged or skipped, was granted too long ago, or ran out and others took
    the comparison.
    """
    own = get_own(session, assignment_id, user_id)
    assignment = own.assignment
    if assignment.state != LEASED:
        raise Conflict(
            f"this assignment is {assignment.state}, so it has no lease to renew",
            advice="Continue with the next comparison (API: request another assignment).",
        )
    # A lease from before grants were kept counts from its last renewal.
    granted_at = assignment.granted_at or assignment.expires_at - LEASE
    ends_at = renewable_until(granted_at, is_offline=assignment.is_offline)
    if at >= ends_at:
        raise Conflict(
            f"this lease was granted at {granted_at.isoformat(timespec='seconds')} and can be "
            f"renewed until {ends_at.isoformat(timespec='seconds')}",
            advice="Send your judgment if you have one: it counts unless others have taken the "
            "comparison, and is kept for review otherwise. Else continue with the next comparison "
            "(API: request another assignment).",
        )
    if not has_place(session, own, at=at):
        raise Conflict(
            "your lease expired, and other annotators have taken this comparison",
            advice="Continue with the next comparison (API: request another assignment).",
        )
    expires_at = min(leased_until(at, is_offline=assignment.is_offline), ends_at)
    session.execute(_change(assignment).values(expires_at=expires_at))
    return answer(session, assignment._replace(expires_at=expires_at))


def release(
    session: Session, project_id: str, user_id: str, leases: Sequence[LeaseEnd], *, at: datetime
) -> None:
    """Let an annotator's own leases expire soon, unless they were renewed since `expires_at`.

    What is foreign, judged or about to expire anyway stays as it is.
    """
    soon = at + RELEASED
    # In one order, so that two requests never wait for each other's rows.
    for one in sorted(leases, key=lambda lease: lease.assignment_id):
        session.execute(
            update(Assignment)
            .where(
                Assignment.id == one.assignment_id,
                Assignment.user_id == user_id,
                Assignment.expires_at == one.expires_at,
                Assignment.expires_at > soon,
                candidates.is_live(Assignment, project_id, at),
            )
            .values(expires_at=soon)
        )


def end_leases(
    session: Session, user_id: str, ranks_in: Collection[str] | None, *, at: datetime
) -> None:
    """End the leases of somebody at once, except in projects where this person ranks (None: all).

    Others get these comparisons from now on; whoever comes back may get them again, too.
    """
    if ranks_in is None:
        return
    session.execute(
        update(Assignment)
        .where(
            Assignment.user_id == user_id,
            Assignment.project_id.not_in(ranks_in),
            candidates.is_leased(Assignment, at),
        )
        .values(expires_at=at)
    )


def assigned(session: Session, comparison_id: str, order: Sequence[str]) -> AssignedComparison:
    """What is to be ranked: texts in presented order, and nothing about where they came from."""
    return _assigned(session, [(comparison_id, comparison_id, order)])[comparison_id]


def _assigned(
    session: Session, wanted: Sequence[tuple[str, str, Sequence[str]]]
) -> dict[str, AssignedComparison]:
    """What annotators see, each under a key: comparisons, and their responses in some order."""
    content: dict[str, str] = {}
    prompt_of: dict[str, AssignedPrompt] = {}
    for one, text, prompt_id, messages in _texts(session, wanted):
        if prompt_id is None:
            content[one] = text
        else:
            prompt_of[one] = AssignedPrompt(id=prompt_id, messages=messages)
    return {
        key: _shown(comparison_id, prompt_of[comparison_id], content, order)
        for key, comparison_id, order in wanted
    }


def _texts(
    session: Session, wanted: Sequence[tuple[str, str, Sequence[str]]]
) -> Iterable[Sequence[Any]]:
    """Prompts of comparisons under their ids, and texts of responses under theirs."""
    if len(wanted) == 1:
        ((_, comparison_id, order),) = wanted
        named = {"comparison_id": comparison_id, **_numbered(order)}
        return built.rows(session, _texts_of_one(len(order)), named)
    ids = {
        "comparison_ids": list({comparison_id for _, comparison_id, _ in wanted}),
        "response_ids": list({one for *_, order in wanted for one in order}),
    }
    return session.connection().execute(_TEXTS_OF_MANY, ids).all()


def _numbered(response_ids: Sequence[str]) -> dict[str, str]:
    return {f"response_{place}": one for place, one in enumerate(response_ids)}


def _shown(
    comparison_id: str, prompt: AssignedPrompt, content: Mapping[str, str], order: Sequence[str]
) -> AssignedComparison:
    responses = [AssignedResponse(id=one, content=content[one]) for one in order]
    return AssignedComparison(id=comparison_id, prompt=prompt, responses=responses)


def answer(session: Session, assignment: Lease) -> AssignmentAnswer:
    """What the annotator sees of a lease."""
    comparison = assigned(session, assignment.comparison_id, assignment.presented_order)
    return _answer(assignment, comparison)


def _answer(assignment: Lease, comparison: AssignedComparison) -> AssignmentAnswer:
    return AssignmentAnswer(
        id=assignment.id,
        comparison=comparison,
        criteria=assignment.criteria,
        presented_order=assignment.presented_order,
        expires_at=assignment.expires_at,
    )


def shown(session: Session, assignment_ids: Iterable[str]) -> dict[str, AssignedComparison]:
    """What the annotators of these assignments see of their comparisons."""
    rows = session.execute(
        select(Assignment.id, Assignment.comparison_id, Assignment.presented_order).where(
            Assignment.id.in_(assignment_ids)
        )
    )
    return _assigned(session, [(row[0], row[1], row[2]) for row in rows])


def progress(
    session: Session,
    project_id: str,
    user_id: str,
    *,
    at: datetime,
    day_start: datetime | None = None,
) -> AnnotationProgress:
    """Where an annotator and the project stand. Without `day_start` the day began at 0:00 UTC."""
    midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    today = midnight if day_start is None else day_start.astimezone(UTC)
    mine_today = select(func.count()).where(
        Judgment.user_id == user_id,
        Judgment.project_id == project_id,
        Judgment.created_at >= today,
        Judgment.revision == 1,
        Judgment.review_reason.is_(None),
    )
    sums = tallies.of_project(session, project_id)
    left = candidates.left_for(session, project_id, user_id, at)
    return AnnotationProgress(
        mine=tallies.judged_by(session, project_id, user_id),
        mine_today=session.scalar(mine_today) or 0,
        done=sums["judged"],
        wanted=sums["wanted"],
        available=left.available,
        open=left.wanting,
        passed=left.passed,
        held=left.held,
        held_by_others=left.held_by_others,
    )


def _change(assignment: Lease) -> Update:
    return update(Assignment).where(Assignment.number == assignment.number)


# Built once each, as those of `candidates`.
_LEASE = tuple(getattr(Assignment, name) for name in Lease._fields)
# An annotator's own assignment and its comparison. Both are locked, the comparison first: of what
# is not, PostgreSQL says after the wait for a lock what it was before.
_OWN = (
    select(*_LEASE, *CANDIDATE)
    .join(Comparison, Comparison.id == Assignment.comparison_id)
    .where(
        Assignment.id == bindparam("assignment_id"),
        Assignment.user_id == USER_ID,
        is_visible(Assignment),
        is_visible(Comparison),
    )
    .with_for_update(of=(Comparison, Assignment))
)
_PASSED = update(Assignment).where(Assignment.number == bindparam("of_number"))
# What a first judgment changes: each by itself on SQLite, and as parts of one on PostgreSQL.
_JUDGED = (
    update(Comparison)
    .where(Comparison.number == bindparam("of_judged"))
    .values(judged=bindparam("now_judged"))
)
_SUBMITTED = (
    update(Assignment)
    .where(Assignment.number == bindparam("of_submitted"))
    .values(state=SUBMITTED, passed=bindparam("now_passed", type_=Assignment.passed.type))
)
# Keeps a judgment, given as its row.
NEW_JUDGMENT = insert(Judgment)
_PASSED_BY_NOBODY = (
    update(Assignment)
    .where(
        Assignment.comparison_id == bindparam("of_comparison"),
        Assignment.passed.is_not(None),
        is_visible(Assignment),
    )
    .values(passed=None)
)


@once
def _submitting(names: tuple[str, ...], *, is_last: bool) -> Executable:
    """All that a first judgment changes, in one message to PostgreSQL.

    The project is locked first, as the foreign key of the judgment locks it at the end anyway:
    whoever notes a place holds the project, and then asks for these sums. They grow when the
    assignment has been changed.
    """
    project = select(Project.id).where(Project.id == bindparam("of_project"))
    held = project.with_for_update(read=True, key_share=True).cte("held")
    submitted = (
        _SUBMITTED.where(Assignment.project_id == held.c.id)
        .returning(Assignment.project_id, Assignment.user_id)
        .cte("submitted")
    )
    new = insert(Judgment).values({name: bindparam(f"new_{name}") for name in names})
    finished: ColumnElement[int] = literal_column(str(int(is_last)))
    sums = tallies.growing_for(submitted, {"judged": literal_column("1"), "finished": finished})
    # No row is changed twice in one statement.
    of_others = _PASSED_BY_NOBODY.where(Assignment.number != bindparam("of_submitted"))
    others = [of_others] if is_last else []
    return sums.add_cte(*(one.cte() for one in (_JUDGED, new, *others)))


_NOTHING = cast(null(), Prompt.id.type), cast(null(), Prompt.messages.type)


def _texts_where(
    is_comparison: ColumnElement[bool], is_response: ColumnElement[bool]
) -> CompoundSelect[Any]:
    return union_all(
        select(Comparison.id, cast(null(), Text), Prompt.id, Prompt.messages)
        .join(Prompt, Prompt.id == Comparison.prompt_id)
        .where(is_comparison, is_visible(Comparison), is_visible(Prompt)),
        select(Response.id, Response.content, *_NOTHING).where(is_response, is_visible(Response)),
    )


# PostgreSQL would plan this anew each time for lists of which it is not told how long they are.
_TEXTS_OF_MANY = _texts_where(
    Comparison.id.in_(bindparam("comparison_ids", expanding=True)),
    Response.id.in_(bindparam("response_ids", expanding=True)),
)


@once
def _texts_of_one(responses: int) -> CompoundSelect[Any]:
    return _texts_where(Comparison.id == candidates.COMPARISON_ID, _is_one_of(responses))


def _is_one_of(responses: int) -> ColumnElement[bool]:
    """Whether the enclosing query's response is one of so many that `_numbered` names."""
    names = _numbered([""] * responses)
    return Response.id.in_([bindparam(name, type_=Response.id.type) for name in names])


@once
def _live(gate: Gate | None) -> Select[Any]:
    """The live leases of an annotator, the oldest first, each beside the annotator's standing.

    One row without a lease if there is none. What the gate asks comes last in each.
    """
    asked = () if gate is None else gate.columns
    is_own = (
        Assignment.user_id == USER_ID,
        candidates.is_live(Assignment, PROJECT_ID, AT),
        is_visible(Assignment),
    )
    columns = candidates.STANDING.add_columns(*_LEASE, *asked)
    beside = columns.outerjoin(Assignment, and_(*is_own))
    return beside.order_by(Assignment.number)


@once
def _granting(names: tuple[str, ...], responses: int, *, is_sqlite: bool) -> Executable:
    """A new assignment, or the annotator's own whose lease ran out; with its project's criteria.

    Neither, if others have taken the room or the annotator is done with the comparison. PostgreSQL
    is asked in the same message for what is to be ranked: the prompt, and so many texts.
    """
    columns = Assignment.__table__.columns
    told = {name: bindparam(f"new_{name}", type_=columns[name].type) for name in names}
    criteria = select(Project.criteria).where(Project.id == told["project_id"]).scalar_subquery()
    row = select(*told.values(), criteria).where(
        candidates.leases_of_others() < bindparam("room", type_=Integer)
    )
    new = (sqlite if is_sqlite else postgresql).insert(Assignment)
    new = new.from_select([*names, "criteria"], row)
    changed = ("criteria", *_grant(datetime.min, is_offline=False))
    granting: Executable = new.on_conflict_do_update(
        index_elements=[Assignment.comparison_id, Assignment.user_id],
        set_={name: new.excluded[name] for name in changed},
        where=and_(Assignment.state == LEASED, Assignment.expires_at <= new.excluded.granted_at),
    ).returning(*_LEASE, *(() if is_sqlite else _to_be_ranked(responses)))
    return granting


def _to_be_ranked(responses: int) -> tuple[ScalarSelect[Any], ...]:
    """The id and the messages of a comparison's prompt; ids and texts of so many responses."""
    is_of_it = (Comparison.id == candidates.COMPARISON_ID, Prompt.id == Comparison.prompt_id)
    visible = (is_visible(Comparison), is_visible(Prompt))
    prompt = (select(one).where(*is_of_it, *visible) for one in (Prompt.id, Prompt.messages))
    pair = postgresql.array([Response.id, Response.content])
    pairs = func.array_agg(pair, type_=ARRAY(Text, dimensions=2))
    texts = select(pairs).where(_is_one_of(responses), is_visible(Response))
    return tuple(one.scalar_subquery() for one in (*prompt, texts))
