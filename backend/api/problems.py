"""Errors as `application/problem+json`: what was found, what to do, and the request's id.

Installed by `create_app`; the only place where an exception becomes an HTTP answer. However long
what was sent, an answer is short: it names places, and repeats no long values.
"""

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from backend.api.openapi import methods_of
from backend.errors import ServiceError
from backend.phases import Phases, Replayed
from backend.pressure.permissions import NoLongerPermitted
from backend.routes import SEND_LESS
from backend.store.db import AWAY, unanswered

log = logging.getLogger("podium.api")

MOST_ERRORS = 20
MOST_BYTES = 16_000
# Characters of one sentence, and of a place in what was sent.
_LONGEST_TEXT = 2000
_LONGEST_MESSAGE = 300
_LONGEST_PLACE = 200

# Refusals that the audit knows of: who is nobody, who may not, who tries too often.
_TRACED = frozenset({401, 403, 429})

# What pydantic says of Python: which alternative of a field was tried, and members of enumerations.
_IN_PYTHON = re.compile(r"constrained-\w+|(?:literal|function-\w+)\[.*\]")
_MEMBER = re.compile(r"<\w+\.\w+: ('\w+')>")

_ADVICE = {
    404: "Look the address up in /api/v1/openapi.json.",
    405: "Look the methods of this address up in /api/v1/openapi.json.",
    413: SEND_LESS,
}


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Replayed, _replayed)
    app.add_exception_handler(ClientDisconnect, _left)
    for error in AWAY:
        app.add_exception_handler(error, _away)
    app.add_exception_handler(Exception, _bug)


def problem(
    request: Request,
    *,
    status: int,
    title: str,
    detail: str,
    advice: str | None = None,
    retry_after_s: float | None = None,
    **extra: Any,
) -> Response:
    """One answer in the shape of RFC 9457, of at most `MOST_BYTES`."""
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": _short(detail, _LONGEST_TEXT),
        "advice": _short(advice, _LONGEST_TEXT) if advice else advice,
        "request_id": request.scope.get("podium.request_id"),
        **{
            name: value[:MOST_ERRORS] if isinstance(value, list) else value
            for name, value in extra.items()
        },
    }
    # The answer to a bug leaves outside of the layer that gives all others their request id.
    headers = {"X-Request-Id": str(body["request_id"])}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(retry_after_s)))
    content = _encoded(body)
    return Response(content, status, headers, media_type="application/problem+json")


def _encoded(body: dict[str, Any]) -> bytes:
    """The answer; lists lose their ends, and then all that is not in every answer, if it is long.

    ASCII: text of the request may stand in it, lone surrogates too.
    """
    content = json.dumps(body, default=str).encode("ascii")
    while len(content) > MOST_BYTES and any(isinstance(one, list) and one for one in body.values()):
        body = {
            name: value[: len(value) // 2] if isinstance(value, list) else value
            for name, value in body.items()
        }
        content = json.dumps(body, default=str).encode("ascii")
    if len(content) > MOST_BYTES:
        names = ("type", "title", "status", "request_id")
        short = {name: body[name] for name in names}
        # A character takes at most twelve bytes, as a pair of escaped surrogates.
        texts = {name: _short(str(body[name] or ""), 500) for name in ("detail", "advice")}
        content = json.dumps(short | texts, default=str).encode("ascii")
    return content


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    phases: Phases | None = getattr(request.state, "phases", None)
    if phases is not None and error.status in _TRACED:
        phases.trace(str(error.status))
    answer = problem(
        request,
        status=error.status,
        title=error.title,
        detail=error.detail,
        advice=error.advice,
        retry_after_s=error.retry_after_s,
        **error.extra,
    )
    if error.retry_after_s is not None:
        answer.headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    return answer


def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    all_errors = error.errors()
    unread = _unread(request, all_errors[0]) if all_errors else None
    if unread is not None:
        return unread
    errors = [_one(found["loc"], found["msg"]) for found in all_errors[:MOST_ERRORS]]
    first = errors[0] if errors else {"path": "", "message": "the request is not valid"}
    return problem(
        request,
        status=422,
        title="Invalid input",
        detail=": ".join(part for part in first.values() if part),
        advice="Correct the named fields and send the request again.",
        errors=errors,
        errors_total=len(all_errors),
    )


def _unread(request: Request, first: Mapping[str, Any]) -> Response | None:
    """The answer to a body in which no field was looked at, None if they were."""
    if first["type"] == "json_invalid":
        return problem(
            request,
            status=422,
            title="Invalid input",
            detail=f"the body is not valid JSON: {first['ctx']['error']}",
            advice="Correct the JSON at this place and send the request again.",
        )
    if tuple(first["loc"]) != ("body",) or not isinstance(first.get("input"), bytes):
        return None
    # FastAPI hands on the bytes of a body that is not said to be JSON.
    said = request.headers.get("content-type")
    return problem(
        request,
        status=422,
        title="Invalid input",
        detail=f"the body has the Content-Type {said}" if said else "the body has no Content-Type",
        advice="Send JSON, with the header `Content-Type: application/json`.",
    )


def _one(path: Sequence[int | str], message: str) -> dict[str, str]:
    # The first element says body, query or path; the rest is the place that the client knows.
    known = [part for part in path[1:] if not _IN_PYTHON.fullmatch(str(part))]
    place = ".".join(_short(str(part), _LONGEST_PLACE // 2) for part in known)
    message = _MEMBER.sub(r"\1", message)
    return {"path": _short(place, _LONGEST_PLACE), "message": _short(message, _LONGEST_MESSAGE)}


def _away(request: Request, error: Exception) -> Response:
    log.warning(
        "store.away request_id=%s error=%s",
        request.scope.get("podium.request_id"),
        type(error).__name__,
    )
    return _service_error(request, unanswered())


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
    if error.status_code == 405:
        # The router knows the methods of one route, and an address can have several.
        methods = methods_of(request.app, request.url.path)
        answer.headers["Allow"] = ", ".join(methods or ["GET", "HEAD"])
    return answer


def _replayed(request: Request, error: Exception) -> Response:
    assert isinstance(error, Replayed)
    body = error.kept.answer["body"]
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"Idempotency-Replayed": "true"}
    media_type = None if body is None else "application/json"
    return Response(content, error.kept.status, headers, media_type)


def _left(request: Request, error: Exception) -> Response:
    # Sent to nobody: in logs and numbers, a client that leaves in its body is no error of ours.
    return Response(status_code=408)


def _bug(request: Request, error: Exception) -> Response:
    if isinstance(error, NoLongerPermitted):  # Its answer has begun; the server cuts it off.
        return Response(status_code=403)
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
