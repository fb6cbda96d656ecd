"""The guidelines of a project in versions, and who has acknowledged which.

Called by the project routes, and by `practice` beside it before somebody gets a comparison.
"""

from datetime import datetime

from sqlalchemy import bindparam, case, false, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from backend.errors import Conflict
from backend.schemas.paging import Listing
from backend.schemas.projects.guidelines import (
    AcknowledgedGuidelines,
    GuidelinesAnswer,
    GuidelineVersionAnswer,
)
from backend.store import built, dialect
from backend.store.tables.data import GuidelineAcknowledgement, GuidelineVersion, Project
from backend.store.tables.people import User

# What `str.strip` removes; U+3000 is the last of them.
_BLANK = "".join(one for one in map(chr, range(0x3001)) if one.isspace())
_HAS_ACKNOWLEDGED_NEWEST = (
    select(GuidelineAcknowledgement.version)
    .where(
        GuidelineAcknowledgement.project_id == Project.id,
        GuidelineAcknowledgement.user_id == bindparam("user_id"),
        GuidelineAcknowledgement.version == Project.guidelines_version,
    )
    .correlate(Project)
    .exists()
)
# Of the enclosing query's project the newest version, and whether this person has yet to read it.
# That is asked before every lease, beside each that is live: the text, which can be long, is not.
UNREAD = (
    Project.guidelines_version,
    case((_HAS_ACKNOWLEDGED_NEWEST, false()), else_=func.trim(Project.guidelines, _BLANK) != ""),
)
_UNREAD = select(*UNREAD).where(Project.id == bindparam("project_id"))
# Of a list: each can have 50,000 characters.
_MOST_VERSIONS = 50


def write(
    session: Session, project: Project, guidelines: str, *, user_id: str | None, at: datetime
) -> None:
    """Make a text the newest version of a project's guidelines; the same text again is none."""
    if guidelines == project.guidelines:
        return
    project.guidelines = guidelines
    project.guidelines_version += 1
    session.add(
        GuidelineVersion(
            project_id=project.id,
            version=project.guidelines_version,
            guidelines=guidelines,
            user_id=user_id,
            created_at=at,
        )
    )
    session.flush()


def of_project(
    session: Session, project_id: str, user_id: str, *, must_read: bool
) -> GuidelinesAnswer:
    """The guidelines, and which version this person has acknowledged.

    `must_read`: this person gets no comparisons before the newest version is acknowledged.
    """
    project = _project(session, project_id)
    version = session.get(GuidelineVersion, (project_id, project.guidelines_version))
    return GuidelinesAnswer(
        version=project.guidelines_version,
        guidelines=project.guidelines,
        created_at=None if version is None else version.created_at,
        acknowledged=_acknowledged(session, project_id, user_id),
        is_acknowledged=not must_read or not _is_unread(session, project_id, user_id),
    )


def versions(
    session: Session, project_id: str, *, sees_names: bool
) -> Listing[GuidelineVersionAnswer]:
    """The last versions of a project's guidelines, the newest first.

    `sees_names`: the names of who wrote them are answered, too.
    """
    readers = (
        select(func.count())
        .where(
            GuidelineAcknowledgement.project_id == GuidelineVersion.project_id,
            GuidelineAcknowledgement.version == GuidelineVersion.version,
        )
        .correlate(GuidelineVersion)
        .scalar_subquery()
    )
    rows = session.execute(
        select(GuidelineVersion, User.name, readers)
        .outerjoin(User, User.id == GuidelineVersion.user_id)
        .where(GuidelineVersion.project_id == project_id)
        .order_by(GuidelineVersion.version.desc())
        .limit(_MOST_VERSIONS)
    )
    return Listing(
        items=[
            GuidelineVersionAnswer(
                version=row.version,
                guidelines=row.guidelines,
                user_name=name if sees_names else None,
                acknowledgements=count,
                created_at=row.created_at,
            )
            for row, name, count in rows
        ]
    )


def acknowledge(
    session: Session, project_id: str, user_id: str, version: int, *, at: datetime
) -> None:
    """Keep that this person has read the newest version; again changes nothing.

    Raises Conflict for any other version: what was read is not what holds.
    """
    project = _project(session, project_id)
    if version != project.guidelines_version:
        raise Conflict(
            f"version {version} of the guidelines is not the newest, which is version "
            f"{project.guidelines_version}",
            advice="Read the newest version and acknowledge that one.",
        )
    is_sqlite = dialect.is_sqlite(session)
    # Two tabs of one person may acknowledge at the same moment.
    statement = (sqlite if is_sqlite else postgresql).insert(GuidelineAcknowledgement)
    session.execute(
        statement.values(
            project_id=project_id, user_id=user_id, version=version, acknowledged_at=at
        ).on_conflict_do_nothing()
    )


def must_be_read(version: int, is_unread: bool) -> None:
    """Raise Conflict if there are guidelines that somebody has not acknowledged; see `UNREAD`."""
    if is_unread:
        raise Conflict(
            f"you have not acknowledged version {version} of the guidelines",
            advice="Read the guidelines and acknowledge them, then continue (API: POST "
            "/projects/{id}/guidelines/acknowledgement).",
            guidelines_version=version,
        )


def _is_unread(session: Session, project_id: str, user_id: str) -> bool:
    """Whether there are guidelines of which this person has not acknowledged the newest version."""
    named = {"project_id": project_id, "user_id": user_id}
    _, is_unread = built.one(session, _UNREAD, named)
    return bool(is_unread)


def _acknowledged(session: Session, project_id: str, user_id: str) -> AcknowledgedGuidelines | None:
    row = session.execute(
        select(GuidelineAcknowledgement.acknowledged_at, GuidelineVersion)
        .join(
            GuidelineVersion,
            (GuidelineVersion.project_id == GuidelineAcknowledgement.project_id)
            & (GuidelineVersion.version == GuidelineAcknowledgement.version),
        )
        .where(
            GuidelineAcknowledgement.project_id == project_id,
            GuidelineAcknowledgement.user_id == user_id,
        )
        .order_by(GuidelineVersion.version.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    acknowledged_at, version = row
    return AcknowledgedGuidelines(
        version=version.version,
        guidelines=version.guidelines,
        acknowledged_at=acknowledged_at,
    )


def _project(session: Session, project_id: str) -> Project:
    """The project, which whoever asks has been admitted to."""
    return session.scalars(select(Project).where(Project.id == project_id)).one()
