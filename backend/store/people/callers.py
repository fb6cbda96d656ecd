"""The user behind a key or a browser session, as the rest of the service knows callers.

Called by `keys`, `sign_ins` and `invitations` beside it.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from backend.domain.access import ApiKeyUsed, Caller
from backend.schemas.vocabulary import Role
from backend.store.tables.people import Membership, User
from backend.store.visibility import is_visible

# Active users: a row for each role in a project, one without a project for whoever has none. Every
# request asks by a proof that is joined to it.
WHO = (
    select(User.id, User.name, User.role, Membership.project_id, Membership.role)
    .outerjoin_from(User, Membership, Membership.user_id == User.id)
    .where(User.is_active, is_visible(User))
)
_BY_ID = WHO.where(User.id == bindparam("user_id"))


def of_user(session: Session, user_id: str) -> Caller | None:
    """The caller that a user is; None for one who is deactivated."""
    return caller(session.connection().execute(_BY_ID, {"user_id": user_id}).all())


def caller(rows: Sequence[Row[*tuple[Any, ...]]], key: ApiKeyUsed | None = None) -> Caller | None:
    """The caller of these rows of `WHO`, None without any."""
    if not rows:
        return None
    user_id, name, role = rows[0][:3]
    return Caller(
        id=user_id,
        name=name,
        role=Role(role),
        roles={row[3]: Role(row[4]) for row in rows if row[3] is not None},
        key=key,
    )
