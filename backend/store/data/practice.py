"""Practice: comparisons with an expected ranking that an annotator passes before judging others.

Called by the practice routes, and by the assignment route before it leases a comparison. Passing is
of a person in a project and stays, whatever becomes of guidelines and practice afterwards. Answers
are no judgments: they are kept apart, so nothing that reads judgments ever meets them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from backend.domain import criteria, practice
from backend.domain.assignment import presented_order
from backend.domain.practice import Score
from backend.domain.ranking import Ranking
from backend.errors import Conflict, InvalidInput, NotFound
from backend.schemas.comparisons import Criterion, CriterionRankingAnswer, JudgmentBody
from backend.schemas.paging import Listing
from backend.schemas.projects.practice import (
    PracticeBody,
    PracticeComparisonAnswer,
    PracticeFeedback,
    PracticeState,
    PracticeTask,
)
from backend.schemas.vocabulary import Verdict
from backend.store.data import assignments, guidelines, places, projects, tallies
from backend.store.tables.data import Comparison, Project
from backend.store.tables.practice import PracticeAnswer, PracticeComparison, PracticeResult

# Nobody practises more before the first comparison that counts.
MOST_COMPARISONS = 50
FIRST_ATTEMPT = 1


def mark(
    session: Session,
    project_id: str,
    comparison_id: str,
    body: PracticeBody,
    *,
    user_id: str,
    at: datetime,
) -> PracticeComparisonAnswer:
    """Make a comparison one for practice, or change what is expected of it.

    It wants no judgments any more; those that it has stay and count. Raises NotFound, InvalidInput
    for an expected ranking that places nothing, Conflict beyond `MOST_COMPARISONS`.
    """
    projects.lock(session, project_id)
    comparison = _comparison(session, project_id, comparison_id)
    asked = [Criterion.model_validate(one) for one in projects.criteria(session, project_id)]
    expected = _rankings(body.expected, comparison, asked)
    if any(practice.score(_ranking(one), _ranking(one)).pairs == 0 for one in expected):
        raise InvalidInput(
            "the expected ranking places fewer than two responses, so nothing can agree with it",
            advice="Rank two responses or more, under each criterion.",
        )
    row = session.get(PracticeComparison, comparison_id)
    if row is None:
        _must_have_room(session, project_id)
        wanted = comparison.judgments_required
        _close(session, comparison)
        row = PracticeComparison(
            comparison_id=comparison_id,
            project_id=project_id,
            judgments_required=wanted,
            created_at=at,
        )
        session.add(row)
    row.rankings, row.explanation, row.user_id = expected, body.explanation, user_id
    session.flush()
    return _answer(session, row, comparison)


def explain(
    session: Session, project_id: str, comparison_id: str, explanation: str
) -> PracticeComparisonAnswer:
    """Explain what is expected in other words. Raises NotFound if it is none for practice."""
    row = _row(session, project_id, comparison_id)
    row.explanation = explanation
    session.flush()
    return _answer(session, row, _comparison(session, project_id, comparison_id))


def unmark(session: Session, project_id: str, comparison_id: str) -> None:
    """Let a comparison be judged again as before. Raises NotFound if it is none for practice."""
    projects.lock(session, project_id)
    row = _row(session, project_id, comparison_id)
    comparison = _comparison(session, project_id, comparison_id)
    _reopen(session, comparison, row.judgments_required)
    session.delete(row)
    session.flush()


def listing(session: Session, project_id: str) -> Listing[PracticeComparisonAnswer]:
    """The practice comparisons of a project in the order in which they are given."""
    rows = session.execute(_practice(project_id)).all()
    return Listing(items=[_answer(session, row, comparison) for row, comparison in rows])


def state(session: Session, project_id: str, user_id: str, *, must_pass: bool) -> PracticeState:
    """How far somebody is; `must_pass`: this person gets no comparisons to judge before passing."""
    rows = session.execute(_practice(project_id)).all()
    result = session.get(PracticeResult, (project_id, user_id))
    attempt = FIRST_ATTEMPT if result is None else result.attempt
    passed_at = None if result is None else result.passed_at
    answers = _answers(session, project_id, user_id, attempt)
    known = [answers[row.comparison_id] for row, _ in rows if row.comparison_id in answers]
    found = practice.total(known)
    left = [(row, comparison) for row, comparison in rows if row.comparison_id not in answers]
    return PracticeState(
        is_required=must_pass and bool(rows) and passed_at is None,
        comparisons=len(rows),
        bar=_bar(session, project_id),
        attempt=attempt,
        answered=len(known),
        agreed=found.agreed,
        pairs=found.pairs,
        passed_at=passed_at,
        next=_task(session, *left[0], user_id, attempt) if left and passed_at is None else None,
    )


def answer(
    session: Session,
    project_id: str,
    comparison_id: str,
    user_id: str,
    body: JudgmentBody,
    *,
    must_pass: bool,
    at: datetime,
) -> PracticeFeedback:
    """Keep an answer and say what is expected; the first answer of an attempt counts.

    Raises NotFound, InvalidInput for what is no ranking, Conflict for whoever has passed.
    """
    row = _row(session, project_id, comparison_id)
    result = _result(session, project_id, user_id)
    key = (project_id, user_id, result.attempt, comparison_id)
    kept = session.get(PracticeAnswer, key)
    if kept is None:
        _must_not_have_passed(result)
        kept = _keep(session, row, key, body, at=at)
        now = state(session, project_id, user_id, must_pass=must_pass)
        if now.next is None and practice.passes(Score(now.agreed, now.pairs), now.bar):
            result.passed_at = at
            session.flush()
    return PracticeFeedback(
        expected=_said(row.rankings),
        explanation=row.explanation,
        agreed=kept.agreed,
        pairs=kept.pairs,
        state=state(session, project_id, user_id, must_pass=must_pass),
    )


def try_again(session: Session, project_id: str, user_id: str, *, must_pass: bool) -> PracticeState:
    """Begin a new attempt. Raises Conflict while one is going on, and for whoever has passed."""
    result = _result(session, project_id, user_id)
    _must_not_have_passed(result)
    if state(session, project_id, user_id, must_pass=must_pass).next is not None:
        raise Conflict(
            f"attempt {result.attempt} is not over",
            advice="Answer the practice comparisons that are left.",
        )
    result.attempt += 1
    session.flush()
    return state(session, project_id, user_id, must_pass=must_pass)


_TO_BE_PASSED = (
    select(PracticeComparison.comparison_id)
    .where(
        PracticeComparison.project_id == places.PROJECT_ID,
        ~select(PracticeResult.attempt)
        .where(
            PracticeResult.project_id == places.PROJECT_ID,
            PracticeResult.user_id == places.USER_ID,
            PracticeResult.passed_at.is_not(None),
        )
        .exists(),
    )
    .exists()
)


def _must_be_ready(version: int, is_unread: bool, is_to_be_passed: bool) -> None:
    guidelines.must_be_read(version, is_unread)
    if not is_to_be_passed:
        return
    raise Conflict(
        "you have not passed the practice of this project",
        advice="Answer the practice comparisons first (API: GET /projects/{id}/practice).",
        is_practice_required=True,
    )


# Raises Conflict for whoever has not acknowledged the newest guidelines or not passed the practice
# of the project, as far as it has any.
READY = assignments.Gate((*guidelines.UNREAD, _TO_BE_PASSED), _must_be_ready)


def _practice(project_id: str) -> Select[PracticeComparison, Comparison]:
    return (
        select(PracticeComparison, Comparison)
        .join(Comparison, Comparison.id == PracticeComparison.comparison_id)
        .where(PracticeComparison.project_id == project_id)
        .order_by(Comparison.number)
    )


def _row(session: Session, project_id: str, comparison_id: str) -> PracticeComparison:
    row = session.get(PracticeComparison, comparison_id)
    if row is None or row.project_id != project_id:
        raise NotFound(f"comparison {comparison_id} is not a practice comparison of this project")
    return row


def _comparison(session: Session, project_id: str, comparison_id: str) -> Comparison:
    """The comparison, its row locked."""
    comparison = session.scalar(
        select(Comparison)
        .where(Comparison.id == comparison_id, Comparison.project_id == project_id)
        .with_for_update()
    )
    if comparison is None:
        raise NotFound(f"there is no comparison {comparison_id} in this project")
    return comparison


def _must_have_room(session: Session, project_id: str) -> None:
    count = session.scalar(select(func.count()).where(PracticeComparison.project_id == project_id))
    if (count or 0) >= MOST_COMPARISONS:
        raise Conflict(
            f"the project has {count} practice comparisons; {MOST_COMPARISONS} are allowed",
            advice="Remove one of them first.",
        )


def _close(session: Session, comparison: Comparison) -> None:
    """Have a comparison want no more judgments than it has."""
    finished = _recount(session, comparison)
    wanted = max(0, comparison.judgments_required - comparison.judged)
    if wanted > 0:
        comparison.judgments_required = comparison.judged
        _recount(session, comparison)
        finished = 1
    if finished > 0:
        tallies.add(session, comparison.project_id, wanted=-wanted, finished=finished)


def _reopen(session: Session, comparison: Comparison, required: int) -> None:
    """Have a comparison want as many judgments as before; annotators may have passed its place."""
    more = required - comparison.judgments_required
    if more <= 0:
        return
    _recount(session, comparison)
    comparison.judgments_required = required
    _recount(session, comparison)
    is_open = comparison.judged < required
    tallies.add(session, comparison.project_id, wanted=more, finished=-int(is_open))
    places.forget(session, comparison.project_id)


def _recount(session: Session, comparison: Comparison) -> int:
    """Count its judgments anew, also those of an import that is complete and not settled yet.

    Returns how many comparisons want no more judgments because of it: 0 or 1.
    """
    session.flush()
    finished = assignments.recount(session, [comparison.id])
    session.refresh(comparison)
    return finished


def _result(session: Session, project_id: str, user_id: str) -> PracticeResult:
    key = (project_id, user_id)
    result = session.get(PracticeResult, key, with_for_update=True)
    if result is None:
        result = PracticeResult(
            project_id=project_id, user_id=user_id, attempt=FIRST_ATTEMPT, passed_at=None
        )
        session.add(result)
        session.flush()
    return result


def _must_not_have_passed(result: PracticeResult) -> None:
    if result.passed_at is not None:
        raise Conflict(
            "you have passed the practice of this project", advice="Rank its comparisons now."
        )


def _keep(
    session: Session,
    row: PracticeComparison,
    key: tuple[str, str, int, str],
    body: JudgmentBody,
    *,
    at: datetime,
) -> PracticeAnswer:
    comparison = _comparison(session, row.project_id, row.comparison_id)
    rankings = _rankings(body, comparison, _asked(row))
    scores = [
        practice.score(_ranking(expected), _ranking(said))
        for expected, said in zip(row.rankings, rankings, strict=True)
    ]
    found = practice.total(scores)
    project_id, user_id, attempt, comparison_id = key
    kept = PracticeAnswer(
        project_id=project_id,
        user_id=user_id,
        attempt=attempt,
        comparison_id=comparison_id,
        rankings=rankings,
        agreed=found.agreed,
        pairs=found.pairs,
        created_at=at,
    )
    session.add(kept)
    session.flush()
    return kept


def _answers(session: Session, project_id: str, user_id: str, attempt: int) -> dict[str, Score]:
    rows = session.execute(
        select(PracticeAnswer.comparison_id, PracticeAnswer.agreed, PracticeAnswer.pairs).where(
            PracticeAnswer.project_id == project_id,
            PracticeAnswer.user_id == user_id,
            PracticeAnswer.attempt == attempt,
        )
    )
    return {row[0]: Score(row[1], row[2]) for row in rows}


def _rankings(
    body: JudgmentBody, comparison: Comparison, asked: Sequence[Criterion]
) -> list[dict[str, Any]]:
    """What a body says under each criterion; without criteria one, under none ("")."""
    said = criteria.said(body, comparison.response_ids, asked)
    return said.rankings or [criteria.kept("", "", said.ranking, said.reasons)]


def _asked(row: PracticeComparison) -> list[Criterion]:
    return [
        Criterion(name=one["criterion"], question=one["question"])
        for one in row.rankings
        if one["criterion"]
    ]


def _ranking(kept: dict[str, Any]) -> Ranking:
    tiers = tuple(tuple(tier) for tier in kept["tiers"])
    return Ranking(tiers, tuple(kept["unranked"]), Verdict(kept["verdict"]))


def _said(kept: Sequence[dict[str, Any]]) -> list[CriterionRankingAnswer]:
    return [CriterionRankingAnswer.model_validate(one) for one in kept]


def _task(
    session: Session, row: PracticeComparison, comparison: Comparison, user_id: str, attempt: int
) -> PracticeTask:
    # Each attempt shows the cards in another order: letters are not worth remembering.
    order = presented_order(
        comparison.response_ids, comparison_id=comparison.id, user_id=f"{user_id}/{attempt}"
    )
    return PracticeTask(
        comparison=assignments.assigned(session, comparison.id, order),
        criteria=_asked(row),
        presented_order=order,
    )


def _answer(
    session: Session, row: PracticeComparison, comparison: Comparison
) -> PracticeComparisonAnswer:
    return PracticeComparisonAnswer(
        comparison=assignments.assigned(session, comparison.id, comparison.response_ids),
        expected=_said(row.rankings),
        explanation=row.explanation,
        created_at=row.created_at,
    )


def _bar(session: Session, project_id: str) -> float:
    return session.scalars(select(Project.practice_bar).where(Project.id == project_id)).one()
