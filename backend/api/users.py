"""Users, their roles, their API keys and their browser sessions."""

from pydantic import JsonValue

from backend import auth
from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.errors import Forbidden, TooManyTries
from backend.phases import Phases
from backend.pressure.passwords import Passwords
from backend.pressure.sign_in_delay import SignInDelay
from backend.pressure.turns import refusing_late
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.people import (
    KeyAnswer,
    KeyBody,
    SessionAnswer,
    UserAnswer,
    UserBody,
    UserChange,
)
from backend.schemas.vocabulary import Role
from backend.store.data import assignments
from backend.store.people import invitations, keys, sign_ins, users

router = api_router("users")


@router.post("/users", status_code=201, openapi_extra=IDEMPOTENT)
async def create_user(body: UserBody, phases: Phases, at: Now) -> UserAnswer:
    """Add a person or a program."""
    if body.password is not None or body.role is Role.ADMIN:
        phases.caller.must_be_unlimited("set passwords or make administrators")
    hashed = await _hashed(body.password, phases)

    def _create(session: SessionDep, _: Caller) -> UserAnswer:
        user = users.create(
            session,
            name=body.name,
            role=body.role,
            project_ids=body.project_ids,
            email=body.email,
            password_hash=hashed,
            at=at,
        )
        password = {"password": "set"} if hashed is not None else {}
        phases.note_change(before=None, after=_access(user) | password)
        return user

    return await phases.write(_create)


@router.get("/users")
def list_users(
    session: SessionDep, caller: Caller, page: PageDep, is_active: bool = True
) -> Listing[UserAnswer]:
    """The people of the caller's projects; for an administrator all."""
    return users.listing(session, caller, page, is_active=is_active)


@router.patch("/users/{user_id}")
async def change_user(user_id: str, body: UserChange, phases: Phases, at: Now) -> UserAnswer:
    """Change a user's roles, name, address or password, or shut the user out, at once.

    A user who is deactivated is signed out everywhere, and all of their keys and invitations end,
    with those that were made with these keys. Leases end in projects where the user does not rank
    any more. One administrator always stays. What somebody signs in with is changed, and an
    administrator made, in the browser or with a key of all scopes that does not expire.
    """
    if (body.password, body.email) != (None, None) or body.role is Role.ADMIN:
        phases.caller.must_be_unlimited("change passwords or e-mails or make administrators")
    hashed = await _new_password(user_id, body, phases)

    def _change(session: SessionDep, caller: Caller) -> UserAnswer:
        if not caller.is_admin:
            _must_be_own_business(body)
        # Held: what is read here is what is changed.
        users.hold_with_admins(session, user_id)
        before = _access(users.get(session, user_id))
        users.change(
            session,
            user_id,
            name=body.name,
            email=body.email,
            role=body.role,
            is_active=body.is_active,
            password_hash=hashed,
        )
        if body.memberships is not None:
            roles = {one.project_id: one.role for one in body.memberships}
            users.set_memberships(session, user_id, roles)
        assignments.end_leases(session, user_id, users.ranks_in(session, user_id), at=at)
        if body.is_active is False:
            keys.revoke_all(session, user_id, at=at)
            invitations.revoke_sent_by(session, user_id, at=at)
        if body.role is not None or body.memberships is not None:
            invitations.revoke_beyond(session, user_id, at=at)
        if hashed is not None or body.is_active is False:
            auth.end_sessions(session, user_id, but=phases.request.cookies.get(auth.COOKIE))
        user = users.get(session, user_id)
        password = {"password": "changed"} if hashed is not None else {}
        phases.note_change(before=before, after=_access(user) | password)
        return user

    return await phases.write(_change)


@router.get("/users/{user_id}/sessions")
def list_sessions(user_id: str, session: SessionDep, at: Now) -> Listing[SessionAnswer]:
    """The browsers in which a user is signed in, newest first."""
    users.must_exist(session, user_id)
    return sign_ins.sessions(session, user_id, at=at)


@router.delete("/users/{user_id}/sessions", status_code=204)
def end_sessions(user_id: str, session: SessionDep) -> None:
    """Sign a user out of every browser, at once; keys go on working."""
    users.must_exist(session, user_id)
    auth.end_sessions(session, user_id)


@router.post("/users/{user_id}/keys", status_code=201, openapi_extra=IDEMPOTENT)
def create_key(
    user_id: str, body: KeyBody, session: SessionDep, caller: Caller, phases: Phases, at: Now
) -> KeyAnswer:
    """Create an API key; an administrator may do so for any user. The key is shown once.

    A key that is created with another key may do no more than that one, expires no later and is
    revoked with it.
    """
    key = auth.add_key(
        session,
        user_id=user_id,
        name=body.name,
        expires_in_s=body.expires_in_s,
        scopes=body.scopes,
        maker=caller,
        at=at,
    )
    phases.note_change(before=None, after=_powers(key))
    return key


@router.get("/users/{user_id}/keys")
def list_keys(
    user_id: str, session: SessionDep, caller: Caller, page: PageDep
) -> Listing[KeyAnswer]:
    """A user's keys by name and prefix."""
    return keys.listing(session, user_id, page, caller)


@router.delete("/users/{user_id}/keys/{key_id}", status_code=204)
def revoke_key(user_id: str, key_id: str, session: SessionDep, phases: Phases, at: Now) -> None:
    """Revoke a key, and all that were made with it, at once."""
    key = keys.revoke(session, user_id, key_id, at=at)
    phases.note_change(before=_powers(key), after=None)


def _access(user: UserAnswer) -> dict[str, JsonValue]:
    """What a user may do, and the address to sign in with, for the audit."""
    return user.model_dump(mode="json", include={"email", "role", "memberships", "is_active"})


def _powers(key: KeyAnswer) -> dict[str, JsonValue]:
    """What a key may do, for the audit."""
    return key.model_dump(mode="json", include={"id", "scopes", "parent_id", "expires_at"})


async def _new_password(user_id: str, body: UserChange, phases: Phases) -> str | None:
    """The hash of the new password. Raises Forbidden for a wrong current one, or TooManyTries."""
    if _needs_proof(user_id, body, phases.caller):
        async with refusing_late(TooManyTries):
            await _prove(user_id, body.current_password or "", phases)
    return await _hashed(body.password, phases)


def _needs_proof(user_id: str, body: UserChange, caller: Caller) -> bool:
    """Whether what somebody signs in with themselves is changed; an open browser is no proof."""
    if caller.is_admin:
        return user_id == caller.id and (body.password, body.email) != (None, None)
    return body.password is not None


async def _prove(user_id: str, password: str, phases: Phases) -> None:
    """Raise Forbidden unless this is the user's password; after several, as at a sign-in, wait.

    An administrator without a password, as the first one, has nothing to prove it with.
    """
    state = phases.request.app.state
    passwords: Passwords = state.passwords
    delay: SignInDelay = state.sign_in_delay
    # Whoever found a key or an open browser may come from any address.
    with delay.trying(user_id, user_id) as this:
        kept = await phases.read(lambda session: users.own_password_hash(session, user_id))
        is_first = kept is None and phases.caller.is_admin
        this.fits = is_first or await passwords.fits(kept, password, person=user_id)
    if not this.fits:
        raise Forbidden(
            "`current_password` is not your password",
            advice="Send your current password. If you forgot it, ask another administrator for a "
            "new one, or run `podium sign-in --user EMAIL --forget-password` with your e-mail "
            "address on the machine that runs Podium (the first administrator needs no --user)."
            if phases.caller.is_admin
            else "Send your current password, or ask an administrator for a new one.",
        )


async def _hashed(password: str | None, phases: Phases) -> str | None:
    """The hash of a new password, if there is one. Raises InvalidInput or TooManyTries."""
    if password is None:
        return None
    passwords: Passwords = phases.request.app.state.passwords
    async with refusing_late(TooManyTries):
        return await passwords.hash(password, person=phases.caller.id)


def _must_be_own_business(body: UserChange) -> None:
    """Raise Forbidden for what only an administrator may change, for oneself too."""
    for name in ("email", "role", "memberships", "is_active"):
        if getattr(body, name) is not None:
            raise Forbidden(
                f"`{name}` can be changed by an administrator alone",
                advice="Ask an administrator; you may change your name and your password.",
            )
