"""A small client of the service's REST API: one method per verb, paging, waiting for a run.

Every script beside it uses this and nothing else to reach the service. It knows no resource: paths
and bodies are said where they are used.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx

ENDED = {"succeeded", "failed", "crashed", "cancelled", "paused"}
POLL_S = 0.5
# A machine that also trains can be slow to answer; a client that gives up ends the whole script.
ANSWER_WITHIN_S = 300.0


class Refused(RuntimeError):
    """The service refused a request; the message says what it found and what it advises."""


class RunEndedBadly(RuntimeError):
    """A run did not succeed; the message says its cause and what to do."""


class Podium:
    """One person's access to one service."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(ANSWER_WITHIN_S, connect=10.0),
        )

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """What stands at `path`."""
        return self._answer(self._http.get(path, params=query))

    def text(self, path: str, **query: Any) -> str:
        """What stands at `path` where that is no JSON, such as a table in Markdown."""
        return self._good(self._http.get(path, params=query)).text

    def post(self, path: str, body: Any = None, **query: Any) -> Any:
        """Send `body` as JSON; None if the service has nothing to answer (204)."""
        return self._answer(self._http.post(path, json=body, params=query))

    def upload(self, path: str, content: str, **query: Any) -> Any:
        """Send records, one JSON object a line."""
        headers = {"Content-Type": "application/x-ndjson"}
        return self._answer(
            self._http.post(path, content=content.encode(), params=query, headers=headers)
        )

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every item of a list, page after page."""
        cursor = None
        while True:
            page = self.get(path, **query, **({"cursor": cursor} if cursor else {}))
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def records(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every record of a file with one JSON object a line."""
        with self._http.stream("GET", path, params=query) as response:
            if not response.is_success:
                response.read()
                raise Refused(_problem(response))
            yield from (json.loads(line) for line in _lines(response) if line)

    def wait(self, run_id: str, on_progress: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Follow a run to its end and return it; `on_progress` sees it at every look.

        A crashed run that the service retries by itself has not ended. Raises RunEndedBadly if it
        ended in another way than `succeeded`.
        """
        while True:
            run: dict[str, Any] = self.get(f"/runs/{run_id}")
            on_progress(run)
            if run["state"] == "succeeded":
                return run
            if run["state"] in ENDED and not run["is_retried"]:
                raise RunEndedBadly(_why(run, self.url))
            time.sleep(POLL_S)

    def _answer(self, response: httpx.Response) -> Any:
        return response.json() if self._good(response).content else None

    def _good(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        raise Refused(_problem(response))


def _lines(response: httpx.Response) -> Iterator[bytes]:
    # httpx's own iter_lines also breaks at characters that may stand inside JSON, such as U+2028.
    rest = b""
    for chunk in response.iter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    yield rest


def _problem(response: httpx.Response) -> str:
    request = f"{response.request.method} {response.request.url.path}"
    if "json" not in response.headers.get("content-type", ""):
        return f"{request}: {response.status_code} {response.reason_phrase}"
    problem = response.json()
    parts = (problem.get(name) for name in ("title", "detail", "advice", "errors"))
    return f"{request}: {response.status_code} {_sentences(*parts)}"


def _why(run: dict[str, Any], url: str) -> str:
    error = run.get("error") or {}
    reason = _sentences(error.get("cause"), error.get("message"), error.get("advice"))
    reason = reason or _sentences(run.get("state_sentence"))
    return f"run '{run['name']}' is {run['state']}: {reason} Look at {url}/runs/{run['id']}"


def _sentences(*parts: object) -> str:
    """The parts that are not empty, each with one full stop at its end."""
    return " ".join(f"{str(part).rstrip('.')}." for part in parts if part)
