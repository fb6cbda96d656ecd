"""What a route may ask for: session, caller, role, page, time; and one transaction per request.

Routers are made by `api_router`, whose routes write the audit line of a change and keep the answer
of a POST under its Idempotency-Key, both in the transaction of the work itself. No rules and no SQL
here.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.routing import APIRoute
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from backend.auth import COOKIE, SAFE_METHODS, Credentials, authenticate, secret_of
from backend.domain.access import Caller
from backend.errors import Conflict, InvalidInput, NotSignedIn, Unavailable
from backend.pressure.json_text import check_text
from backend.pressure.permissions import Claim
from backend.pressure.visitors import Connection, Visitors
from backend.schemas.paging import Malformed
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.data import projects
from backend.store.db import AWAY, Database
from backend.store.paging import Page
from backend.store.people import audit, idempotency
from backend.store.people.idempotency import KeptAnswer
from backend.turns import Turns

ANSWERS_KEPT = timedelta(days=7)
# Bytes; checking them takes a fraction of a millisecond.
CHECKED_IN_LOOP = 65_536


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


def person_of(request: Request) -> str:
    """By whom turns are shared: whoever showed these credentials before, or an address."""
    visitors: Visitors = request.app.state.visitors
    secret = secret_of(credentials_of(request))
    address: str = request.scope["podium.address"]
    return visitors.person(None if secret is None else secret.sha256, address)


def _turn(request: Request) -> AbstractAsyncContextManager[None]:
    turns: Turns = request.app.state.turns
    person = person_of(request)
    route = request.scope.get("route")
    if isinstance(route, ApiRoute) and route.opens_stream:
        return turns.opening(person)
    return turns.reading(person) if request.method in SAFE_METHODS else turns.writing(person)


async def _session(request: Request, database: DatabaseDep) -> AsyncIterator[Session]:
    opened = database.read() if request.method in SAFE_METHODS else database.write()
    try:
        async with _turn(request), contextmanager_in_threadpool(opened) as session:
            request.state.session = session
            yield session
    except AWAY as error:
        raise Unavailable(
            "the database did not answer", advice="Try again in a moment; see the service's log."
        ) from error
    except IntegrityError as error:
        raise Conflict(
            "another request changed the same thing at the same moment",
            advice="Send the request again.",
        ) from error
    except DataError as error:
        raise InvalidInput(
            "the database cannot hold a value of this request",
            advice="Remove NUL characters and numbers that are out of range.",
        ) from error


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
    credentials = credentials_of(request)
    caller = authenticate(session, credentials, at=at, public_url=settings.public_url)
    _welcome(request, credentials, caller)
    return caller


def _welcome(request: Request, credentials: Credentials, caller: Caller) -> None:
    """From here on this person has turns of their own, and the connection stays open."""
    visitors: Visitors = request.app.state.visitors
    secret = secret_of(credentials)
    if secret is not None:
        visitors.learn(secret.sha256, caller.id)
    connection: Connection | None = request.scope.get("podium.connection")
    if connection is not None:
        connection.is_known = True


def claim_of(request: Request, caller: Caller, may: Callable[[Caller], bool]) -> Claim:
    """What a long answer to this request stands on; `may` is asked of the caller again and again.

    Raises NotSignedIn if the request has no credentials.
    """
    secret = secret_of(credentials_of(request))
    if secret is None:
        raise NotSignedIn("the request has neither a key nor a session")
    return Claim(caller.id, secret, may)


async def current_user(
    request: Request, session: SessionDep, settings: SettingsDep, at: Now
) -> Caller:
    """Who is asking. Raises NotSignedIn, or Replayed for a POST that was answered before."""
    caller = await run_in_threadpool(caller_of, request, session, settings, at)
    request.state.user_id = caller.id
    key = request.headers.get("idempotency-key")
    if key and request.method == "POST":
        request.state.idempotency = used = {
            "user_id": caller.id,
            "key": _checked_key(key),
            "route": f"{request.url.path}?{request.url.query}",
            "body_sha256": await _body_hash(request),
        }
        kept = await run_in_threadpool(idempotency.find, session, **used)
        if kept is not None:
            raise Replayed(kept)
    return caller


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
        str | None, Query(max_length=200, description="The next_cursor of the previous page.")
    ] = None,
    oldest_first: Annotated[
        bool, Query(description="List the oldest first; by default the newest comes first.")
    ] = False,
) -> Page:
    return Page(limit=limit, cursor=cursor, oldest_first=oldest_first)


PageDep = Annotated[Page, Depends(_page)]


class _BoundedRequest(Request):
    """A request whose JSON is parsed only if it is not too much."""

    async def json(self) -> Any:
        """The parsed body. Raises HTTPException for one with too many or too deep values."""
        body = await self.body()
        try:
            if len(body) > CHECKED_IN_LOOP:
                await run_in_threadpool(check_text, body)
            else:
                check_text(body)
        except ValueError as error:
            status = 400 if isinstance(error, Malformed) else 413
            raise HTTPException(status, f"the JSON of the body is too large: {error}") from error
        return await super().json()


class ApiRoute(APIRoute):
    """A route that remembers, within its transaction, what a changing request did and answered."""

    is_audited = True
    opens_stream = False

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, then the remembering; the session is still open when it returns."""
        handle = super().get_route_handler()

        async def _handle_and_remember(request: Request) -> Response:
            response = await handle(_BoundedRequest(request.scope, request.receive))
            if request.method not in SAFE_METHODS and response.status_code < 300:
                await run_in_threadpool(self._remember, request, response)
            return response

        return _handle_and_remember

    def _remember(self, request: Request, response: Response) -> None:
        session: Session = request.state.session
        answer = json.loads(bytes(response.body) or b"null")
        if self.is_audited:
            _audit(session, request, self.name, answer)
        used: dict[str, str] | None = getattr(request.state, "idempotency", None)
        if used is not None:
            idempotency.keep(
                session,
                **used,
                status=response.status_code,
                answer={"body": _without_key(answer)},
                at=now(),
            )


class UnauditedRoute(ApiRoute):
    """A route whose changes are records of their own, with author and time."""

    is_audited = False


def _audit(session: Session, request: Request, action: str, answer: Any) -> None:
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
