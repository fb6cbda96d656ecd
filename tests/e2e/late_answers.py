"""Answers that a test keeps back until somebody has done something else on the page."""

from playwright.sync_api import APIResponse, Error, Page, Request, Route

from tests.e2e.interception import intercept
from tests.processes import wait_until

# Until what an answer changes is drawn.
TWO_FRAMES = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""


class LateAnswer:
    """The answer to the first request to an address, with a method and a body that says something.

    The server has done what was asked for, and the page waits.
    """

    def __init__(self, page: Page, address: str, body: str = "", *, method: str = "") -> None:
        self._page = page
        self._address = address
        self._body = body
        self._method = method
        self._kept: tuple[Route, APIResponse] | None = None
        self._is_taken = False
        self._failure: Error | None = None
        self._under_way: set[Request] = set()
        page.on("request", lambda request: self._under_way.add(request))
        page.on("requestfinished", lambda request: self._under_way.discard(request))
        page.on("requestfailed", lambda request: self._under_way.discard(request))
        intercept(page, address, self._take)

    def _take(self, route: Route) -> None:
        if self._is_taken or not self._is_meant(route.request):
            return route.fallback()
        self._is_taken = True
        try:
            self._kept = route, route.fetch()
        except Error as failure:  # Nobody hears of it otherwise.
            self._failure = failure
        return None

    def _is_meant(self, request: Request) -> bool:
        is_asked = self._method in ("", request.method)
        return is_asked and self._body in (request.post_data or "")

    def wait(self) -> None:
        """Wait until the server has answered."""
        wait_until(self._is_answered, f"{self._address} is answered")

    def _is_answered(self) -> bool:
        self._page.evaluate("true")
        if self._failure is not None:
            raise self._failure
        return self._kept is not None

    def come(self, *, is_last: bool = True) -> None:
        """Let the page have it; if it is the last, wait until all is done that follows."""
        self.wait()
        assert self._kept is not None
        route, answer = self._kept
        with self._page.expect_event("requestfinished", lambda one: one == route.request):
            route.fulfill(response=answer)
        self._page.evaluate(TWO_FRAMES)
        if is_last:
            wait_until(self._is_quiet, f"nothing more comes of {self._address}")

    def _is_quiet(self) -> bool:
        self._page.evaluate(TWO_FRAMES)
        return all(is_without_end(one) for one in self._under_way)


def is_without_end(request: Request) -> bool:
    """Whether no page is told that it has ended: a stream, or the worker that tabs share."""
    return request.resource_type == "eventsource" or "/shared-worker-" in request.url
