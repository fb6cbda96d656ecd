"""The user behind a key or a browser session, as the rest of the service knows callers.

Called by `keys` and `sign_ins` beside it.
"""

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from backend.domain.access import ApiKeyUsed, Caller
from backend.schemas.vocabulary import Role
from backend.store.tables.people import Membership, User

_ROLES = select(Membership.project_id, Membership.role).where(
    Membership.user_id == bindparam("user_id")
)


def caller(session: Session, user: User, key: ApiKeyUsed | None = None) -> Caller:
    """The caller that this user is, with the roles that the store has now."""
    held = session.execute(_ROLES, {"user_id": user.id})
    return Caller(
        id=user.id,
        name=user.name,
        role=Role(user.role),
        roles={project_id: Role(role) for project_id, role in held},
        key=key,
    )
