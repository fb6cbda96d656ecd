"""Who still holds what was shown: many keys and cookies at once, for answers that last.

Called by `backend.pressure.permissions`, once a second for all streams and exports together.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import literal, or_, select, union_all
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.machine.wall_clock import now
from backend.schemas.vocabulary import Role
from backend.store.tables.credentials import ApiKey, BrowserSession
from backend.store.tables.people import Membership, User

_WHO = (User.id, User.name, User.role)
# The kind of a row that says what somebody is in a project.
_ROLE = "role"


class Secret(NamedTuple):
    """What somebody showed to be let in, by its hash."""

    kind: Literal["key", "cookie"]
    sha256: str


def callers_of(
    session: Session, secrets: Collection[Secret], *, at: datetime | None = None
) -> dict[Secret, Caller]:
    """Who these secrets belong to, in one query; those that are not valid (now) are left out.

    A role is found once for each person, however many secrets of theirs are asked for.
    """
    at = at or now()
    keys = [secret.sha256 for secret in secrets if secret.kind == "key"]
    cookies = [secret.sha256 for secret in secrets if secret.kind == "cookie"]
    by_keys = (
        select(literal("key").label("kind"), ApiKey.key_sha256.label("what"), *_WHO)
        .join(User, User.id == ApiKey.user_id)
        .where(
            ApiKey.key_sha256.in_(keys),
            ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > at),
            User.is_active,
        )
    )
    by_cookies = (
        select(literal("cookie"), BrowserSession.cookie_sha256, *_WHO)
        .join(User, User.id == BrowserSession.user_id)
        .where(
            BrowserSession.cookie_sha256.in_(cookies),
            BrowserSession.expires_at > at,
            User.is_active,
        )
    )
    shown = union_all(by_keys, by_cookies).cte("shown")
    roles = select(
        literal(_ROLE), Membership.project_id, Membership.user_id, literal(""), Membership.role
    ).where(Membership.user_id.in_(select(shown.c.id)))
    return _callers(session.execute(union_all(select(shown), roles)).all())


def _callers(rows: Sequence[Any]) -> dict[Secret, Caller]:
    """The callers of these rows, of which some say what somebody is in a project."""
    roles: defaultdict[str, dict[str, Role]] = defaultdict(dict)
    for kind, project_id, user_id, _, role in rows:
        if kind == _ROLE:
            roles[user_id][project_id] = Role(role)
    return {
        Secret(kind, sha256): Caller(id=user_id, name=name, role=Role(role), roles=roles[user_id])
        for kind, sha256, user_id, name, role in rows
        if kind != _ROLE
    }
