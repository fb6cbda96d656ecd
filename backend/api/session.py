"""Sign a browser in and out, and show who is signed in."""

from fastapi import Request, Response

from backend import auth
from backend.deps import CurrentUser, Now, SessionDep, SettingsDep, api_router, credentials_of
from backend.schemas.people import SignIn, UserAnswer
from backend.store.people import users

router = api_router("session")


@router.post("/session", status_code=201)
def sign_in(
    body: SignIn,
    request: Request,
    response: Response,
    session: SessionDep,
    settings: SettingsDep,
    at: Now,
) -> UserAnswer:
    """Exchange the token of a sign-in link, or e-mail and password, for a session cookie."""
    if request.headers.get("origin") is not None:
        auth.check_origin(credentials_of(request), settings.public_url)
    user_id, cookie = auth.sign_in(session, body, at=at, tries=request.app.state.password_tries)
    response.set_cookie(
        auth.COOKIE,
        cookie,
        max_age=int(auth.SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=_is_https(request, settings.public_url),
    )
    return users.get(session, user_id)


@router.get("/me")
def me(session: SessionDep, caller: CurrentUser) -> UserAnswer:
    """The signed-in user."""
    return users.get(session, caller.id)


@router.delete("/session", status_code=204)
def sign_out(
    request: Request, response: Response, session: SessionDep, caller: CurrentUser
) -> None:
    """End the browser's session."""
    auth.sign_out(session, request.cookies.get(auth.COOKIE))
    response.delete_cookie(auth.COOKIE)


def _is_https(request: Request, public_url: str | None) -> bool:
    return request.url.scheme == "https" or (public_url or "").startswith("https:")
