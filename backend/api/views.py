"""Saved views of a project's pages."""

from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.projects.views import ViewAnswer, ViewBody, ViewChange, ViewPage
from backend.store import saved_views

router = api_router("views")


@router.get("/projects/{project_id}/views")
def list_views(
    project_id: str, session: SessionDep, page: PageDep, of: ViewPage | None = None
) -> Listing[ViewAnswer]:
    """The saved views of a project, of one page or of all."""
    return saved_views.listing(session, project_id, page, of=of)


@router.post("/projects/{project_id}/views", status_code=201, openapi_extra=IDEMPOTENT)
def create_view(
    project_id: str, body: ViewBody, session: SessionDep, caller: Caller, at: Now
) -> ViewAnswer:
    """Save what a page shows under a name; a page of a project has at most 200 views."""
    return saved_views.create(session, project_id, body, user_id=caller.id, at=at)


@router.get("/projects/{project_id}/views/{view_id}")
def get_view(project_id: str, view_id: str, session: SessionDep) -> ViewAnswer:
    """One saved view."""
    return saved_views.get(session, project_id, view_id)


@router.patch("/projects/{project_id}/views/{view_id}")
def change_view(
    project_id: str, view_id: str, body: ViewChange, session: SessionDep, at: Now
) -> ViewAnswer:
    """Change the name of a view or what it shows; a conflict if somebody was faster."""
    return saved_views.change(session, project_id, view_id, body, at=at)


@router.delete("/projects/{project_id}/views/{view_id}", status_code=204)
def delete_view(project_id: str, view_id: str, session: SessionDep) -> None:
    """Delete a view; its address leads nowhere from then on."""
    saved_views.delete(session, project_id, view_id)
