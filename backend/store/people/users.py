"""People and programs: who they are, and which role they have in which project.

Knows hashes of passwords and never a password.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, bindparam, delete, func, or_, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import Conflict, NotFound
from backend.schemas.paging import Listing
from backend.schemas.people import MOST_MEMBERSHIPS, MembershipAnswer, UserAnswer
from backend.schemas.vocabulary import Role
from backend.store import dialect, given
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.data import Project
from backend.store.tables.people import Membership, User

# Of PostgreSQL's advisory locks: whoever makes the first administrator.
_FIRST_ADMIN_LOCK = 7_246_002


class PasswordHash(NamedTuple):
    """What a sign-in is checked against: None for whoever has no password."""

    user_id: str
    hash: str | None
    is_active: bool


def create(
    session: Session,
    *,
    name: str,
    role: Role,
    project_ids: Sequence[str] = (),
    email: str | None = None,
    password_hash: str | None = None,
    at: datetime,
) -> UserAnswer:
    """Add a user, who has this role in these projects too; an administrator needs none there.

    Raises NotFound for an unknown project, Conflict for a taken e-mail.
    """
    user = User(
        id=new_id("user"),
        name=name,
        role=role,
        email=_free_email(session, email),
        password_hash=password_hash,
        created_at=at,
    )
    session.add(user)
    session.flush()
    set_memberships(session, user.id, dict.fromkeys(project_ids, role))
    return _answer(session, user, None)


def find_admin(session: Session, email: str | None = None) -> str | None:
    """The id of the first active administrator, or of the one with this address; None if none."""
    admins = select(User.id).where(User.role == Role.ADMIN, User.is_active)
    if email is not None:
        admins = admins.where(User.email == email.lower())
    return session.scalar(admins.order_by(User.number))


def has_no_admin(session: Session) -> bool:
    """Whether there is no active administrator; whoever is told so may make the first one.

    Others who ask wait until this transaction ends, as two processes that start at once.
    """
    if find_admin(session) is not None:
        return False
    if not dialect.is_sqlite(session):
        session.execute(select(func.pg_advisory_xact_lock(_FIRST_ADMIN_LOCK)))
    return find_admin(session) is None


def get(session: Session, user_id: str, seen_by: Caller | None = None) -> UserAnswer:
    """One user, with the projects that `seen_by` sees, None: all. Raises NotFound."""
    return _answer(session, _row(session, user_id), seen_by)


def listing(
    session: Session, caller: Caller, page: Page, *, is_active: bool = True
) -> Listing[UserAnswer]:
    """The users that the caller sees: all for an administrator, else those of its projects."""
    statement = select(User).where(User.is_active.is_(is_active))
    if caller.project_ids is not None:
        theirs = select(Membership.user_id).where(Membership.project_id.in_(caller.project_ids))
        statement = statement.where(or_(User.id == caller.id, User.id.in_(theirs)))
    rows, cursor = page_of(session, statement, User.number, page)
    return Listing(items=_answers(session, rows, caller), next_cursor=cursor)


def hold(session: Session, user_id: str) -> None:
    """Whoever changes this user's roles at the same moment comes before or after.

    Foreign keys may still be checked: whoever keeps a row of the user need not wait.
    """
    one = select(User.number).where(User.id == user_id)
    session.execute(one.with_for_update(key_share=True))


def join(session: Session, user_id: str, project_id: str, role: Role) -> None:
    """Give a user a role in a project, in place of one held there; an administrator needs none.

    Raises Conflict for whoever has roles in as many projects as one person may.
    """
    hold(session, user_id)
    held = session.get(Membership, (user_id, project_id))
    if held is None:
        _must_have_room(session, user_id)
        session.add(Membership(user_id=user_id, project_id=project_id, role=role))
    else:
        held.role = role
    session.flush()


def _must_have_room(session: Session, user_id: str) -> None:
    own = select(func.count()).select_from(Membership).where(Membership.user_id == user_id)
    found = session.scalar(own) or 0
    if found >= MOST_MEMBERSHIPS:
        raise Conflict(
            f"you have a role in {found:,} projects; one person may have one in "
            f"{MOST_MEMBERSHIPS:,}",
            advice="Remove yourself from a project that you no longer need, on Settings, Members, "
            "or ask an administrator to do so.",
        )


def set_memberships(session: Session, user_id: str, roles: Mapping[str, Role]) -> None:
    """Give a user these roles by project, and no others. Raises NotFound for a project.

    `admin` is a role in the service alone: a membership with it would outlast it.
    """
    named = given.is_among(session, Project.id, roles)
    known = set(session.scalars(select(Project.id).where(named)))
    unknown = sorted(set(roles) - known)
    if unknown:
        raise NotFound(f"there is no project {unknown[0]}")
    # Two lists that are sent at once come one after the other: the DELETE sees no row that is not
    # committed yet.
    hold(session, user_id)
    session.execute(delete(Membership).where(Membership.user_id == user_id))
    rows = [
        {"user_id": user_id, "project_id": project_id, "role": role}
        for project_id, role in sorted(roles.items())
        if role is not Role.ADMIN
    ]
    if rows:
        # Not as objects, which cost several times as much: there may be a thousand.
        given.insert_all(session, Membership, rows)


def ranks_in(session: Session, user_id: str) -> list[str] | None:
    """The projects in which a user may rank; None: in all, as an administrator. Raises NotFound."""
    user = _row(session, user_id)
    if not user.is_active:
        return []
    if user.role == Role.ADMIN:
        return None
    held = select(Membership.project_id).where(
        Membership.user_id == user_id,
        Membership.role.in_([Role.RESEARCHER, Role.ANNOTATOR]),
    )
    return list(session.scalars(held))


def hold_with_admins(session: Session, user_id: str) -> tuple[User, list[User]]:
    """A user and the other active administrators, held until the transaction ends.

    Two administrators cannot take the role from each other at the same moment. Raises NotFound.
    """
    is_admin = and_(User.role == Role.ADMIN, User.is_active)
    rows = select(User).where(or_(is_admin, User.id == user_id)).order_by(User.number)
    # Foreign keys may still be checked: whoever keeps a row of an administrator need not wait.
    locked = rows.with_for_update(key_share=True).execution_options(populate_existing=True)
    held = {one.id: one for one in session.scalars(locked)}
    user = held.pop(user_id, None)
    if user is None:
        raise _unknown(user_id)
    return user, list(held.values())


def change(
    session: Session,
    user_id: str,
    *,
    name: str | None = None,
    email: str | None = None,
    role: Role | None = None,
    is_active: bool | None = None,
    password_hash: str | None = None,
) -> None:
    """Change what is given and leave the rest.

    Raises NotFound, and Conflict for a taken e-mail or if no active administrator would be left.
    """
    user, others = hold_with_admins(session, user_id)
    was_admin = user.role == Role.ADMIN and user.is_active
    user.name = name if name is not None else user.name
    user.email = _free_email(session, email, but=user_id) if email is not None else user.email
    user.role = role if role is not None else user.role
    user.is_active = is_active if is_active is not None else user.is_active
    user.password_hash = password_hash if password_hash is not None else user.password_hash
    if was_admin and not others and not (user.role == Role.ADMIN and user.is_active):
        raise Conflict(
            f"{user.name} is the only administrator, and one has to stay",
            advice="Make somebody else an administrator first.",
        )
    session.flush()


_HASH = select(User.id, User.password_hash, User.is_active).where(User.email == bindparam("email"))


def password_hash(session: Session, email: str) -> PasswordHash | None:
    """The password hash of the user with this address, active or not."""
    row = session.execute(_HASH, {"email": email.lower()}).one_or_none()
    return None if row is None else PasswordHash(*row)


def held_password_hash(session: Session, email: str) -> PasswordHash | None:
    """The same; nobody changes the user until the transaction ends, and signs the browser out."""
    held = _HASH.with_for_update(key_share=True)
    row = session.execute(held, {"email": email.lower()}).one_or_none()
    return None if row is None else PasswordHash(*row)


def renew_hash(session: Session, user_id: str, password_hash: str) -> None:
    """Keep the same password by a fresh hash. Raises NotFound."""
    _row(session, user_id).password_hash = password_hash
    session.flush()


def own_password_hash(session: Session, user_id: str) -> str | None:
    """The password hash of a user. Raises NotFound."""
    return _row(session, user_id).password_hash


def forget_password(session: Session, user_id: str) -> None:
    """Leave a user without a password. Raises NotFound."""
    _row(session, user_id).password_hash = None


def must_exist(session: Session, user_id: str) -> None:
    """Raise NotFound unless there is such a user."""
    _row(session, user_id)


def _free_email(session: Session, email: str | None, *, but: str | None = None) -> str | None:
    if email is None:
        return None
    taken = session.scalar(select(User.id).where(User.email == email.lower()))
    if taken is not None and taken != but:
        raise Conflict(
            "another user has this e-mail address",
            advice="Use another address, or the user who has it.",
        )
    return email.lower()


def _row(session: Session, user_id: str) -> User:
    user = session.scalar(select(User).where(User.id == user_id))
    if user is None:
        raise _unknown(user_id)
    return user


def _unknown(user_id: str) -> NotFound:
    return NotFound(f"there is no user {user_id}")


def _answer(session: Session, user: User, seen_by: Caller | None) -> UserAnswer:
    (found,) = _answers(session, [user], seen_by)
    return found


def _answers(session: Session, users: Sequence[User], seen_by: Caller | None) -> list[UserAnswer]:
    """These users, each with the projects that `seen_by` sees, None: all."""
    held = select(Membership.user_id, Membership.project_id, Membership.role)
    of_them = held.where(Membership.user_id.in_([one.id for one in users]))
    memberships: defaultdict[str, list[MembershipAnswer]] = defaultdict(list)
    for user_id, project_id, role in session.execute(of_them.order_by(Membership.project_id)):
        if seen_by is None or seen_by.id == user_id or seen_by.sees(project_id):
            memberships[user_id].append(MembershipAnswer(project_id=project_id, role=Role(role)))
    return [_answer_with(memberships[one.id], one) for one in users]


def _answer_with(memberships: list[MembershipAnswer], user: User) -> UserAnswer:
    is_admin = user.role == Role.ADMIN
    return UserAnswer(
        id=user.id,
        name=user.name,
        email=user.email,
        role=Role(user.role),
        project_ids=None if is_admin else [one.project_id for one in memberships],
        memberships=memberships,
        is_active=user.is_active,
        created_at=user.created_at,
    )
