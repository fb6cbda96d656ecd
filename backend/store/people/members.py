"""Who has a role in a project: the people of its members page.

Called by the member routes. Whoever leaves a project, or is deactivated, leaves their judgments.
"""

from collections.abc import Sequence

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.schemas.paging import Listing
from backend.schemas.projects.members import MemberAnswer
from backend.schemas.vocabulary import Role
from backend.store.paging import Page, page_of
from backend.store.people import users
from backend.store.tables.data import GuidelineAcknowledgement, ProjectTally
from backend.store.tables.people import Membership, User
from backend.store.tables.practice import PracticeResult


def listing(
    session: Session, project_id: str, page: Page, *, is_active: bool = True
) -> Listing[MemberAnswer]:
    """The members of a project and the administrators, who see every project."""
    members = select(Membership.user_id).where(Membership.project_id == project_id)
    statement = select(User).where(
        User.is_active.is_(is_active), or_(User.id.in_(members), User.role == Role.ADMIN)
    )
    rows, cursor = page_of(session, statement, User.number, page)
    items = _answers(session, project_id, rows)
    return Listing(items=items, next_cursor=cursor)


def get(session: Session, project_id: str, user_id: str) -> MemberAnswer:
    """One member. Raises NotFound for whoever is none, an administrator too."""
    user = session.scalar(
        select(User)
        .join(Membership, Membership.user_id == User.id)
        .where(User.id == user_id, Membership.project_id == project_id)
    )
    if user is None:
        raise _none(user_id)
    return _answers(session, project_id, [user])[0]


def _none(user_id: str) -> NotFound:
    return NotFound(f"this project has no member {user_id}")


def change(session: Session, project_id: str, user_id: str, role: Role) -> MemberAnswer:
    """Give a member another role in the project. Raises NotFound."""
    users.hold(session, user_id)
    membership = session.get(Membership, (user_id, project_id))
    if membership is None:
        raise _none(user_id)
    membership.role = role
    session.flush()
    return get(session, project_id, user_id)


def remove(session: Session, project_id: str, user_id: str) -> MemberAnswer:
    """Take a member out of the project; gives the member as it was. Raises NotFound."""
    users.hold(session, user_id)
    before = get(session, project_id, user_id)
    session.execute(
        delete(Membership).where(Membership.user_id == user_id, Membership.project_id == project_id)
    )
    return before


def _answers(session: Session, project_id: str, rows: Sequence[User]) -> list[MemberAnswer]:
    ids = [row.id for row in rows]
    held = select(Membership.user_id, Membership.role).where(
        Membership.project_id == project_id, Membership.user_id.in_(ids)
    )
    judged = select(ProjectTally.user_id, ProjectTally.judged).where(
        ProjectTally.project_id == project_id, ProjectTally.user_id.in_(ids)
    )
    read = (
        select(
            GuidelineAcknowledgement.user_id,
            func.max(GuidelineAcknowledgement.version),
            func.max(GuidelineAcknowledgement.acknowledged_at),
        )
        .where(
            GuidelineAcknowledgement.project_id == project_id,
            GuidelineAcknowledgement.user_id.in_(ids),
        )
        .group_by(GuidelineAcknowledgement.user_id)
    )
    practised = select(
        PracticeResult.user_id, PracticeResult.attempt, PracticeResult.passed_at
    ).where(PracticeResult.project_id == project_id, PracticeResult.user_id.in_(ids))
    practice = {row[0]: (row[1], row[2]) for row in session.execute(practised)}
    roles: dict[str, str] = dict(session.execute(held).all())
    judgments: dict[str, int] = dict(session.execute(judged).all())
    acknowledged = {row[0]: (row[1], row[2]) for row in session.execute(read)}
    return [
        MemberAnswer(
            id=user.id,
            name=user.name,
            email=user.email,
            role=Role.ADMIN if user.role == Role.ADMIN else Role(roles[user.id]),
            is_active=user.is_active,
            judgments=judgments.get(user.id, 0),
            guidelines_version=acknowledged.get(user.id, (None, None))[0],
            acknowledged_at=acknowledged.get(user.id, (None, None))[1],
            practice_attempt=practice.get(user.id, (None, None))[0],
            practice_passed_at=practice.get(user.id, (None, None))[1],
            created_at=user.created_at,
        )
        for user in rows
    ]
