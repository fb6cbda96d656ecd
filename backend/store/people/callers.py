"""The user behind a key or a browser session, as the rest of the service knows callers.

Called by `keys`, `sign_ins` and `invitations` beside it. Whoever makes or uses what lets somebody
in holds the rows that it ends with: whoever revokes a key or deactivates a user waits for them, and
then ends what was made too, and whoever counts what a user has is alone with it. Users are held
before keys, and by number.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from backend.domain.access import ApiKeyUsed, Caller
from backend.errors import NotSignedIn
from backend.schemas.vocabulary import Role
from backend.store import built, owners
from backend.store.owners import Owner
from backend.store.tables.credentials import ApiKey
from backend.store.tables.people import Membership, User
from backend.store.visibility import is_visible

# Active users: a row for each role in a project, one without a project for whoever has none. Every
# request asks by a proof that is joined to it, and with the owner of what it names as next columns.
WHO = (
    select(User.id, User.name, User.role, Membership.project_id, Membership.role)
    .outerjoin_from(User, Membership, Membership.user_id == User.id)
    .where(User.is_active, is_visible(User))
)
# Where the owner stands in a row: it follows all that `WHO` selects.
_OWNER = len(WHO.selected_columns)
_BY_ID = WHO.where(User.id == bindparam("user_id"))


class Sender(NamedTuple):
    """Who sends a request, and whose the object is that it names; None if it is not there."""

    caller: Caller
    owner: Owner | None


def of_user(session: Session, user_id: str) -> Caller | None:
    """The caller that a user is; None for one who is deactivated."""
    return caller(built.rows(session, _BY_ID, {"user_id": user_id}))


def hold(session: Session, maker: Caller, *, users: Collection[str] = ()) -> None:
    """Keep these users, and a caller with the key used, as they are until the transaction ends.

    Raises NotSignedIn if the caller was deactivated or the key revoked since the request came.
    """
    active = hold_users(session, {maker.id, *users})
    if not active.get(maker.id, False) or not _is_valid(session, maker.key):
        raise NotSignedIn(
            "your key was revoked or your account deactivated while this request was answered",
            advice="Ask an administrator for a new key, or to activate your account again.",
        )


def present(session: Session, maker: Caller) -> Caller:
    """A caller who is held with the roles of now, which may have gone during the wait."""
    return of_user(session, maker.id) or maker


def hold_users(session: Session, user_ids: Collection[str]) -> dict[str, bool]:
    """Keep these users as they are until the transaction ends; whether each is active, by id.

    One transaction at a time holds a user, or two would count the same and both add to it. Foreign
    keys may still be checked.
    """
    held = select(User.id, User.is_active).where(User.id.in_(user_ids)).order_by(User.number)
    return dict(session.execute(held.with_for_update(key_share=True)).all())


def _is_valid(session: Session, key: ApiKeyUsed | None) -> bool:
    if key is None:
        return True
    unrevoked = select(ApiKey.id).where(ApiKey.id == key.id, ApiKey.revoked_at.is_(None))
    return session.scalar(unrevoked.with_for_update(read=True)) is not None


def sender(rows: Sequence[tuple[Any, ...]], key: ApiKeyUsed | None = None) -> Sender | None:
    """The sender of these rows of `WHO` and `owners.columns`, None without any."""
    found = caller(rows, key)
    if found is None:
        return None
    project_id, only_of = rows[0][_OWNER : _OWNER + 2]
    return Sender(found, owners.read(project_id, only_of, sender_id=found.id))


def caller(rows: Sequence[tuple[Any, ...]], key: ApiKeyUsed | None = None) -> Caller | None:
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
