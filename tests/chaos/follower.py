"""A browser's way of following a run: it comes back after every break, with the last id it saw."""

import json
import threading
from typing import Any

import httpx

# The server pings more often; silence for longer is a dead connection.
_SILENCE_S = 20.0
_BREAK_S = 0.1


class Follower(threading.Thread):
    """Keeps every event of one run's stream, in the order in which they came."""

    def __init__(self, url: str, key: str, run_id: str) -> None:
        super().__init__(name=f"follower-{run_id}", daemon=True)
        self.events: list[dict[str, Any]] = []
        self.types: list[str] = []
        self.breaks = 0
        self._url = f"{url}/api/v1/runs/{run_id}/stream"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._last_id = ""
        self._end = threading.Event()

    def run(self) -> None:
        """Follow until `stop`."""
        timeout = httpx.Timeout(_SILENCE_S)
        with httpx.Client(
            headers=self._headers, timeout=timeout, trust_env=False, verify=False
        ) as client:
            while not self._end.is_set():
                try:
                    self._follow(client)
                except httpx.HTTPError:
                    self.breaks += 1
                self._end.wait(_BREAK_S)

    def stop(self) -> None:
        """End at the next line."""
        self._end.set()

    def _follow(self, client: httpx.Client) -> None:
        headers = {"Last-Event-ID": self._last_id} if self._last_id else {}
        with client.stream("GET", self._url, headers=headers) as answer:
            if answer.status_code != 200:
                self.breaks += 1
                return
            block: dict[str, str] = {}
            for line in answer.iter_lines():
                if self._end.is_set():
                    return
                if line:
                    name, _, value = line.partition(": ")
                    block[name] = value
                    continue
                self._take(block)
                block = {}

    def _take(self, block: dict[str, str]) -> None:
        """A block counts when its blank line has come, as browsers have it."""
        if "data" in block:
            self.types.append(block["event"])
            self.events.append(json.loads(block["data"]))
        self._last_id = block.get("id", self._last_id)
