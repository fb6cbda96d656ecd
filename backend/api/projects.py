"""Projects."""

from backend.deps import (
    IDEMPOTENT,
    CurrentUser,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    api_router,
    visible_project,
)
from backend.schemas.paging import Listing
from backend.schemas.people import ProjectAnswer, ProjectBody
from backend.store.data import projects
from backend.store.people import users

router = api_router("projects")


@router.post("/projects", status_code=201, dependencies=[IDEMPOTENT])
def create_project(
    body: ProjectBody, session: SessionDep, caller: Researcher, at: Now
) -> ProjectAnswer:
    """Add a project; its creator can see it."""
    project = projects.create(session, body, at=at)
    if caller.project_ids is not None:
        users.join(session, caller.id, project.id)
    return project


@router.get("/projects")
def list_projects(
    session: SessionDep, caller: CurrentUser, page: PageDep, archived: bool = False
) -> Listing[ProjectAnswer]:
    """The projects that the caller sees."""
    return projects.listing(session, caller, page, archived=archived)


@router.get("/projects/{project_id}")
def get_project(project_id: str, session: SessionDep, caller: CurrentUser) -> ProjectAnswer:
    """One project, its guidelines and how much it holds."""
    visible_project(session, caller, project_id)
    return projects.get(session, project_id)


@router.post("/projects/{project_id}/archive")
def archive_project(
    project_id: str, session: SessionDep, caller: Researcher, at: Now
) -> ProjectAnswer:
    """Take a project out of the lists; nothing is deleted."""
    visible_project(session, caller, project_id)
    return projects.set_archived(session, project_id, at=at)


@router.post("/projects/{project_id}/restore")
def restore_project(project_id: str, session: SessionDep, caller: Researcher) -> ProjectAnswer:
    """Bring an archived project back."""
    visible_project(session, caller, project_id)
    return projects.set_archived(session, project_id, at=None)
