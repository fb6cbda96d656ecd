"""Comparisons, what people said of them, and how far they agree."""

from typing import Annotated

from fastapi import Depends, Response

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, Asked, asked_by
from backend.deps import (
    IDEMPOTENT,
    CurrentUser,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    Viewer,
    api_router,
    visible_project,
)
from backend.jobs.agreement import cache_key
from backend.schemas.comparisons import (
    AgreementAnswer,
    ComparisonAnswer,
    ComparisonBody,
    JudgmentAnswer,
)
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import Role
from backend.store.data import comparisons, judgments

router = api_router("comparisons")


@router.post("/projects/{project_id}/comparisons", status_code=201, dependencies=[IDEMPOTENT])
def create_comparison(
    project_id: str, body: ComparisonBody, session: SessionDep, caller: Researcher, at: Now
) -> ComparisonAnswer:
    """Put responses to one prompt up for ranking."""
    visible_project(session, caller, project_id)
    return comparisons.create(session, project_id, body, at=at)


@router.get("/projects/{project_id}/comparisons")
def list_comparisons(
    project_id: str,
    session: SessionDep,
    caller: Viewer,
    page: PageDep,
    run_id: str | None = None,
    prompt_id: str | None = None,
    is_open: bool | None = None,
) -> Listing[ComparisonAnswer]:
    """The comparisons of a project and how many judgments each has."""
    visible_project(session, caller, project_id)
    return comparisons.listing(
        session, project_id, page, run_id=run_id, prompt_id=prompt_id, is_open=is_open
    )


@router.get("/projects/{project_id}/judgments")
def list_judgments(
    project_id: str,
    session: SessionDep,
    caller: CurrentUser,
    page: PageDep,
    comparison_id: str | None = None,
    user_id: str | None = None,
) -> Listing[JudgmentAnswer]:
    """The judgments that count; an annotator sees only their own."""
    visible_project(session, caller, project_id)
    if not caller.holds(Role.VIEWER):
        user_id = caller.id
    return judgments.listing(
        session, project_id, page, comparison_id=comparison_id, user_id=user_id
    )


@router.get(
    "/projects/{project_id}/agreement",
    dependencies=[RESPOND_ASYNC],
    response_model=AgreementAnswer,
    responses=ACCEPTED,
)
async def agreement(
    project_id: str, asked: Annotated[Asked, Depends(asked_by(Role.VIEWER))]
) -> Response:
    """Krippendorff's alpha with its interval, and what each annotator's judgments look like."""
    key = await asked.read(lambda session: cache_key(session, project_id))
    return await asked.job("agreement", {"project_id": project_id}, cache_key=key)
