"""Projects and how much they hold.

Called by the project routes; `must_exist` by `backend.deps` for every route of a project.
Comparisons and imports read a project's rules and lock it.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, ScalarSelect, bindparam, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.access import Caller
from backend.domain.assignment import QuotaRule
from backend.errors import Conflict, NotFound, changed_meanwhile
from backend.schemas.paging import Listing
from backend.schemas.projects.project import (
    ProjectAnswer,
    ProjectBody,
    ProjectChange,
    ProjectCounts,
)
from backend.store.data import guidelines, tallies
from backend.store.ids import new_id
from backend.store.paging import Page, filled_page
from backend.store.tables.data import (
    Demonstration,
    Judgment,
    Project,
    Prompt,
    Response,
    Solution,
)


def create(
    session: Session, body: ProjectBody, *, user_id: str | None = None, at: datetime
) -> ProjectAnswer:
    """Add a project, whose guidelines this user has written."""
    fields = body.model_dump(exclude={"guidelines"})
    project = Project(
        id=new_id("project"), guidelines="", guidelines_version=0, created_at=at, **fields
    )
    session.add(project)
    session.flush()
    guidelines.write(session, project, body.guidelines, user_id=user_id, at=at)
    return ProjectAnswer.model_validate(project)


def change(
    session: Session, project_id: str, body: ProjectChange, *, user_id: str, at: datetime
) -> ProjectAnswer:
    """Change what is given and leave the rest.

    Raises NotFound, and Conflict for a change that was made from an older revision or guidelines
    that were made from an older version.
    """
    project = _locked(session, project_id)
    _must_be_unchanged(project, body.revision)
    if body.guidelines is not None:
        _must_be_newest(project, body.guidelines_version)
        guidelines.write(session, project, body.guidelines, user_id=user_id, at=at)
    unlisted = {"revision", "guidelines", "guidelines_version"}
    for name, value in body.model_dump(exclude=unlisted, exclude_none=True).items():
        setattr(project, name, value)
    project.revision += 1
    session.flush()
    return ProjectAnswer.model_validate(project)


def must_exist(session: Session, project_id: str) -> None:
    """Raise NotFound unless there is such a project, archived or not."""
    if session.scalar(select(Project.number).where(Project.id == project_id)) is None:
        raise _missing(project_id)


def lock(session: Session, project_id: str) -> None:
    """Let one import at a time into a project, so that two of the same file do not collide.

    Foreign keys may still be checked: whoever judges holds a comparison before its project.
    """
    held = select(Project.number).where(Project.id == project_id)
    session.execute(held.with_for_update(key_share=True))


def get(session: Session, project_id: str, *, is_counted: bool = True) -> ProjectAnswer:
    """One project, with its counts if `is_counted`. Raises NotFound."""
    answer = ProjectAnswer.model_validate(_row(session, project_id))
    counts = _counts(session, project_id) if is_counted else None
    return answer.model_copy(update={"counts": counts})


def listing(
    session: Session, caller: Caller, page: Page, *, archived: bool = False
) -> Listing[ProjectAnswer]:
    """The projects that the caller sees, those in use or those archived."""
    statement = select(Project).where(Project.archived_at.is_not(None) == archived)
    if caller.project_ids is not None:
        statement = statement.where(Project.id.in_(caller.project_ids))
    return filled_page(
        session,
        statement,
        Project.number,
        page,
        lambda rows: [ProjectAnswer.model_validate(row) for row in rows],
    )


def set_archived(session: Session, project_id: str, *, at: datetime | None) -> ProjectAnswer:
    """Take a project out of the lists (`at` = when) or bring it back (None). Raises NotFound."""
    project = _row(session, project_id)
    project.archived_at = (project.archived_at or at) if at else None
    session.flush()
    return ProjectAnswer.model_validate(project)


_QUOTA_RULE = select(
    Project.judgments_per_comparison, Project.overlap_first, Project.overlap_share
).where(Project.id == bindparam("project_id"))


def quota_rule(session: Session, project_id: str) -> QuotaRule:
    """How many judgments new comparisons of this project want. Raises NotFound."""
    row = session.execute(_QUOTA_RULE, {"project_id": project_id}).one_or_none()
    if row is None:
        raise _missing(project_id)
    return QuotaRule(*row)


_CRITERIA = select(Project.criteria).where(Project.id == bindparam("project_id"))


def criteria(session: Session, project_id: str) -> list[dict[str, str]]:
    """What comparisons of this project are ranked by now, as rows keep it."""
    return session.scalar(_CRITERIA, {"project_id": project_id}) or []


def criterion(session: Session, project_id: str, asked: str | None) -> str:
    """The name of the criterion that is meant; None = the first of the project, if it has any.

    "" stands for judgments that were given without criteria.
    """
    if asked is not None:
        return asked
    names = [one["name"] for one in criteria(session, project_id)]
    return names[0] if names else ""


def _row(session: Session, project_id: str) -> Project:
    project = session.scalar(select(Project).where(Project.id == project_id))
    if project is None:
        raise _missing(project_id)
    return project


def _locked(session: Session, project_id: str) -> Project:
    """The row as it is now, not as the session read it before it waited for the lock."""
    lock(session, project_id)
    statement = select(Project).where(Project.id == project_id)
    project = session.scalar(statement, execution_options={"populate_existing": True})
    if project is None:
        raise _missing(project_id)
    return project


def _missing(project_id: str) -> NotFound:
    return NotFound(f"there is no project {project_id}")


def _must_be_unchanged(project: Project, revision: int | None) -> None:
    if revision is not None and revision != project.revision:
        raise changed_meanwhile("the project", revision, project.revision)


def _must_be_newest(project: Project, version: int | None) -> None:
    if version is not None and version != project.guidelines_version:
        raise Conflict(
            f"the guidelines were changed meanwhile: these were made from version {version}, and "
            f"the newest is version {project.guidelines_version}",
            advice="Read the newest version, then send your changes to that one.",
        )


def _counts(session: Session, project_id: str) -> ProjectCounts:
    def count(column: InstrumentedAttribute[str], *where: ColumnElement[bool]) -> ScalarSelect[int]:
        return select(func.count()).where(column == project_id, *where).scalar_subquery()

    is_review = (Judgment.revision == 1, Judgment.review_reason.is_not(None))
    # These five in one statement: they see one state of the database, and PostgreSQL is asked once.
    counts = select(
        count(Prompt.project_id).label("prompts"),
        count(Demonstration.project_id).label("demonstrations"),
        count(Solution.project_id).label("solutions"),
        count(Response.project_id).label("responses"),
        count(Judgment.project_id, *is_review).label("reviews"),
    )
    sums = tallies.of_project(session, project_id)
    return ProjectCounts(
        **session.execute(counts).one()._mapping,
        comparisons=sums["comparisons"],
        judgments=sums["judged"],
        open_comparisons=sums["comparisons"] - sums["finished"],
    )
