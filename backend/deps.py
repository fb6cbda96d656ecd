"""What a route may ask for: session, caller, role, page, time; and one transaction per request.

Routers are made by `api_router`, whose routes write the audit line of a change and keep the answer
of a POST under its Idempotency-Key, both in the transaction of the work itself. No rules and no SQL
here.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session

from backend.auth import COOKIE, SAFE_METHODS, Credentials, authenticate
from backend.domain.access import Caller
from backend.errors import InvalidInput
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.data import projects
from backend.store.db import Database, service_errors
from backend.store.paging import Page
from backend.store.people import audit, idempotency
from backend.store.people.idempotency import KeptAnswer

SESSIONS_AT_ONCE = 16
ANSWERS_KEPT = timedelta(days=7)


class Turns:
    """How many requests may hold a session at once.

    A request waits here without a thread. Without this, forty requests waiting inside threads for
    the one writer would leave the writer no thread to finish in.
    """

    def __init__(self, database: Database) -> None:
        self._readers = anyio.CapacityLimiter(SESSIONS_AT_ONCE)
        self._writers = anyio.CapacityLimiter(1) if database.is_sqlite else self._readers

    def of(self, method: str) -> anyio.CapacityLimiter:
        """The limiter for requests of this HTTP method."""
        return self._readers if method in SAFE_METHODS else self._writers


class Replayed(Exception):
    """This request was answered before: the handler sends the same answer again."""

    def __init__(self, kept: KeptAnswer) -> None:
        super().__init__("answered before")
        self.kept = kept


def settings_of(request: Request) -> Settings:
    """The settings that the application was made with."""
    settings: Settings = request.app.state.settings
    return settings


def database_of(request: Request) -> Database:
    """The database of the application, for routes that open sessions themselves."""
    database: Database = request.app.state.database
    return database


def now() -> datetime:
    """The time of this request, aware UTC."""
    return datetime.now(UTC)


SettingsDep = Annotated[Settings, Depends(settings_of)]
DatabaseDep = Annotated[Database, Depends(database_of)]
Now = Annotated[datetime, Depends(now)]


async def _session(request: Request, database: DatabaseDep) -> AsyncIterator[Session]:
    turns: Turns = request.app.state.turns
    opened = database.read() if request.method in SAFE_METHODS else database.write()
    with service_errors():
        async with turns.of(request.method), contextmanager_in_threadpool(opened) as session:
            request.state.session = session
            yield session


# A reading session for GET, else a writing one. Scope "function": it ends, and so is committed,
# before the answer is sent.
SessionDep = Annotated[Session, Depends(_session, scope="function")]


def credentials_of(request: Request) -> Credentials:
    """What a request says about who sends it."""
    return Credentials(
        method=request.method,
        authorization=request.headers.get("authorization"),
        cookie=request.cookies.get(COOKIE),
        origin=request.headers.get("origin"),
        host=request.headers.get("host"),
    )


def caller_of(request: Request, session: Session, settings: Settings, at: datetime) -> Caller:
    """Who sends a request. Raises NotSignedIn or Forbidden."""
    return authenticate(session, credentials_of(request), at=at, public_url=settings.public_url)


async def current_user(
    request: Request, session: SessionDep, settings: SettingsDep, at: Now
) -> Caller:
    """Who is asking. Raises NotSignedIn, or Replayed for a POST that was answered before."""
    caller = await run_in_threadpool(caller_of, request, session, settings, at)
    request.state.user_id = caller.id
    used = await used_key(request, caller)
    if used is not None:
        kept = await run_in_threadpool(idempotency.find, session, **used)
        if kept is not None:
            raise Replayed(kept)
    return caller


async def used_key(request: Request, caller: Caller) -> dict[str, str] | None:
    """What this request's Idempotency-Key stands for, None without one."""
    key = request.headers.get("idempotency-key")
    if not key or request.method != "POST":
        return None
    used: dict[str, str] = {
        "user_id": caller.id,
        "key": _checked_key(key),
        "route": f"{request.url.path}?{request.url.query}",
        "body_sha256": await _body_hash(request),
    }
    request.state.idempotency = used
    return used


CurrentUser = Annotated[Caller, Depends(current_user)]


def require(role: Role) -> Callable[[Caller], Caller]:
    """A dependency that gives the caller if it may do what `role` may do, else raises Forbidden."""

    def _checked(caller: CurrentUser) -> Caller:
        caller.must_hold(role)
        return caller

    return _checked


Admin = Annotated[Caller, Depends(require(Role.ADMIN))]
Researcher = Annotated[Caller, Depends(require(Role.RESEARCHER))]
Annotator = Annotated[Caller, Depends(require(Role.ANNOTATOR))]
Viewer = Annotated[Caller, Depends(require(Role.VIEWER))]


def visible_project(session: Session, caller: Caller, project_id: str) -> None:
    """Raise NotFound unless the project exists and the caller may see it."""
    caller.must_see(project_id, f"project {project_id}")
    projects.must_exist(session, project_id)


def _page(
    limit: Annotated[int, Query(ge=1, le=500, description="Items per page.")] = 50,
    cursor: Annotated[
        str | None, Query(description="The next_cursor of the previous page.")
    ] = None,
    oldest_first: Annotated[
        bool, Query(description="List the oldest first; by default the newest comes first.")
    ] = False,
) -> Page:
    return Page(limit=limit, cursor=cursor, oldest_first=oldest_first)


PageDep = Annotated[Page, Depends(_page)]


class ApiRoute(APIRoute):
    """A route that remembers, within its transaction, what a changing request did and answered."""

    is_audited = True

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, then the remembering; the session is still open when it returns."""
        handle = super().get_route_handler()

        async def _handle_and_remember(request: Request) -> Response:
            response = await handle(request)
            is_change = request.method not in SAFE_METHODS and response.status_code < 300
            if is_change and not getattr(request.state, "remembers_itself", False):
                await run_in_threadpool(self._remember, request, response)
            return response

        return _handle_and_remember

    def _remember(self, request: Request, response: Response) -> None:
        session: Session = request.state.session
        answer = json.loads(bytes(response.body) or b"null")
        if self.is_audited:
            audit_change(session, request, self.name, answer)
        keep_answer(session, request, response.status_code, answer)


class UnauditedRoute(ApiRoute):
    """A route whose changes are records of their own, with author and time."""

    is_audited = False


def keep_answer(session: Session, request: Request, status: int, answer: Any) -> None:
    """Keep what is answered under the request's Idempotency-Key, if it has one."""
    used: dict[str, str] | None = getattr(request.state, "idempotency", None)
    if used is not None:
        body = {"body": _without_key(answer)}
        idempotency.keep(session, **used, status=status, answer=body, at=now())


def audit_change(session: Session, request: Request, action: str, answer: Any) -> None:
    """Write who changed what; a request that names no object has changed nothing."""
    named: dict[str, str] = request.path_params
    answered = str(answer["id"]) if isinstance(answer, dict) and "id" in answer else None
    # A number names a part of what stands before it: the step of a run's checkpoint.
    ids = [name for name in named.values() if not name.isdecimal()]
    object_id = answered or next(reversed(ids), None)
    if object_id is not None:
        audit.record(
            session,
            # Who signs in is known by the answer alone.
            user_id=getattr(request.state, "user_id", answered),
            action=action,
            object_id=object_id,
            data=named,
            request_id=request.scope.get("podium.request_id"),
            at=now(),
        )


def _document_key(
    idempotency_key: Annotated[
        str | None,
        Header(
            max_length=200,
            description="The same key and body give the same answer again; nothing is done twice.",
        ),
    ] = None,
) -> None:
    """Puts the header into the OpenAPI document; `current_user` reads it."""


# For the decorators of POST routes that create: `dependencies=[IDEMPOTENT]`.
IDEMPOTENT = Depends(_document_key)


def api_router(tag: str, *, is_audited: bool = True) -> APIRouter:
    """An empty router whose routes are `ApiRoute`s."""
    return APIRouter(tags=[tag], route_class=ApiRoute if is_audited else UnauditedRoute)


async def _body_hash(request: Request) -> str:
    # An upload has been spooled and hashed before; its stream cannot be read twice.
    spooled: str | None = getattr(request.state, "body_sha256", None)
    return spooled or hashlib.sha256(await request.body()).hexdigest()


def _checked_key(key: str) -> str:
    if len(key) > 200 or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            f"the Idempotency-Key is {key[:50]!r} ({len(key)} characters); expected 1 to 200 "
            "printable ASCII characters",
            advice="Use a UUID.",
        )
    return key


def _without_key(body: Any) -> Any:
    """An API key is shown once: the answer that is kept does not have it."""
    is_key = isinstance(body, dict) and str(body.get("key")).startswith("pk_")
    return {**body, "key": None} if is_key else body
