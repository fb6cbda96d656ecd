"""The OpenAPI document: what FastAPI knows, and what every route has in common.

FastAPI sees parameters and good answers; who may ask, and every way in which a request can be
refused, is added here from `backend.domain.operations` and from what stands around each route.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import compile_path

from backend.auth import COOKIE, SAFE_METHODS
from backend.domain.operations import Of
from backend.routes import ApiRoute

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
_REFUSED = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
# Of any request: a foreign host, who may not, an address that is too long, too many requests, no
# database. Who signs in is refused like everybody else.
_ALWAYS = (400, 401, 403, 408, 414, 429, 500, 503)


def install(app: FastAPI, routers: Mapping[str, Iterable[APIRouter]]) -> None:
    """Let the application describe these routers, by the prefix below which they stand, so."""
    routes = [
        (prefix + route.path, route)
        for prefix, some in routers.items()
        for router in some
        for route in router.routes
        if isinstance(route, ApiRoute)
    ]

    def _described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, routes)
        return app.openapi_schema

    app.openapi = _described  # type: ignore[method-assign]
    app.state.addresses = [(compile_path(path)[0], route.methods) for path, route in routes]


def methods_of(app: FastAPI, path: str) -> list[str]:
    """Every method that an address of the API has, none if it is not one."""
    found = (methods for address, methods in app.state.addresses if address.match(path))
    return sorted({method for methods in found for method in methods})


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
        found |= {415, 507}
    return sorted(found)


def _document(app: FastAPI, routes: Iterable[tuple[str, ApiRoute]]) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    for path, route in routes:
        for method in route.methods or ():
            _complete(document["paths"][path][method.lower()], route)
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
        described["x-scope"] = operation.scope
        described["x-role"] = operation.role
    answers = described["responses"]
    for status in statuses(route):
        answers[str(status)] = {"description": HTTPStatus(status).phrase, "content": _REFUSED}
