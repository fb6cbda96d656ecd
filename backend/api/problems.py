"""Errors as `application/problem+json`: what was found, what to do, and the request's id.

Installed by `create_app`; the only place where an exception becomes an HTTP answer.
"""

import json
import logging
import math
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from backend.deps import Replayed
from backend.errors import ServiceError

log = logging.getLogger("podium.api")

_ADVICE = {
    404: "Look the address up in /api/v1/openapi.json.",
    405: "Look the methods of this address up in /api/v1/openapi.json.",
}


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Replayed, _replayed)
    app.add_exception_handler(Exception, _bug)


def problem(
    request: Request,
    *,
    status: int,
    title: str,
    detail: str,
    advice: str | None = None,
    **extra: Any,
) -> Response:
    """One answer in the shape of RFC 9457."""
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "advice": advice,
        "request_id": request.scope.get("podium.request_id"),
        **extra,
    }
    # The answer to a bug leaves outside of the layer that gives all others their request id.
    headers = {"X-Request-Id": str(body["request_id"])}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    # ASCII: text of the request may stand in it, lone surrogates too.
    content = json.dumps(body, default=str).encode("ascii")
    return Response(content, status, headers, media_type="application/problem+json")


def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    answer = problem(
        request,
        status=error.status,
        title=error.title,
        detail=error.detail,
        advice=error.advice,
        **error.extra,
    )
    if error.retry_after_s is not None:
        answer.headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    return answer


def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [_one(found["loc"], found["msg"]) for found in error.errors()]
    first = errors[0] if errors else {"path": "", "message": "the request is not valid"}
    return problem(
        request,
        status=422,
        title="Invalid input",
        detail=": ".join(part for part in first.values() if part),
        advice="Correct the named fields and send the request again.",
        errors=errors,
    )


def _one(path: Sequence[int | str], message: str) -> dict[str, str]:
    # The first element says body, query or path; the rest is the place that the client knows.
    return {"path": ".".join(str(part) for part in path[1:]), "message": message}


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = problem(
        request,
        status=error.status_code,
        title="Request failed",
        detail=str(error.detail),
        advice=_ADVICE.get(error.status_code),
    )
    answer.headers.update(error.headers or {})
    return answer


def _replayed(request: Request, error: Exception) -> Response:
    assert isinstance(error, Replayed)
    body = error.kept.answer["body"]
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"Idempotency-Replayed": "true"}
    media_type = None if body is None else "application/json"
    return Response(content, error.kept.status, headers, media_type)


def _bug(request: Request, error: Exception) -> Response:
    log.error(
        "request.failed request_id=%s method=%s path=%s",
        request.scope.get("podium.request_id"),
        request.method,
        request.url.path,
        exc_info=error,
    )
    return problem(
        request,
        status=500,
        title="Something went wrong",
        detail="the service had an unexpected error",
        advice="Look for this request id in the service's log (api.log); report the lines found "
        "there if it happens again.",
    )
