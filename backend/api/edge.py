"""What happens to every request before and after its route: id, limits, security headers.

Pure ASGI, installed by `create_app`; streams pass through untouched.
"""

import re
import secrets
import time
from collections.abc import Collection, Sequence

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.problems import problem
from backend.domain.own_address import OwnAddress
from backend.phases import Phases
from backend.pressure.visitors import Network, address_of, is_trusted
from backend.routes import SEND_LESS
from backend.store.db import one_session_at_a_time
from backend.traces.requests import Numbers, tell

MIB = 1 << 20
BODY_LIMIT = 8 * MIB
# Characters; the longest that is of use is a list of a hundred runs with the names of metrics.
PATH_LIMIT = 1000
QUERY_LIMIT = 30_000
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_Headers = list[tuple[bytes, bytes]]
# Of every answer that does not say something else itself.
_SECURITY: _Headers = [
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self'; style-src 'self'; "
        b"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
        b"object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_OF_API: _Headers = [*_SECURITY, (b"cache-control", b"no-store")]


class Edge:
    """The outermost layer of the application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        own: OwnAddress,
        body_limit: int = BODY_LIMIT,
        trusted: Sequence[Network] = (),
    ) -> None:
        self.app = app
        self.own = own
        self.body_limit = body_limit
        self.trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        asked = headers.get("x-request-id", "")
        request_id = asked if _REQUEST_ID.fullmatch(asked) else secrets.token_hex(8)
        scope["podium.request_id"] = request_id
        scope.setdefault("state", {})
        self._look_behind_proxies(scope, headers)

        began = time.monotonic()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _observe(scope, message["status"], time.monotonic() - began)
                message["headers"] = _headers(message["headers"], request_id, scope["path"])
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is None:
            try:
                with one_session_at_a_time():
                    await self.app(scope, self._limited(scope, receive), send_with_headers)
            finally:
                # Else a request and its phases keep one another, and its body, for a while.
                scope["state"].clear()
            return
        status, detail, advice = refusal
        answer = problem(
            Request(scope), status=status, title="Refused", detail=detail, advice=advice
        )
        await answer(scope, receive, send_with_headers)

    def _look_behind_proxies(self, scope: Scope, headers: Headers) -> None:
        client = scope.get("client")
        peer = client[0] if client else None
        forwarded_for = ",".join(headers.getlist("x-forwarded-for"))
        scope["podium.address"] = address_of(peer, forwarded_for, self.trusted)
        if peer and is_trusted(peer, self.trusted):
            scheme = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
            if scheme in ("http", "https"):
                scope["scheme"] = scheme

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
        host = headers.get("host", "")
        if not self.own.answers_to(host):
            return (
                400,
                f"this service does not answer to the host {host[:255]!r}",
                "Open it at its own address. Its operator can name this host in PODIUM_PUBLIC_URL "
                "or PODIUM_ALLOWED_HOSTS.",
            )
        raw = scope.get("raw_path") or b""
        if b"%00" in raw or b"%00" in scope["query_string"]:
            return 400, "the address contains an encoded NUL character (%00)", "Remove it."
        for part, text, limit in (
            ("path", raw, PATH_LIMIT),
            ("query", scope["query_string"], QUERY_LIMIT),
        ):
            if len(text) > limit:
                return (
                    414,
                    f"the {part} of the address has {len(text)} characters; at most {limit} are "
                    "allowed",
                    "Look the address up in /api/v1/openapi.json.",
                )
        length = headers.get("content-length", "0")
        if not _streams(scope) and length.isdigit() and int(length) > self.body_limit:
            return 413, self._too_large(), SEND_LESS
        return None

    def _too_large(self) -> str:
        return f"the body is larger than {self.body_limit // MIB} MiB"

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        if _streams(scope):
            return receive
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.body_limit:
                # Not TooLarge: FastAPI takes any other error while it reads for bad JSON.
                raise HTTPException(413, self._too_large())
            return message

        return limited


def _observe(scope: Scope, status: int, seconds: float) -> None:
    """Count and log a request whose answer begins."""
    phases: Phases | None = scope["state"].get("phases")
    operation = phases.name if phases else "other"
    numbers: Numbers = scope["app"].state.numbers
    numbers.answered(operation, status, seconds)
    seen = {
        "request_id": scope["podium.request_id"],
        "method": scope["method"],
        "operation": operation,
        "address": scope["podium.address"],
    }
    tell(seen | (phases.seen() if phases else {}), status, seconds)


def _streams(scope: Scope) -> bool:
    # Imports count their own bytes while they spool them to disk.
    return bool(re.fullmatch(r"/api/v1/projects/[^/]+/imports", scope["path"]))


def _headers(said: Collection[tuple[bytes, bytes]], request_id: str, path: str) -> _Headers:
    """The headers of an answer that says these itself."""
    added = _OF_API if path.startswith("/api/") else _SECURITY
    own = {name for name, _ in said}
    return [
        *((name, value) for name, value in said if name != b"x-request-id"),
        (b"x-request-id", request_id.encode()),
        *(one for one in added if one[0] not in own),
    ]
