"""What every route is: its row in `backend.domain.operations`, its phases, and its endpoint.

Routers are made by `api_router`. An endpoint is a plain function; of its parameters `session`,
`caller`, `phases` and `at` are given to it here, all others come from the request. One with
`session` runs in a thread, in a reading session for GET and else in the write turn; one that is
`async` asks for `phases` and opens its sessions itself.
"""

import asyncio
import functools
import inspect
import json
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, get_args

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.warnings import UnsupportedFieldAttributeWarning
from pydantic_core import to_json
from starlette.routing import compile_path
from starlette.types import Message

from backend.auth import SAFE_METHODS
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.domain.operations import KIB, OPERATIONS, Operation
from backend.errors import InvalidInput, TooLarge
from backend.machine.wall_clock import now
from backend.phases import Phases
from backend.pressure.json_text import check_text
from backend.pressure.turns import REFUSE_AFTER_S, refusing_late
from backend.reading.calls import Function, Made, register
from backend.schemas.paging import Listing, Malformed

# Bytes; checking them takes a fraction of a millisecond.
CHECKED_IN_LOOP = 65_536
# To whoever sends a body that is too large, whichever limit it meets.
SEND_LESS = "Send large data in parts, or through an import."
_GIVEN = ("session", "caller", "phases", "at")
_OF_PATH = ("path_regex", "path_format", "param_convertors")
_looking = threading.RLock()


class LateRoute(APIRoute):
    """A route at which FastAPI looks when it is first asked, by a request or for the document.

    It takes long to find out what each of them asks for and answers, and most processes use few.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.endpoint = endpoint
        self.name = endpoint.__name__
        self.methods = set(options["methods"])
        self._options = options
        self._is_looked_at = False

    def below(self, prefix: str) -> Self:
        """The same route at an address that begins with `prefix`."""
        return type(self)(prefix + self.path, self.endpoint, **self._options)

    def be_looked_at(self) -> None:
        """Let FastAPI look now, unless it has."""
        with _looking:
            if not self._is_looked_at:
                self._look()

    if not TYPE_CHECKING:  # Else every attribute would seem to be there.

        def __getattr__(self, name: str) -> Any:
            """What is found out, which stands in attributes of its own from then on."""
            with _looking:  # The document is made in a thread beside the requests.
                if name in _OF_PATH and name not in self.__dict__:
                    # By these requests are told apart, so each of them asks many routes for it.
                    self.path_regex, self.path_format, self.param_convertors = compile_path(
                        self.path
                    )
                elif not self.__dict__.get("_is_looked_at", True):
                    self._look()
            return object.__getattribute__(self, name)

    def _look(self) -> None:
        self._is_looked_at = True
        try:
            super().__init__(self.path, self.endpoint, **self._options)
        except AttributeError as error:
            # As it is, it would say that the route has no attribute of the name that was asked for.
            raise RuntimeError(f"{self.path} cannot be looked at: {error}") from error
        finally:
            # This is set last; without it, whoever asks next looks again.
            self._is_looked_at = "app" in self.__dict__

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, which finds all built that it would else build at a request."""
        if self.body_field is not None:
            with warnings.catch_warnings():
                # FastAPI expects this one at each of its fields, which are built at once then. One
                # with a schema that is built when it is used would warn at that time.
                warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
                self.body_field._type_adapter.rebuild()
        if not SAFE_METHODS.issuperset(self.methods or ()):
            # Else whoever asks first would build them within the write turn.
            for model in _models_of(self.response_model):
                model.model_rebuild()
        return super().get_route_handler()


def _models_of(answer: Any) -> set[type[BaseModel]]:
    """The models that an answer is made of, those within others too."""
    found: set[type[BaseModel]] = set()
    left = [answer]
    while left:
        kind = left.pop()
        if not isinstance(kind, type) or not issubclass(kind, BaseModel):
            left += get_args(kind)
        elif kind not in found:
            found.add(kind)
            left += (one.annotation for one in kind.model_fields.values())
    return found


class ApiRoute(LateRoute):
    """A route that admits, bounds and remembers its requests."""

    is_audited = True
    opens_stream = False

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if endpoint.__name__ not in OPERATIONS:
            raise LookupError(
                f"{endpoint.__name__} has no row in backend/domain/operations.py; say there who "
                "may do it"
            )
        is_phased = hasattr(endpoint, "is_phased")
        super().__init__(path, endpoint if is_phased else _phased(endpoint), **options)

    @property
    def operation(self) -> Operation:
        """Who may use this route."""
        return OPERATIONS[self.endpoint.__name__]

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, for requests that are admitted and have been read."""
        handle = super().get_route_handler()
        operation, name, status = self.operation, self.endpoint.__name__, self.status_code or 200

        async def _handle(request: Request) -> Response:
            request = _BoundedRequest.of(request, operation.body_limit)
            phases = Phases(
                request, operation, name, status, self.is_audited, opens_stream=self.opens_stream
            )
            request.state.phases = phases
            if not phases.is_admitted_late:
                await phases.admit()
            try:
                if request.method not in SAFE_METHODS and operation.body_limit is not None:
                    _must_fit(_said_length(request), operation.body_limit)
                    await request.take(phases)
                answer = await handle(request)
            except (HTTPException, RequestValidationError, InvalidInput, TooLarge):
                if not phases.is_known:
                    # Whoever may not do this is told that, and nothing of what was sent.
                    await phases.admit()
                raise
            if phases.is_traced:
                phases.trace()
            return answer

        return _handle


class UnauditedRoute(ApiRoute):
    """A route whose changes are records of their own, with author and time."""

    is_audited = False


class StreamRoute(ApiRoute):
    """A route that opens a stream; it takes its turn among those who do so."""

    opens_stream = True


def api_router(tag: str, *, is_audited: bool = True) -> APIRouter:
    """An empty router whose routes are `ApiRoute`s."""
    return APIRouter(tags=[tag], route_class=ApiRoute if is_audited else UnauditedRoute)


def _phased(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """The endpoint as FastAPI calls it: without what is given here, in the session it needs."""
    signature = inspect.signature(endpoint)
    given = [name for name in _GIVEN if name in signature.parameters]
    is_async = inspect.iscoroutinefunction(endpoint)

    def _filled(values: dict[str, Any], **known: Any) -> dict[str, Any]:
        return {**values, **{name: known[name] for name in given}}

    @functools.wraps(endpoint)
    async def _call(request: Request, **values: Any) -> Any:
        phases: Phases = request.state.phases
        if "request" in signature.parameters:
            values["request"] = request
        known = {"phases": phases, "caller": phases.known_caller, "at": now()}
        if is_async:
            answer = await endpoint(**_filled(values, **known))
            is_list = isinstance(answer, Listing)
            return await run_in_threadpool(_as_answer, answer) if is_list else answer
        if "session" not in given:
            return await run_in_threadpool(endpoint, **_filled(values, **known))
        if phases.operation.is_heavy:
            return _response(await phases.make(values))
        if request.method in SAFE_METHODS:
            return await phases.read(
                lambda session: _listed(endpoint(**_filled(values, **known, session=session)))
            )
        return await phases.write(
            lambda session, caller: endpoint(
                **_filled(values, **known | {"caller": caller, "session": session})
            )
        )

    if OPERATIONS[endpoint.__name__].is_heavy:
        register(endpoint.__name__, _making(endpoint, given))
    del _call.__wrapped__  # FastAPI would look through this wrapper
    _call.__signature__ = _asked(signature)  # type: ignore[attr-defined]
    _call.is_phased = True  # type: ignore[attr-defined]
    return _call


def _making(endpoint: Callable[..., BaseModel | Response], given: list[str]) -> Function:
    """The endpoint as the reading process calls it: what it answers, as bytes."""

    def _made(session: SessionDep, caller: Caller | None, values: Mapping[str, Any]) -> Made:
        known = {"session": session, "caller": caller, "at": now()}
        answer = _as_answer(endpoint(**values, **{name: known[name] for name in given}))
        facts = {"status": answer.status_code, "headers": answer.headers.items()}
        return Made(facts, bytes(answer.body))

    return _made


def _listed(answer: Any) -> Any:
    """The answer, if it is a list as JSON: FastAPI would make that in the loop that all share."""
    return _as_answer(answer) if isinstance(answer, Listing) else answer


def _response(made: Made) -> Response:
    return Response(made.body, made.facts["status"], dict(made.facts["headers"]))


def _as_answer(made: BaseModel | Response) -> Response:
    """The answer as JSON, in pieces, unless the endpoint has made it.

    Pydantic lets no other thread compute until a call returns: one call for all of a large answer
    would keep everybody waiting.
    """
    if isinstance(made, Response):
        return made
    parts = (json.dumps(name).encode() + b":" + b"".join(_pieces(value)) for name, value in made)
    return Response(b"{" + b",".join(parts) + b"}", media_type="application/json")


def _pieces(value: object) -> Iterator[bytes]:
    if not isinstance(value, list):
        yield to_json(value)
        return
    yield b"["
    for number, item in enumerate(value):
        yield b"," if number else b""
        yield to_json(item)
    yield b"]"


def _asked(signature: inspect.Signature) -> inspect.Signature:
    """Say what FastAPI must find in the request: the request itself, and all that is not given."""
    request = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
    asked = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name not in (*_GIVEN, "request")
    ]
    return signature.replace(parameters=[request, *asked])


class _BoundedRequest(Request):
    """A request whose body is bounded, and whose JSON is parsed only if it is not too much."""

    _parsed: Any = None

    @classmethod
    def of(cls, request: Request, limit: int | None) -> Self:
        """The request, whose body ends with TooLarge beyond `limit` bytes; None: no limit here."""
        seen = 0

        async def _receive() -> Message:
            nonlocal seen
            message = await request.receive()
            seen += len(message.get("body", b""))
            _must_fit(seen, limit)
            return message

        return cls(request.scope, request.receive if limit is None else _receive)

    async def take(self, phases: Phases) -> None:
        """Read the body, and parse a large one; one large body of a person is here at a time.

        Raises TooLarge and, for JSON with too many or too deep values, HTTPException: here, because
        FastAPI takes every error while it reads for a mistake in the JSON. Raises TooBusy.
        """
        if not self._is_large:
            await self.body()
            return
        async with phases.taking_much():
            # Within the turn: whoever sends the next such body at once is slowed down.
            async with refusing_late(HTTPException, TooLarge):
                await self._take_much(phases)
            if isinstance(self._parsed, json.JSONDecodeError):
                # FastAPI's error and the frames that it passes keep one another for a while.
                self._body = b"{"
                await asyncio.sleep(REFUSE_AFTER_S)

    @property
    def _is_large(self) -> bool:
        return _said_length(self) > CHECKED_IN_LOOP or "transfer-encoding" in self.headers

    async def _take_much(self, phases: Phases) -> None:
        body = await self.body()
        if "json" in self.headers.get("content-type", ""):
            self._parsed = await phases.parse(lambda: _parsed(body))

    async def json(self) -> Any:
        """The parsed body. Raises HTTPException for one with too many or too deep values."""
        parsed = _parsed(await self.body()) if self._parsed is None else self._parsed
        if isinstance(parsed, json.JSONDecodeError):
            raise parsed
        return parsed


def _parsed(body: bytes) -> Any:
    """Parse JSON; return a JSONDecodeError for what is none.

    Raises HTTPException for what is refused unread.
    """
    try:
        check_text(body)
        return json.loads(body)
    except json.JSONDecodeError as error:
        found = f"line {error.lineno}, column {error.colno}: {error.msg}"
        return json.JSONDecodeError(found, "", error.pos)  # without the text
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"the body is not UTF-8 at byte {error.start}") from None
    except Malformed as error:
        raise HTTPException(400, f"the body cannot be read: {error}") from error
    except ValueError as error:
        raise HTTPException(413, f"the JSON of the body is too large: {error}") from error


def _must_fit(size: int, limit: int | None) -> None:
    if limit is not None and size > limit:
        raise TooLarge(
            f"the body is larger than {limit // KIB} KiB, the limit for this operation",
            advice=SEND_LESS,
        )


def _said_length(request: Request) -> int:
    """Return the length that the request declares; the server has checked that it is a number."""
    return int(request.headers.get("content-length", "0"))
