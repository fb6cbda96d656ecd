"""Judgments: append-only, the latest revision of an assignment counts.

Called by the judgment routes, the agreement report and when a snapshot is frozen.
"""

import hashlib
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from backend.domain.ranking import Ranking, checked
from backend.errors import Conflict, InvalidInput
from backend.schemas.comparisons import JudgmentAnswer, JudgmentBody
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import Verdict
from backend.store.data import assignments
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.data import Comparison, Judgment


def submit(
    session: Session, assignment_id: str, user_id: str, body: JudgmentBody, *, at: datetime
) -> JudgmentAnswer:
    """Keep an annotator's ranking; the same body again gives the same judgment again.

    Raises NotFound for a foreign assignment, InvalidInput for a ranking that is none, Conflict for
    another body without `revise` and for a lease that ran out when others filled the quota.
    """
    assignment = assignments.get_own(session, assignment_id, user_id)
    comparison = session.scalar(select(Comparison).where(Comparison.id == assignment.comparison_id))
    assert comparison is not None  # held by a foreign key
    body_sha256 = _body_hash(body)
    before = session.scalar(
        select(Judgment)
        .where(Judgment.assignment_id == assignment.id)
        .order_by(Judgment.revision.desc())
        .limit(1)
    )
    if before is not None and before.body_sha256 == body_sha256:
        return _answer(before)
    if before is not None and not body.revise:
        raise Conflict(
            "you have already judged this comparison differently",
            advice="Reopen the comparison to change your judgment (API: `revise: true`).",
        )
    ranking = checked(
        comparison.response_ids, tiers=body.tiers, unranked=body.unranked, verdict=body.verdict
    )
    if foreign := set(body.flags) - set(comparison.response_ids):
        raise InvalidInput(
            f"`flags` names response {sorted(foreign)[0]}, which is not part of this comparison",
            advice="Flag only the responses of this comparison.",
        )
    if before is None:
        assignments.must_be_open(session, assignment, at=at)
    judgment = Judgment(
        id=new_id("judgment"),
        project_id=assignment.project_id,
        assignment_id=assignment.id,
        comparison_id=comparison.id,
        user_id=user_id,
        revision=1 if before is None else before.revision + 1,
        tiers=[list(tier) for tier in ranking.tiers],
        unranked=list(ranking.unranked),
        verdict=ranking.verdict,
        reasons=body.reasons,
        flags=body.flags,
        comment=body.comment,
        active_ms=body.active_ms,
        body_sha256=body_sha256,
        created_at=at,
    )
    session.add(judgment)
    session.flush()
    if before is None:
        assignments.submit(session, assignment)
    return _answer(judgment)


def latest(project_id: str) -> Select[Judgment]:
    """The judgments of a project that count: the last revision of each assignment."""
    newer = aliased(Judgment)
    return select(Judgment).where(
        Judgment.project_id == project_id,
        ~select(newer.number)
        .where(newer.assignment_id == Judgment.assignment_id, newer.revision > Judgment.revision)
        .correlate(Judgment)
        .exists(),
    )


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    comparison_id: str | None = None,
    user_id: str | None = None,
) -> Listing[JudgmentAnswer]:
    """The judgments that count, of one comparison or annotator if asked."""
    statement = latest(project_id)
    if comparison_id:
        statement = statement.where(Judgment.comparison_id == comparison_id)
    if user_id:
        statement = statement.where(Judgment.user_id == user_id)
    rows, cursor = page_of(session, statement, Judgment.number, page)
    return Listing(items=[_answer(row) for row in rows], next_cursor=cursor)


def extent(session: Session, project_id: str) -> tuple[int, int]:
    """How many judgments a project has, earlier revisions too, and the number of the newest."""
    row = session.execute(
        select(func.count(), func.max(Judgment.number)).where(Judgment.project_id == project_id)
    ).one()
    return row[0], row[1] or 0


def ranking_of(judgment: Judgment) -> Ranking:
    """What a judgment says of its responses."""
    tiers = tuple(tuple(tier) for tier in judgment.tiers)
    return Ranking(tiers, tuple(judgment.unranked), Verdict(judgment.verdict))


def _answer(judgment: Judgment) -> JudgmentAnswer:
    return JudgmentAnswer.model_validate(judgment)


def _body_hash(body: JudgmentBody) -> str:
    text = body.model_dump_json(exclude={"revise"})
    return hashlib.sha256(text.encode()).hexdigest()
