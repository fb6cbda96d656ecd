"""People and programs: their roles, projects, keys, sign-in tokens and browser sessions.

Called by `backend.auth` and the user routes; stores hashes only and never sees a clear secret.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from sqlalchemy import delete, literal, or_, select, union_all
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import Conflict, NotFound
from backend.schemas.paging import Listing
from backend.schemas.people import KeyAnswer, UserAnswer
from backend.schemas.vocabulary import Role
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.access import ApiKey, BrowserSession, SignInToken
from backend.store.tables.data import Project
from backend.store.tables.people import Membership, User


class Secret(NamedTuple):
    """What somebody showed to be let in, by its hash."""

    kind: Literal["key", "cookie"]
    sha256: str


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
    """Add a user. Raises NotFound for an unknown project, Conflict for a taken e-mail."""
    wanted = set(project_ids)
    known = set(session.scalars(select(Project.id).where(Project.id.in_(wanted))))
    if wanted - known:
        raise NotFound(f"there is no project {sorted(wanted - known)[0]}")
    if email and session.scalar(select(User.id).where(User.email == email.lower())):
        raise Conflict(
            "another user has this e-mail address",
            advice="Use another address, or the user who has it.",
        )
    user = User(
        id=new_id("user"),
        name=name,
        role=role,
        email=email.lower() if email else None,
        password_hash=password_hash,
        created_at=at,
    )
    session.add(user)
    session.flush()
    session.add_all(Membership(user_id=user.id, project_id=one) for one in sorted(wanted))
    session.flush()
    return _answer(session, user)


def find_admin(session: Session) -> str | None:
    """The id of the first active administrator, if there is one."""
    return session.scalar(
        select(User.id).where(User.role == Role.ADMIN, User.is_active).order_by(User.number)
    )


def get(session: Session, user_id: str) -> UserAnswer:
    """One user. Raises NotFound."""
    return _answer(session, _row(session, user_id))


def listing(session: Session, page: Page) -> Listing[UserAnswer]:
    """All active users."""
    rows, cursor = page_of(session, select(User).where(User.is_active), User.number, page)
    return Listing(items=[_answer(session, row) for row in rows], next_cursor=cursor)


def join(session: Session, user_id: str, project_id: str) -> None:
    """Let a user see a project; an administrator sees all and needs no entry."""
    session.add(Membership(user_id=user_id, project_id=project_id))
    session.flush()


def password_hash(session: Session, email: str) -> tuple[str, str | None] | None:
    """Id and password hash of the active user with this address."""
    row = session.execute(
        select(User.id, User.password_hash).where(User.email == email.lower(), User.is_active)
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def add_key(
    session: Session,
    *,
    user_id: str,
    name: str,
    prefix: str,
    key_sha256: str,
    expires_at: datetime | None,
    at: datetime,
) -> KeyAnswer:
    """Keep an API key by its hash. Raises NotFound for an unknown user."""
    _row(session, user_id)
    key = ApiKey(
        id=new_id("key"),
        user_id=user_id,
        name=name,
        prefix=prefix,
        key_sha256=key_sha256,
        expires_at=expires_at,
        created_at=at,
    )
    session.add(key)
    session.flush()
    return KeyAnswer.model_validate(key)


def keys(session: Session, user_id: str, page: Page) -> Listing[KeyAnswer]:
    """The keys of a user that still work or have expired, never the key itself."""
    statement = select(ApiKey).where(ApiKey.user_id == user_id, ApiKey.revoked_at.is_(None))
    rows, cursor = page_of(session, statement, ApiKey.number, page)
    return Listing(items=[KeyAnswer.model_validate(row) for row in rows], next_cursor=cursor)


def revoke_key(session: Session, user_id: str, key_id: str, *, at: datetime) -> None:
    """End a key at once. Raises NotFound."""
    key = session.scalar(select(ApiKey).where(ApiKey.id == key_id, ApiKey.user_id == user_id))
    if key is None:
        raise NotFound(f"there is no key {key_id} of this user")
    key.revoked_at = key.revoked_at or at


def by_key(session: Session, key_sha256: str, *, at: datetime) -> Caller | None:
    """Who a key belongs to, None if it is unknown, expired or revoked."""
    user = session.scalar(
        select(User)
        .join(ApiKey, ApiKey.user_id == User.id)
        .where(
            ApiKey.key_sha256 == key_sha256,
            ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > at),
            User.is_active,
        )
    )
    return _caller(session, user)


def by_cookie(session: Session, cookie_sha256: str, *, at: datetime) -> Caller | None:
    """Who a browser session belongs to, None if it is unknown or has expired."""
    user = session.scalar(
        select(User)
        .join(BrowserSession, BrowserSession.user_id == User.id)
        .where(
            BrowserSession.cookie_sha256 == cookie_sha256,
            BrowserSession.expires_at > at,
            User.is_active,
        )
    )
    return _caller(session, user)


def by_secrets(
    session: Session, secrets: Collection[Secret], *, at: datetime | None = None
) -> dict[Secret, Caller]:
    """Who these secrets belong to, in one query; those that are not valid (now) are left out."""
    at = at or datetime.now(UTC)
    keys = [secret.sha256 for secret in secrets if secret.kind == "key"]
    cookies = [secret.sha256 for secret in secrets if secret.kind == "cookie"]
    who = (User.id, User.name, User.role, Membership.project_id)
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
    for kind, sha256, user_id, name, role, project_id in session.execute(
        union_all(by_keys, by_cookies)
    ):
        secret = Secret("key" if kind == "key" else "cookie", sha256)
        before = found.get(secret)
        projects = (before.project_ids or frozenset()) if before else frozenset()
        found[secret] = Caller(
            id=user_id,
            name=name,
            role=Role(role),
            project_ids=None
            if role == Role.ADMIN
            else projects | ({project_id} if project_id else frozenset()),
        )
    return found


def add_sign_in_token(
    session: Session, *, user_id: str, token_sha256: str, expires_at: datetime
) -> None:
    """Keep a one-time token by its hash."""
    session.add(SignInToken(token_sha256=token_sha256, user_id=user_id, expires_at=expires_at))
    session.flush()


def use_sign_in_token(session: Session, token_sha256: str, *, at: datetime) -> str | None:
    """The user a token signs in, once: the DELETE lets one of two racing requests through."""
    row = session.execute(
        delete(SignInToken)
        .where(SignInToken.token_sha256 == token_sha256)
        .returning(SignInToken.user_id, SignInToken.expires_at)
    ).one_or_none()
    return row[0] if row is not None and row[1] > at else None


def add_browser_session(
    session: Session, *, user_id: str, cookie_sha256: str, expires_at: datetime, at: datetime
) -> None:
    """Keep a signed-in browser by its cookie's hash and forget those that have expired."""
    session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= at))
    session.add(
        BrowserSession(
            cookie_sha256=cookie_sha256, user_id=user_id, created_at=at, expires_at=expires_at
        )
    )
    session.flush()


def end_browser_session(session: Session, cookie_sha256: str) -> None:
    """Sign a browser out."""
    session.execute(delete(BrowserSession).where(BrowserSession.cookie_sha256 == cookie_sha256))


def _row(session: Session, user_id: str) -> User:
    user = session.scalar(select(User).where(User.id == user_id))
    if user is None:
        raise NotFound(f"there is no user {user_id}")
    return user


def _project_ids(session: Session, user: User) -> list[str] | None:
    if user.role == Role.ADMIN:
        return None
    return sorted(
        session.scalars(select(Membership.project_id).where(Membership.user_id == user.id))
    )


def _caller(session: Session, user: User | None) -> Caller | None:
    if user is None:
        return None
    project_ids = _project_ids(session, user)
    return Caller(
        id=user.id,
        name=user.name,
        role=Role(user.role),
        project_ids=None if project_ids is None else frozenset(project_ids),
    )


def _answer(session: Session, user: User) -> UserAnswer:
    return UserAnswer(
        id=user.id,
        name=user.name,
        email=user.email,
        role=Role(user.role),
        project_ids=_project_ids(session, user),
        created_at=user.created_at,
    )
