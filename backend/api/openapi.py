"""The OpenAPI document: what FastAPI knows, and what every route has in common.

FastAPI sees parameters and good answers; who may ask, and every way in which a request can be
refused, is added here from `backend.domain.operations` and from what stands around each route.
"""

import asyncio
import gzip
import hashlib
import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Self

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from backend.auth import COOKIE, SAFE_METHODS
from backend.domain.operations import Of
from backend.routes import ApiRoute, LateRoute

_PROBLEM = {
    "type": "object",
    "description": "What went wrong, in the shape of RFC 9457.",
    "required": ["type", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was found, and what was expected."},
        "advice": {"type": ["string", "null"], "description": "What to do."},
        "request_id": {"type": ["string", "null"]},
        "errors": {
            "type": "array",
            "description": "The places in the request that are wrong.",
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "errors_total": {"type": "integer"},
    },
}
_SCHEMES = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key; it has the scopes it was made with.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "A browser's session. Changing requests need an Origin header of this "
        "service.",
    },
}
# What stands before the application answers so, at every address.
_DESCRIPTION = """\
The server itself refuses what is not HTTP (400), headers or a body that come too slowly (408), more
than 64 KiB of address and headers (431), and a connection where none is left (503). It then closes
the connection; such a problem has no request id."""
_REFUSED = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
# Of any request: a foreign host, who may not, an address that is too long, too many requests, no
# database. Who signs in is refused like everybody else.
_ALWAYS = (400, 401, 403, 408, 414, 429, 500, 503)
# Enough for a request to go on that waits until a route has been looked at.
_GIVE_WAY_S = 0.001


@dataclass(frozen=True)
class _Prepared:
    """The document as it is sent: anybody may ask for it, so it costs nothing to answer."""

    plain: bytes
    packed: bytes
    tag: str

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        plain = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        tag = f'W/"{hashlib.sha256(plain).hexdigest()[:32]}"'
        return cls(plain, gzip.compress(plain, mtime=0), tag)

    def answer(self, request: Request) -> Response:
        headers = {"ETag": self.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        known = request.headers.get("if-none-match", "").split(",")
        if self.tag in {one.strip() for one in known}:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.plain, headers=headers, media_type="application/json")
        headers["Content-Encoding"] = "gzip"
        return Response(self.packed, headers=headers, media_type="application/json")


class Description:
    """What applications with these routes say of them: the same, so it is made once for all."""

    def __init__(self, prefix: str, routes: Iterable[BaseRoute]) -> None:
        """The document stands below `prefix`."""
        self.address = f"{prefix}/openapi.json"
        self.routes = [route for route in routes if isinstance(route, ApiRoute)]
        self.prepared: _Prepared | None = None
        self._document: dict[str, Any] | None = None
        self._making = threading.Lock()

    def document(self, app: FastAPI) -> dict[str, Any]:
        """The document; `app`: any application with these routes."""
        with self._making:
            if self._document is None:
                self._document = _document(app, self.routes)
            return self._document

    def prepare(self, app: FastAPI) -> _Prepared:
        """The document as it is sent, which is then `prepared`."""
        document = self.document(app)
        with self._making:
            if self.prepared is None:
                self.prepared = _Prepared.of(document)
            return self.prepared


def install(app: FastAPI, description: Description) -> None:
    """Let the application describe its routes so, at the address of the document, too."""
    preparing = asyncio.Lock()

    async def read_document(request: Request) -> Response:
        # Whoever waits for it holds no thread.
        async with preparing:
            prepared = description.prepared
            if prepared is None:
                prepared = await run_in_threadpool(description.prepare, app)
        return prepared.answer(request)

    # It takes no parameters, and FastAPI takes long to find that out.
    app.add_route(description.address, read_document, methods=["GET"], include_in_schema=False)
    app.openapi = partial(description.document, app)  # type: ignore[method-assign]
    app.state.described = description.routes


def methods_of(app: FastAPI, path: str) -> list[str]:
    """Every method that an address of the API has, none if it is not one."""
    routes: list[ApiRoute] = app.state.described
    found = (route.methods for route in routes if route.path_regex.match(path))
    return sorted({method for methods in found for method in methods or ()})


def refusals(statuses: Iterable[int]) -> dict[int | str, dict[str, Any]]:
    """The answers with these statuses, as the document describes them."""
    return {
        status: {"description": HTTPStatus(status).phrase, "content": _REFUSED}
        for status in statuses
    }


def statuses(route: ApiRoute) -> list[int]:
    """Every status with which a request for this route can be refused."""
    operation, method = route.operation, min(route.methods or {"GET"})
    found = {*_ALWAYS}
    takes = route.dependant.path_params or route.dependant.query_params or route.body_field
    if takes:
        found |= {404, 422}
    if method not in SAFE_METHODS:
        found |= {404, 409, 413, 422}
    if operation.body_limit is None:
        found |= {507}
    return sorted(found)


def _look_at_each(routes: Iterable[BaseRoute]) -> None:
    """Let FastAPI look at routes, and let requests go before the next one.

    Python gives a lock again to the thread that has just released it: a request for another route
    would keep the event loop waiting until all of them have been looked at.
    """
    for route in routes:
        if isinstance(route, LateRoute):
            route.be_looked_at()
            time.sleep(_GIVE_WAY_S)


def _document(app: FastAPI, routes: Iterable[ApiRoute]) -> dict[str, Any]:
    _look_at_each(app.routes)
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=_DESCRIPTION,
        routes=app.routes,
    )
    for route in routes:
        for method in route.methods or ():
            _complete(document["paths"][route.path][method.lower()], route)
    components = document["components"]
    components["securitySchemes"] = _SCHEMES
    schemas = components["schemas"]
    schemas["Problem"] = _PROBLEM
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return document


def _complete(described: dict[str, Any], route: ApiRoute) -> None:
    operation = route.operation
    open_to_all = operation.of is Of.NOBODY
    described["security"] = [] if open_to_all else [{name: []} for name in _SCHEMES]
    if not open_to_all:
        described["x-scope"] = " or ".join(operation.scopes)
        described["x-role"] = operation.role
    answers = described["responses"]
    answers |= {str(status): answer for status, answer in refusals(statuses(route)).items()}
