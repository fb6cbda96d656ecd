"""Comparisons, what people said of them, and how far they agree."""

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
from backend.schemas.comparisons import (
    AgreementAnswer,
    ComparisonAnswer,
    ComparisonBody,
    JudgmentAnswer,
)
from backend.schemas.paging import Id, Listing
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
    run_id: Id | None = None,
    prompt_id: Id | None = None,
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
    comparison_id: Id | None = None,
    user_id: Id | None = None,
) -> Listing[JudgmentAnswer]:
    """The judgments that count; an annotator sees only their own."""
    visible_project(session, caller, project_id)
    if not caller.holds(Role.VIEWER):
        user_id = caller.id
    return judgments.listing(
        session, project_id, page, comparison_id=comparison_id, user_id=user_id
    )


@router.get("/projects/{project_id}/agreement")
def agreement(project_id: str, session: SessionDep, caller: Viewer) -> AgreementAnswer:
    """Krippendorff's alpha with its interval, and what each annotator's judgments look like."""
    visible_project(session, caller, project_id)
    return judgments.report(session, project_id)
