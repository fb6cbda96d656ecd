"""Projects."""

from pydantic import JsonValue

from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.projects.guidelines import (
    AcknowledgementBody,
    GuidelinesAnswer,
    GuidelineVersionAnswer,
)
from backend.schemas.projects.project import ProjectAnswer, ProjectBody, ProjectChange
from backend.schemas.vocabulary import Role
from backend.store.data import guidelines, projects
from backend.store.people import users

router = api_router("projects")


@router.post("/projects", status_code=201, openapi_extra=IDEMPOTENT)
def create_project(
    body: ProjectBody, session: SessionDep, caller: Caller, at: Now
) -> ProjectAnswer:
    """Add a project; its creator can see it."""
    project = projects.create(session, body, user_id=caller.id, at=at)
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


@router.patch("/projects/{project_id}")
def change_project(
    project_id: str,
    body: ProjectChange,
    session: SessionDep,
    caller: Caller,
    phases: Phases,
    at: Now,
) -> ProjectAnswer:
    """Change a project's name, guidelines or criteria, or how many judgments are wanted."""
    before = _rules(projects.get(session, project_id, is_counted=False))
    project = projects.change(session, project_id, body, user_id=caller.id, at=at)
    phases.note_change(before=before, after=_rules(project))
    return project


@router.get("/projects/{project_id}/guidelines")
def get_guidelines(project_id: str, session: SessionDep, caller: Caller) -> GuidelinesAnswer:
    """The guidelines, and the version of them that the caller has acknowledged."""
    must_read = caller.only_ranks_in(project_id)
    return guidelines.of_project(session, project_id, caller.id, must_read=must_read)


@router.get("/projects/{project_id}/guidelines/versions")
def list_guideline_versions(
    project_id: str, session: SessionDep, caller: Caller
) -> Listing[GuidelineVersionAnswer]:
    """The last 50 versions of the guidelines, the newest first.

    Whoever may not see the members of the project is not told who wrote them.
    """
    sees_names = caller.holds_in(project_id, Role.RESEARCHER)
    return guidelines.versions(session, project_id, sees_names=sees_names)


@router.post("/projects/{project_id}/guidelines/acknowledgement")
def acknowledge_guidelines(
    project_id: str, body: AcknowledgementBody, session: SessionDep, caller: Caller, at: Now
) -> GuidelinesAnswer:
    """Say that one has read the newest version; annotators get no comparisons before."""
    guidelines.acknowledge(session, project_id, caller.id, body.version, at=at)
    must_read = caller.only_ranks_in(project_id)
    return guidelines.of_project(session, project_id, caller.id, must_read=must_read)


@router.post("/projects/{project_id}/archive")
def archive_project(project_id: str, session: SessionDep, at: Now) -> ProjectAnswer:
    """Take a project out of the lists; nothing is deleted."""
    return projects.set_archived(session, project_id, at=at)


@router.post("/projects/{project_id}/restore")
def restore_project(project_id: str, session: SessionDep) -> ProjectAnswer:
    """Bring an archived project back."""
    return projects.set_archived(session, project_id, at=None)


def _rules(project: ProjectAnswer) -> dict[str, JsonValue]:
    """What a project asks of its annotators, for the audit; guidelines by their version."""
    return project.model_dump(
        mode="json",
        include={
            "name",
            "guidelines_version",
            "judgments_per_comparison",
            "overlap_first",
            "overlap_share",
            "cannot_judge_reasons",
            "criteria",
            "practice_bar",
        },
    )
