"""One server per data directory: owns the API and one worker, and ends both.

Called by `podium up` and `podium demo`; `backup` uses its lock, `doctor` and `sign-in` read the
address of the server. It starts the worker by command line, never by import.
"""

import fcntl
import http.client
import json
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any

from backend.auth import administrator, ensure_admin, new_sign_in_link
from backend.errors import Conflict, Unavailable
from backend.machine.wall_clock import now
from backend.ops.child import Child
from backend.ops.listening import listen, reach_of, url_of
from backend.ops.migration import migrate
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import audit, users

READY_TIMEOUT_S = 60.0
WATCH_INTERVAL_S = 0.2
LOCK_TRIES, LOCK_TRY_S = 10, 0.02
# Beyond the trainers' grace: time to hand in what they left.
END_MARGIN_S = 15.0
# The own server is on this machine: a proxy that the environment names does not reach it.
_without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Launcher:
    """API and worker as children, between `start` and `stop`."""

    def __init__(self, settings: Settings, *, say: Callable[[str], None]) -> None:
        """`say` gets sentences for the person at the terminal."""
        self.settings = settings
        self.url = ""
        self.reach = ""
        self._say = say
        self._lock: IO[str] | None = None
        self._socket: socket.socket | None = None
        self._children: list[Child] = []

    def start(self) -> None:
        """Lock, migrate, bind, start both children and wait until the API is ready.

        Raises Conflict if another server holds the data directory, Unavailable if the address is
        taken or the API does not become ready.
        """
        (self.settings.data_dir / "models").mkdir(parents=True, exist_ok=True)
        self._lock = hold_data_dir(self.settings.data_dir)
        if self.settings.is_embedded_database:
            migrate(self.settings)
        self._socket = listen(self.settings)
        self.url = url_of(self._socket)
        self.reach = reach_of(self._socket)
        self._children = self._make_children(self._socket)
        for child in self._children:
            child.start()
        self._wait_until_ready()
        _write_json(self.settings.data_dir / "server.json", {"url": self.url, "pid": os.getpid()})

    def watch(self, is_done: Callable[[], bool]) -> None:
        """Keep the children alive until `is_done`."""
        while not is_done():
            for child in self._children:
                happened = child.keep_alive()
                if happened:
                    self._say(happened)
            time.sleep(WATCH_INTERVAL_S)

    def stop(self) -> None:
        """End the children, killing what is left after the grace, and give the directory back."""
        if self._lock is None:
            return  # The directory is another server's, and so is its server.json.
        (self.settings.data_dir / "server.json").unlink(missing_ok=True)
        for child in self._children:
            child.ask_to_end()
        deadline = time.monotonic() + self.settings.stop_grace_s + END_MARGIN_S
        try:
            while time.monotonic() < deadline and not all(c.has_ended() for c in self._children):
                time.sleep(WATCH_INTERVAL_S / 4)
        finally:
            for child in self._children:
                child.kill()
            if self._socket is not None:
                self._socket.close()
            self._lock.close()
            self._lock = None

    def sign_in_link(self) -> str:
        """A fresh one-time link into the browser."""
        return sign_in_link(self.settings, self.url)

    def _make_children(self, listener: socket.socket) -> list[Child]:
        logs = self.settings.data_dir / "logs"
        environment = {**os.environ, "PODIUM_DATA_DIR": str(self.settings.data_dir)}
        celery = [sys.executable, "-m", "celery", "--app", "worker.celery_app", "worker"]
        return [
            Child(
                "The API",
                [sys.executable, "-m", "backend.ops.serve", str(listener.fileno())],
                log=logs / "api.log",
                environment=environment,
                pass_fds=(listener.fileno(),),
            ),
            Child("The worker", celery, log=logs / "worker.log", environment=environment),
        ]

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        api = self._children[0]
        while not answers(self.url, "/readyz"):
            if api.has_ended() or time.monotonic() > deadline:
                tail = api.log.read_text(errors="replace")[-2000:]
                raise Unavailable(
                    f"the API ended or was not ready after {READY_TIMEOUT_S:.0f} s; the end of "
                    f"its log {api.log}:\n{tail}",
                    advice="Correct what the log names, then start again.",
                )
            time.sleep(WATCH_INTERVAL_S / 4)


def sign_in_link(
    settings: Settings, url: str, *, email: str | None = None, forgets_password: bool = False
) -> str:
    """A fresh one-time link into the browser, at the public address or else at `url`.

    It signs in as the first administrator, or as the one with this e-mail address. The audit log
    says so, of nobody in particular: whoever can do this needs no account.
    """
    at = now()
    with closing(Database(settings.sqlalchemy_url)) as database:
        # Its key is in a file, which stays also where nobody has the address.
        with database.write() as session:
            ensure_admin(session, settings.data_dir, at=at)
        with database.write() as session:
            admin_id = administrator(session, email)
            link = new_sign_in_link(session, settings.public_url or url, at=at, admin_id=admin_id)
            noted: dict[str, Any] = {"before": None, "after": {"sign_in_link": "made"}}
            if forgets_password:
                users.forget_password(session, admin_id)
                noted["after"]["password"] = "removed"
            audit.record(
                session, user_id=None, action="podium sign-in", object_id=admin_id, data=noted,
                request_id=None, at=at,
            )  # fmt: skip
    return link


def hold_data_dir(data_dir: Path) -> IO[str]:
    """Lock the data directory until the returned file is closed or the process ends.

    Raises Conflict naming the holder.
    """
    lock = (data_dir / "podium.lock").open("a+", encoding="utf-8")
    if not _has_taken(lock):
        lock.close()
        raise Conflict(
            f"the data directory {data_dir} is in use by {_describe_holder(data_dir)}",
            advice="Use that server, stop it, or set PODIUM_DATA_DIR to another folder.",
        )
    # Of a launcher that was killed: a living one would have the lock.
    (data_dir / "server.json").unlink(missing_ok=True)
    return lock


def _has_taken(lock: IO[str]) -> bool:
    """Take a lock unless somebody keeps it; whoever asks whether it is held has it for a moment."""
    for _ in range(LOCK_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(LOCK_TRY_S)
    return False


def read_server(data_dir: Path) -> dict[str, Any]:
    """What `server.json` says of the server on this data directory; empty when none is ready."""
    try:
        found = json.loads((data_dir / "server.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and _is_held(data_dir) else {}


def _is_held(data_dir: Path) -> bool:
    """Whether a process has the lock; the number of a killed one may be another's by now."""
    try:
        with (data_dir / "podium.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def answers(url: str, path: str = "/healthz") -> bool:
    """Whether a server at this address answers a check of its health with 200."""
    try:
        with _without_proxy.open(f"{url}{path}", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, http.client.HTTPException):
        return False


def _describe_holder(data_dir: Path) -> str:
    server = read_server(data_dir)
    if not server:
        return "another podium process"
    return f"process {server.get('pid')} at {server.get('url')}"


def _write_json(path: Path, value: dict[str, Any]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value) + "\n", encoding="utf-8")
    temporary.replace(path)
