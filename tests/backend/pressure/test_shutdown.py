"""SIGTERM under load: whatever the service has done for somebody, it has told them."""

import signal
import threading
from pathlib import Path

import httpx
from sqlalchemy import select

from backend.store.db import Database
from backend.store.tables.data import Project
from tests import processes
from tests.served import Server

SENDERS = 12
# Answers that have come before the signal does.
BEFORE = 60


class Sender:
    """Sends one request after the other over one connection until the server closes it."""

    def __init__(self, server: Server, number: int) -> None:
        self._client = httpx.Client(
            base_url=server.client.base_url, headers=server.client.headers, timeout=60, verify=False
        )
        self._number = number
        self.answered: list[str] = []
        self.wrong: list[str] = []
        self.end = ""
        self.thread = threading.Thread(target=self._send)
        self.thread.start()

    def _send(self) -> None:
        with self._client as client:
            while not self.end:
                name = f"sender {self._number}, project {len(self.answered)}"
                try:
                    answer = client.post("/projects", json={"name": name})
                except httpx.TransportError as error:
                    self.end = f"{type(error).__name__}: {error}"
                    return
                if answer.status_code != 201 or answer.json()["name"] != name:
                    self.wrong.append(answer.text)
                    return
                self.answered.append(name)


def test_what_is_done_when_the_service_ends_was_answered(sqlite_url: str, tmp_path: Path) -> None:
    server = Server(sqlite_url, tmp_path / "data")
    senders = [Sender(server, number) for number in range(SENDERS)]
    processes.wait_until(
        lambda: sum(len(one.answered) for one in senders) >= BEFORE, "the service has work"
    )

    server.process.send_signal(signal.SIGTERM)
    for one in senders:
        one.thread.join(processes.PATIENCE_S)

    assert server.process.wait(timeout=processes.PATIENCE_S) in (0, -signal.SIGTERM)
    server.close()
    assert [one.wrong for one in senders] == [[]] * SENDERS
    # No answer breaks off in its middle.
    assert not [one.end for one in senders if "peer closed" in one.end or not one.end]
    with Database(sqlite_url).read() as session:
        stored = set(session.scalars(select(Project.name)))
    assert stored == {name for one in senders for name in one.answered}
