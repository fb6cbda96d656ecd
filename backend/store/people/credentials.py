"""Who still holds what was shown: many keys and cookies at once, for answers that last.

Called by `backend.pressure.permissions`, once a second for all streams and exports together.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import literal, or_, select, union_all
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.machine.wall_clock import now
from backend.schemas.vocabulary import Role
from backend.store.tables.credentials import ApiKey, BrowserSession
from backend.store.tables.people import Membership, User


class Secret(NamedTuple):
    """What somebody showed to be let in, by its hash."""

    kind: Literal["key", "cookie"]
    sha256: str


def callers_of(
    session: Session, secrets: Collection[Secret], *, at: datetime | None = None
) -> dict[Secret, Caller]:
    """Who these secrets belong to, in one query; those that are not valid (now) are left out."""
    at = at or now()
    keys = [secret.sha256 for secret in secrets if secret.kind == "key"]
    cookies = [secret.sha256 for secret in secrets if secret.kind == "cookie"]
    who = (User.id, User.name, User.role, Membership.project_id, Membership.role)
    by_keys = (
        select(literal("key"), ApiKey.key_sha256, *who)
        .join(User, User.id == ApiKey.user_id)
        .outerjoin(Membership, Membership.user_id == User.id)
        .where(
            ApiKey.key_sha256.in_(keys),
            ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > at),
            User.is_active,
        )
    )
    by_cookies = (
        select(literal("cookie"), BrowserSession.cookie_sha256, *who)
        .join(User, User.id == BrowserSession.user_id)
        .outerjoin(Membership, Membership.user_id == User.id)
        .where(
            BrowserSession.cookie_sha256.in_(cookies),
            BrowserSession.expires_at > at,
            User.is_active,
        )
    )
    found: dict[Secret, Caller] = {}
    rows: Iterable[Any] = session.execute(union_all(by_keys, by_cookies))
    for kind, sha256, user_id, name, role, project_id, role_there in rows:
        secret = Secret("key" if kind == "key" else "cookie", sha256)
        caller = found.get(secret) or Caller(id=user_id, name=name, role=Role(role))
        held = {} if project_id is None else {project_id: Role(role_there)}
        found[secret] = replace(caller, roles={**caller.roles, **held})
    return found
