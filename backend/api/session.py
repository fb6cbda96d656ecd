"""Sign a browser in and out, and show who is signed in."""

from typing import NamedTuple

from fastapi import Request, Response

from backend import auth
from backend.deps import Now, SessionDep, SettingsDep
from backend.domain.access import Caller
from backend.errors import Forbidden, NotSignedIn, TooManyTries
from backend.phases import Phases, credentials_of
from backend.pressure.passwords import Passwords
from backend.pressure.sign_in_delay import SignInDelay
from backend.pressure.turns import refusing_late
from backend.routes import api_router
from backend.schemas.people import SignIn, UserAnswer
from backend.settings import Settings
from backend.store.people import users
from backend.store.people.users import PasswordHash

router = api_router("session")


@router.post("/session", status_code=201)
async def sign_in(
    body: SignIn, response: Response, phases: Phases, settings: SettingsDep, at: Now
) -> UserAnswer:
    """Exchange the token of a sign-in link, or e-mail and password, for a session cookie.

    After the right password of a deactivated account it is a 403 with `deactivated_user_id`; after
    a wrong one nobody learns that there is such an account.
    """
    request = phases.request
    check_origin(request)
    async with refusing_late(TooManyTries):
        proven = None if body.token else await _proven(body, phases)
    cookie = auth.new_cookie()

    def _open(session: SessionDep) -> UserAnswer:
        if proven is None:
            user_id = auth.use_link(session, body.token or "", at=at)
        else:
            user_id = _still(session, proven)
        before = request.cookies.get(auth.COOKIE)
        auth.open_session(session, user_id, cookie, replaces=before, at=at)
        by = "link" if proven is None else "password"
        phases.note_change(before=None, after={"by": by}, object_id=user_id)
        return users.get(session, user_id)

    user = await phases.write_as_nobody(_open)
    set_cookie(response, cookie, request, settings)
    return user


def check_origin(request: Request) -> None:
    """Check that a browser that says where its request comes from names this service.

    For requests before anybody is signed in. Raises Forbidden.
    """
    if request.headers.get("origin") is not None:
        auth.check_origin(credentials_of(request), request.app.state.own_address)


def set_cookie(response: Response, cookie: str, request: Request, settings: Settings) -> None:
    """Let the browser keep the session's cookie out of reach of scripts and other sites."""
    response.set_cookie(
        auth.COOKIE,
        cookie,
        max_age=int(auth.SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https" or settings.is_public_https,
    )


@router.get("/me")
def me(session: SessionDep, caller: Caller) -> UserAnswer:
    """The signed-in user."""
    return users.get(session, caller.id)


@router.delete("/session", status_code=204)
def sign_out(
    request: Request, response: Response, session: SessionDep, caller: Caller, phases: Phases
) -> None:
    """End the browser's session."""
    if auth.sign_out(session, request.cookies.get(auth.COOKIE)):
        phases.note_change(before={"signed_in": True}, after=None, object_id=caller.id)
    response.delete_cookie(auth.COOKIE)


class _Proven(NamedTuple):
    """A password that fits: whose, by which hash, and a fresh hash where that one is outdated."""

    email: str
    user_id: str
    hash: str
    renewed: str | None


async def _proven(body: SignIn, phases: Phases) -> _Proven:
    """Check e-mail and password, holding nothing.

    Raises NotSignedIn, TooManyTries, and Forbidden for the right password of who is deactivated.
    """
    state = phases.request.app.state
    passwords: Passwords = state.passwords
    delay: SignInDelay = state.sign_in_delay
    email, password = (body.email or "").lower(), body.password or ""
    address: str = phases.request.scope["podium.address"]
    with delay.trying(address, email) as this:
        found = await phases.read(lambda session: users.password_hash(session, email))
        kept = found.hash if found is not None else None
        # As long for nobody, and for who is deactivated, as for everybody else.
        this.fits = await passwords.fits(kept, password, person=address)
    if not this.fits or found is None or kept is None:
        raise _wrong()
    _must_be_active(found)
    renewed = await passwords.renewed(kept, password, person=address)
    return _Proven(email, found.user_id, kept, renewed)


def _still(session: SessionDep, proven: _Proven) -> str:
    """The user, whose address and password are what they were when the password was checked."""
    found = users.held_password_hash(session, proven.email)
    if found is None or (found.user_id, found.hash) != (proven.user_id, proven.hash):
        raise _wrong()
    _must_be_active(found)
    if proven.renewed is not None:
        users.renew_hash(session, proven.user_id, proven.renewed)
    return proven.user_id


def _must_be_active(found: PasswordHash) -> None:
    """Raise Forbidden for a deactivated account; only after its password has fitted."""
    if not found.is_active:
        raise Forbidden(
            "this account is deactivated",
            advice="Ask an administrator to activate it again. Unsent judgments and skips stay in "
            "the browser in which they were made, and can be downloaded there.",
            deactivated_user_id=found.user_id,
        )


def _wrong() -> NotSignedIn:
    return NotSignedIn(
        "the e-mail address or the password is wrong", advice="Check both and try again."
    )
