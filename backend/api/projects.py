"""Projects."""

from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.people import ProjectAnswer, ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import projects
from backend.store.people import users

router = api_router("projects")


@router.post("/projects", status_code=201, dependencies=[IDEMPOTENT])
def create_project(
    body: ProjectBody, session: SessionDep, caller: Caller, at: Now
) -> ProjectAnswer:
    """Add a project; its creator can see it."""
    project = projects.create(session, body, at=at)
    if not caller.is_admin:
        users.join(session, caller.id, project.id, Role.RESEARCHER)
    return project


@router.get("/projects")
def list_projects(
    session: SessionDep, caller: Caller, page: PageDep, archived: bool = False
) -> Listing[ProjectAnswer]:
    """The projects that the caller sees."""
    return projects.listing(session, caller, page, archived=archived)


@router.get("/projects/{project_id}")
def get_project(project_id: str, session: SessionDep, caller: Caller) -> ProjectAnswer:
    """One project and its guidelines; how much it holds is not for annotators to see."""
    is_counted = caller.holds_in(project_id, Role.VIEWER)
    return projects.get(session, project_id, is_counted=is_counted)


@router.post("/projects/{project_id}/archive")
def archive_project(project_id: str, session: SessionDep, at: Now) -> ProjectAnswer:
    """Take a project out of the lists; nothing is deleted."""
    return projects.set_archived(session, project_id, at=at)


@router.post("/projects/{project_id}/restore")
def restore_project(project_id: str, session: SessionDep) -> ProjectAnswer:
    """Bring an archived project back."""
    return projects.set_archived(session, project_id, at=None)
