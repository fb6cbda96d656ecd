"""Judgments: append-only, the latest revision of an assignment counts.

One that comes when it cannot count any more is kept for review, with revisions of its own. Whatever
counts or shows judgments reads them by the rules of this file.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    String,
    and_,
    bindparam,
    func,
    or_,
    select,
    true,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from backend.domain import criteria
from backend.domain.criteria import Said
from backend.domain.ranking import Ranking
from backend.errors import Conflict, InvalidInput
from backend.schemas.comparisons import (
    Criterion,
    JudgmentAnswer,
    JudgmentBody,
    OwnJudgmentAnswer,
    RevisionAnswer,
)
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import ReviewReason, Verdict
from backend.store import built, dialect, given
from backend.store.data import assignments
from backend.store.data.assignments import Lease, Own
from backend.store.data.candidates import LEASED
from backend.store.ids import new_id
from backend.store.paging import Page, filled_page
from backend.store.tables.data import Assignment, Comparison, Judgment, Prompt, Response
from backend.store.visibility import is_visible

# Of one annotator and one comparison: the last revision counts, the others are its history.
MOST_REVIEWS = 20
# Of one judgment: whoever judges again reads them all in the write turn.
MOST_REVISIONS = 100
# Of the revisions that a judgment had before.
MOST_EARLIER = 20


def submit(
    session: Session, assignment_id: str, user_id: str, body: JudgmentBody, *, at: datetime
) -> JudgmentAnswer:
    """Keep an annotator's ranking; the same body again gives the same judgment again.

    It is kept for review if it cannot count: the lease ran out when others filled the quota, or the
    annotator has judged differently before and does not say `revise`. Raises NotFound for a foreign
    assignment, InvalidInput for a ranking that is none, Conflict beyond `MOST_REVIEWS` and
    `MOST_REVISIONS`.
    """
    own = assignments.get_own(session, assignment_id, user_id)
    assignment, comparison = own
    body_sha256 = _body_hash(body)
    kept = _kept(session, assignment)
    counted = [one for one in kept if one.review_reason is None]
    reviews = [one for one in kept if one.review_reason is not None]
    for same in (counted or reviews)[-1:] if body.revise else (*counted, *reviews):
        if same.body_sha256 == body_sha256:
            return _answer(same)
    said = _checked(own, body)
    reason = _review_reason(session, own, body, is_judged=bool(counted), at=at)
    judgment = {
        "id": new_id("judgment"),
        "project_id": assignment.project_id,
        "assignment_id": assignment.id,
        "comparison_id": comparison.id,
        "user_id": user_id,
        "revision": 1 + (_revised(counted) if reason is None else _with_room(reviews, reason)),
        "tiers": [list(tier) for tier in said.ranking.tiers],
        "unranked": list(said.ranking.unranked),
        "verdict": said.ranking.verdict,
        "reasons": said.reasons,
        "rankings": said.rankings,
        "flags": body.flags,
        "comment": body.comment,
        "active_ms": body.active_ms,
        "review_reason": reason,
        "body_sha256": body_sha256,
        "created_at": at,
    }
    if reason is None and not counted:
        assignments.submit(session, own, judgment)
        return _answer(judgment)
    built.changed(session, assignments.NEW_JUDGMENT, judgment)
    if reason is ReviewReason.LATE:
        assignments.pass_late(session, own)
    return _answer(judgment)


class _Kept(NamedTuple):
    """A judgment that was given before, as its row is."""

    id: str
    assignment_id: str
    comparison_id: str
    user_id: str
    revision: int
    tiers: list[list[str]]
    unranked: list[str]
    verdict: str
    reasons: list[str]
    rankings: list[Any]
    flags: list[str]
    comment: str
    active_ms: int | None
    review_reason: str | None
    created_at: datetime
    body_sha256: str


def _kept(session: Session, assignment: Lease) -> list[_Kept]:
    """What an annotator has said of an assignment, which is locked; a lease ends with the first."""
    if assignment.state == LEASED:
        return []
    return [_Kept(*row) for row in built.rows(session, _SAID, {"assignment_id": assignment.id})]


# Built once, as those of `candidates`.
_SAID = (
    select(*(getattr(Judgment, name) for name in _Kept._fields))
    .where(Judgment.assignment_id == bindparam("assignment_id"), is_visible(Judgment))
    .order_by(Judgment.revision)
)


def _revised(counted: Sequence[Any]) -> int:
    """Count the revisions that a judgment has had. Raises Conflict if no more are allowed."""
    if len(counted) >= MOST_REVISIONS:
        raise Conflict(
            f"you have given this judgment {len(counted)} times; {MOST_REVISIONS} revisions are "
            "allowed",
            advice="The last revision counts; continue with another comparison.",
        )
    return len(counted)


def _with_room(reviews: Sequence[Any], reason: ReviewReason) -> int:
    """Count the judgments kept for review. Raises Conflict if no more are allowed."""
    if len(reviews) >= MOST_REVIEWS:
        raise Conflict(
            f"{len(reviews)} judgments of this comparison by you are kept for review; "
            f"{MOST_REVIEWS} are allowed",
            advice=_FULL[reason],
        )
    return len(reviews)


# Whoever came late has no judgment that counts, so there is none to revise.
_FULL = {
    ReviewReason.LATE: "Others have taken this comparison, so yours does not count now. Continue "
    "with the next comparison (API: request another assignment).",
    ReviewReason.DIFFERS: "Revise it under Mine (API: `revise: true`).",
}


def _checked(own: Own, body: JudgmentBody) -> Said:
    """What a body says. Raises InvalidInput if it does not answer what was assigned."""
    assignment, comparison = own
    asked = [Criterion.model_validate(one) for one in assignment.criteria]
    said = criteria.said(body, comparison.response_ids, asked)
    if foreign := set(body.flags) - set(comparison.response_ids):
        raise InvalidInput(
            f"`flags` names response {sorted(foreign)[0]}, which is not part of this comparison",
            advice="Flag only the responses of this comparison.",
        )
    return said


def _review_reason(
    session: Session, own: Own, body: JudgmentBody, *, is_judged: bool, at: datetime
) -> ReviewReason | None:
    """Why a judgment that comes now does not count; None if it counts."""
    if is_judged:
        return None if body.revise else ReviewReason.DIFFERS
    return None if assignments.has_place(session, own, at=at) else ReviewReason.LATE


def latest(project_id: str, *, is_review: bool = False) -> Select[Judgment]:
    """The judgments of a project that count, or those kept for review: of each assignment the last
    revision."""
    return select(Judgment).where(
        Judgment.project_id == project_id, _is_latest(is_review=is_review)
    )


def count_latest(session: Session, project_id: str) -> int:
    """How many judgments of a project count."""
    found = latest(project_id).with_only_columns(func.count())
    return session.scalars(found).one()


def latest_of(*which: ColumnElement[bool]) -> Select[Judgment]:
    """The judgments that count of some comparisons, such as those of one prompt.

    The project is not named: SQLite would look for them among all judgments of it.
    """
    return select(Judgment).where(*which, _is_latest(is_review=False))


def _is_latest(*, is_review: bool) -> ColumnElement[bool]:
    """Whether a judgment is of this kind and the last revision of it, found by the kind's index."""
    newer = aliased(Judgment)
    is_replaced = (
        select(newer.number)
        .where(
            newer.assignment_id == Judgment.assignment_id,
            newer.revision > Judgment.revision,
            _is_kind(newer, is_review=is_review),
        )
        .correlate(Judgment)
        .exists()
    )
    return and_(_is_kind(Judgment, is_review=is_review), ~is_replaced)


def _is_kind(judgment: type[Judgment], *, is_review: bool) -> ColumnElement[bool]:
    counts = judgment.review_reason.is_(None)
    return ~counts if is_review else counts


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    comparison_id: str | None = None,
    user_id: str | None = None,
    is_review: bool = False,
) -> Listing[JudgmentAnswer]:
    """The judgments that count or are kept for review, of one comparison or annotator if asked."""
    statement = latest(project_id, is_review=is_review)
    if comparison_id:
        # The project in words that no index has: SQLite would look among all judgments of it.
        is_of_project = func.coalesce(Judgment.project_id, "") == project_id
        of_it = (Judgment.comparison_id == comparison_id, is_of_project)
        statement = select(Judgment).where(*of_it, _is_latest(is_review=is_review))
    if user_id:
        statement = statement.where(Judgment.user_id == user_id)
    return filled_page(
        session, statement, Judgment.number, page, lambda rows: [_answer(row) for row in rows]
    )


def own_listing(
    session: Session,
    project_id: str,
    user_id: str,
    page: Page,
    *,
    words: str | None = None,
    assignment_id: str | None = None,
) -> Listing[OwnJudgmentAnswer]:
    """A person's judgments, each in its last revision, with the texts that were judged.

    `words`: only those with them in the prompt, in a response that was shown or in the note.
    """
    statement = select(Judgment).where(
        Judgment.user_id == user_id,
        Judgment.project_id == project_id,
        or_(_is_latest(is_review=False), _is_latest(is_review=True)),
    )
    if assignment_id:
        statement = statement.where(Judgment.assignment_id == assignment_id)
    if words and words.strip():
        statement = statement.where(_has_words(session, words.strip()))
    return filled_page(
        session, statement, Judgment.number, page, lambda rows: _own_answers(session, rows)
    )


def _has_words(session: Session, words: str) -> ColumnElement[bool]:
    """Whether a judgment of the enclosing query has these words in what was seen or written."""
    is_sqlite = dialect.is_sqlite(session)
    lower = func.unicode_lower if is_sqlite else func.lower
    each = func.json_each if is_sqlite else func.jsonb_array_elements

    def _has(text: ColumnElement[str] | InstrumentedAttribute[str]) -> ColumnElement[bool]:
        return lower(text, type_=String).contains(words.lower(), autoescape=True)

    turn = each(Prompt.messages).table_valued("value")
    content = (
        func.json_extract(turn.c.value, "$.content")
        if is_sqlite
        else func.jsonb_extract_path_text(turn.c.value, "content")
    )
    in_prompt = (
        select(Prompt.number)
        .join(Comparison, Comparison.prompt_id == Prompt.id)
        .join(turn, true())
        .where(Comparison.id == Judgment.comparison_id, _has(content))
        .correlate(Judgment)
        .exists()
    )
    each_text = func.json_each if is_sqlite else func.jsonb_array_elements_text
    shown = each_text(Assignment.presented_order).table_valued("value")
    in_response = (
        select(Response.number)
        .select_from(Assignment)
        .join(shown, true())
        .join(Response, Response.id == shown.c.value)
        .where(Assignment.id == Judgment.assignment_id, _has(Response.content))
        .correlate(Judgment)
        .exists()
    )
    return or_(_has(Judgment.comment), in_prompt, in_response)


def _own_answers(session: Session, rows: Sequence[Judgment]) -> list[OwnJudgmentAnswer]:
    shown = assignments.shown(session, {row.assignment_id for row in rows})
    earlier = _earlier(session, rows)
    return [
        OwnJudgmentAnswer(
            **RevisionAnswer.model_validate(row).model_dump(),
            id=row.id,
            assignment_id=row.assignment_id,
            comparison=shown[row.assignment_id],
            review_reason=row.review_reason,
            active_ms=row.active_ms,
            earlier=earlier[_line(row)],
        )
        for row in rows
    ]


def _earlier(
    session: Session, rows: Sequence[Judgment]
) -> dict[tuple[str, bool], list[RevisionAnswer]]:
    """The last revisions before each of these, the newest first; they are numbered without gaps."""
    found: dict[tuple[str, bool], list[RevisionAnswer]] = defaultdict(list)
    for is_review in (False, True):
        last = [
            (row.assignment_id, row.revision)
            for row in rows
            if (row.review_reason is not None) == is_review and row.revision > 1
        ]
        if not last:
            continue
        asked = given.rows(session, {"assignment_id": String(), "revision": Integer()}, last).c
        before = select(Judgment).where(
            Judgment.assignment_id == asked.assignment_id,
            Judgment.revision < asked.revision,
            Judgment.revision >= asked.revision - MOST_EARLIER,
            _is_kind(Judgment, is_review=is_review),
        )
        for one in session.scalars(before.order_by(Judgment.revision.desc())):
            found[_line(one)].append(RevisionAnswer.model_validate(one))
    return found


def _line(judgment: Judgment) -> tuple[str, bool]:
    """Return what a revision replaces another within: assignment, and whether it counts."""
    return judgment.assignment_id, judgment.review_reason is None


def extent(session: Session, project_id: str) -> tuple[int, int]:
    """How many judgments a project has, whatever became of them, and the newest one's number."""
    row = session.execute(
        select(func.count(), func.max(Judgment.number)).where(Judgment.project_id == project_id)
    ).one()
    return row[0], row[1] or 0


def ranking_of(judgment: Judgment | Row[*tuple[Any, ...]], criterion: str = "") -> Ranking | None:
    """What a judgment says of its responses under a criterion, or as a whole ("").

    None if it was not given under this criterion, or under some and not as a whole.
    """
    if not criterion:
        return None if judgment.rankings else first_ranking(judgment)
    for one in judgment.rankings:
        if one["criterion"] == criterion:
            return _ranking(one["tiers"], one["unranked"], one["verdict"])
    return None


def first_ranking(judgment: Judgment | Row[*tuple[Any, ...]]) -> Ranking:
    """What a judgment says of its responses as a whole, or under the first of its criteria."""
    return _ranking(judgment.tiers, judgment.unranked, judgment.verdict)


def _ranking(tiers: Sequence[Sequence[str]], unranked: Sequence[str], verdict: str) -> Ranking:
    return Ranking(tuple(tuple(tier) for tier in tiers), tuple(unranked), Verdict(verdict))


def _answer(judgment: Any) -> JudgmentAnswer:
    return JudgmentAnswer.model_validate(judgment)


def _body_hash(body: JudgmentBody) -> str:
    """Hash what a judgment says, however long it took: equal for two that say the same."""
    # As it was before there were criteria, so that a judgment sent again is still known.
    unsaid = set() if body.rankings else {"rankings"}
    text = body.model_dump_json(exclude={"revise", "active_ms"} | unsaid)
    return hashlib.sha256(text.encode()).hexdigest()
