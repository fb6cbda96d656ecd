"""Practice: what is expected of annotators before they judge, and how they get through it."""

from backend.deps import Now, SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.comparisons import JudgmentBody
from backend.schemas.paging import Listing
from backend.schemas.projects.practice import (
    PracticeBody,
    PracticeChange,
    PracticeComparisonAnswer,
    PracticeFeedback,
    PracticeState,
)
from backend.store.data import practice

router = api_router("practice")


@router.get("/projects/{project_id}/practice")
def get_practice(project_id: str, session: SessionDep, caller: Caller) -> PracticeState:
    """How far the caller is with the practice of this project, and what comes next."""
    must_pass = caller.only_ranks_in(project_id)
    return practice.state(session, project_id, caller.id, must_pass=must_pass)


@router.post("/projects/{project_id}/practice/{comparison_id}/answer")
def answer_practice(
    project_id: str,
    comparison_id: str,
    body: JudgmentBody,
    session: SessionDep,
    caller: Caller,
    at: Now,
) -> PracticeFeedback:
    """Rank a practice comparison, and be told what is expected and why.

    The first answer in an attempt counts; another one gets the same feedback again. It is no
    judgment: it counts toward no quota, progress, agreement or snapshot.
    """
    must_pass = caller.only_ranks_in(project_id)
    return practice.answer(
        session, project_id, comparison_id, caller.id, body, must_pass=must_pass, at=at
    )


@router.post("/projects/{project_id}/practice/attempt")
def try_practice_again(project_id: str, session: SessionDep, caller: Caller) -> PracticeState:
    """Begin with the practice again, after an attempt that did not reach the bar."""
    must_pass = caller.only_ranks_in(project_id)
    return practice.try_again(session, project_id, caller.id, must_pass=must_pass)


@router.get("/projects/{project_id}/practice/comparisons")
def list_practice_comparisons(
    project_id: str, session: SessionDep
) -> Listing[PracticeComparisonAnswer]:
    """The practice comparisons with what is expected; there are at most 50."""
    return practice.listing(session, project_id)


@router.put("/projects/{project_id}/practice/comparisons/{comparison_id}")
def set_practice_comparison(
    project_id: str,
    comparison_id: str,
    body: PracticeBody,
    session: SessionDep,
    caller: Caller,
    at: Now,
) -> PracticeComparisonAnswer:
    """Use a comparison for practice, or change what is expected of it.

    It wants no judgments from then on; those that it has stay and count.
    """
    return practice.mark(session, project_id, comparison_id, body, user_id=caller.id, at=at)


@router.patch("/projects/{project_id}/practice/comparisons/{comparison_id}")
def change_practice_comparison(
    project_id: str, comparison_id: str, body: PracticeChange, session: SessionDep
) -> PracticeComparisonAnswer:
    """Change the explanation of a practice comparison, and nothing that is expected."""
    return practice.explain(session, project_id, comparison_id, body.explanation)


@router.delete("/projects/{project_id}/practice/comparisons/{comparison_id}", status_code=204)
def remove_practice_comparison(project_id: str, comparison_id: str, session: SessionDep) -> None:
    """Use a comparison for practice no more: it wants as many judgments as before."""
    practice.unmark(session, project_id, comparison_id)
