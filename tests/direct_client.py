"""A client that calls the application itself, with one step to its event loop per request.

Starlette's client goes to the loop and back eight times per request, a third of what a small
request costs. Answers are whole here; tests of streams start a server.
"""

from typing import Any
from urllib.parse import unquote

import anyio
import httpx2
from anyio.from_thread import BlockingPortal
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.types import ASGIApp, Message, Scope


class DirectClient(TestClient):
    """Starlette's client on the loop of an application that runs already."""

    def __init__(self, app: FastAPI, portal: BlockingPortal, **options: Any) -> None:
        super().__init__(app, **options)
        # As in production: requests of all clients share the event loop that lifespan began on.
        self.portal = portal
        self._transport = _Direct(app, portal)


class _Direct(httpx2.BaseTransport):
    def __init__(self, app: ASGIApp, portal: BlockingPortal) -> None:
        self._app = app
        self._portal = portal

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        said = self._portal.call(self._answer, _scope_of(request), request.read())
        if not said:
            raise AssertionError("the application did not answer")
        start, *parts = said
        return httpx2.Response(
            start["status"],
            headers=start["headers"],
            content=b"".join(part.get("body", b"") for part in parts),
            request=request,
        )

    async def _answer(self, scope: Scope, body: bytes) -> list[Message]:
        """What the application sends. Raises what it raises."""
        asked: list[Message] = [{"type": "http.request", "body": body}]
        said: list[Message] = []
        is_over = anyio.Event()

        async def receive() -> Message:
            if asked:
                return asked.pop()
            await is_over.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            said.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                is_over.set()

        await self._app(scope, receive, send)
        return said


def _scope_of(request: httpx2.Request) -> Scope:
    url = request.url
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "scheme": url.scheme,
        "path": unquote(url.path),
        "raw_path": url.raw_path.split(b"?", 1)[0],
        "root_path": "",
        "query_string": url.query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("testclient", 50000),
        "server": (url.host, url.port or 80),
        "state": {},
        "extensions": {},
    }
