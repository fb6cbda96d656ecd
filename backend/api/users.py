"""Users and their API keys."""

from typing import Annotated

from fastapi import Depends

from backend import auth
from backend.deps import (
    IDEMPOTENT,
    Admin,
    CurrentUser,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    api_router,
)
from backend.domain.access import Caller
from backend.schemas.paging import Listing
from backend.schemas.people import KeyAnswer, KeyBody, UserAnswer, UserBody
from backend.schemas.vocabulary import Role
from backend.store.people import users

router = api_router("users")


def _owner(user_id: str, caller: CurrentUser) -> Caller:
    """The user of the path itself, or an administrator."""
    if caller.id != user_id:
        caller.must_hold(Role.ADMIN)
    return caller


Owner = Annotated[Caller, Depends(_owner)]


@router.post("/users", status_code=201, dependencies=[IDEMPOTENT])
def create_user(body: UserBody, session: SessionDep, caller: Admin, at: Now) -> UserAnswer:
    """Add a person or a program."""
    return users.create(
        session,
        name=body.name,
        role=body.role,
        project_ids=body.project_ids,
        email=body.email,
        password_hash=auth.hash_password(body.password) if body.password else None,
        at=at,
    )


@router.get("/users")
def list_users(session: SessionDep, caller: Researcher, page: PageDep) -> Listing[UserAnswer]:
    """All users."""
    return users.listing(session, page)


@router.post("/users/{user_id}/keys", status_code=201, dependencies=[IDEMPOTENT])
def create_key(
    user_id: str, body: KeyBody, session: SessionDep, caller: Owner, at: Now
) -> KeyAnswer:
    """Create an API key; an administrator may do so for any user. The key is shown once."""
    return auth.add_key(
        session, user_id=user_id, name=body.name, expires_in_s=body.expires_in_s, at=at
    )


@router.get("/users/{user_id}/keys")
def list_keys(
    user_id: str, session: SessionDep, caller: Owner, page: PageDep
) -> Listing[KeyAnswer]:
    """A user's keys by name and prefix."""
    return users.keys(session, user_id, page)


@router.delete("/users/{user_id}/keys/{key_id}", status_code=204)
def revoke_key(user_id: str, key_id: str, session: SessionDep, caller: Owner, at: Now) -> None:
    """Revoke a key at once."""
    users.revoke_key(session, user_id, key_id, at=at)
