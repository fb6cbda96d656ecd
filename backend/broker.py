"""The broker between API and worker: `wake` sends a message that there is work.

Called by routes after their commit and by workers (the sweeper, their presence, and a supervisor
that drains); `worker.celery_app` takes its broker settings from here. The store is the truth: a
message that is lost, doubled or late changes nothing, so a dead broker is a warning in the log and
never an error.
"""

import fcntl
import logging
import os
import time
import uuid
from collections import deque
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from queue import Empty
from typing import Any

from celery import Celery
from celery.exceptions import CeleryError
from kombu import Connection
from kombu.exceptions import KombuError
from kombu.transport import filesystem, virtual
from kombu.utils.json import dumps, loads
from redis.exceptions import RedisError

from backend.errors import Unavailable
from backend.settings import Settings

log = logging.getLogger("podium.broker")

TASK = "runs.execute"
QUEUE = "runs"
POLLING_INTERVAL_S = 0.1  # kombu's own 1 s makes a message late; 0.1 s delivers in about 50 ms.
LONGEST_WAIT_S = 0.25
CONNECT_TIMEOUT_S = 1.0
KEEP_PROCESSED_S = 3600.0

_BROKER_ERRORS = (KombuError, CeleryError, RedisError, OSError)


def broker_settings(settings: Settings) -> dict[str, Any]:
    """Celery's settings for the broker and the message, the same in API and worker."""
    return {
        "task_default_queue": QUEUE,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        "worker_prefetch_multiplier": 1,
        "worker_enable_remote_control": False,
        "broker_heartbeat": 0,
        "broker_connection_timeout": CONNECT_TIMEOUT_S,
        "broker_connection_retry_on_startup": True,
        **(_files(settings) if settings.broker_url is None else _server(settings.broker_url)),
    }


def _server(url: str) -> dict[str, Any]:
    options = {"socket_connect_timeout": CONNECT_TIMEOUT_S, "socket_keepalive": True}
    return {"broker_url": url, "broker_transport_options": options}


def _files(settings: Settings) -> dict[str, Any]:
    folder = settings.data_dir / "broker"
    return {
        "broker_url": "filesystem://localhost",
        "broker_transport": "backend.broker:FileTransport",
        "broker_transport_options": {
            "data_folder_in": str(folder / "queue"),
            "data_folder_out": str(folder / "queue"),
            "store_processed": True,
            "processed_folder": str(folder / "processed"),
            "control_folder": str(folder / "control"),
            "polling_interval": POLLING_INTERVAL_S,
        },
    }


def wake(settings: Settings, run_id: str) -> bool:
    """Wake one thread of a worker; return whether the broker took the message.

    The id is for the log alone. Takes a second at most, tries once and raises nothing that a broker
    can cause.
    """
    try:
        _caller(settings).send_task(TASK, args=[run_id], queue=QUEUE, retry=False)
    except _BROKER_ERRORS as error:
        reason = f"{type(error).__name__}: {error}"
        log.warning("queue.wake_failed", extra={"run_id": run_id, "error": reason})
        return False
    return True


def require_broker(settings: Settings) -> None:
    """Ask the broker for a connection, for a second at most; files need none.

    Raises Unavailable if it does not answer.
    """
    if settings.broker_url is None:
        return
    options = {"socket_connect_timeout": CONNECT_TIMEOUT_S, "socket_timeout": CONNECT_TIMEOUT_S}
    try:
        with Connection(settings.broker_url, transport_options=options) as connection:
            connection.ensure_connection(max_retries=1, timeout=CONNECT_TIMEOUT_S)
    except _BROKER_ERRORS as error:
        raise Unavailable(
            f"the broker does not answer ({error})",
            advice="Check that the broker runs and that PODIUM_BROKER_URL names it.",
        ) from error


@lru_cache(maxsize=8)
def _caller(settings: Settings) -> Celery:
    app = Celery("podium", set_as_current=False)
    app.conf.update(broker_settings(settings))
    once = {"max_retries": 0, "socket_timeout": CONNECT_TIMEOUT_S}
    app.conf.broker_transport_options = app.conf.broker_transport_options | once
    return app


def clean_processed(settings: Settings, *, older_than_s: float = KEEP_PROCESSED_S) -> int:
    """Delete what the filesystem broker has delivered long ago; returns how many files.

    Others clean, too, and may be first; a file of somebody else's stays.
    """
    folder = settings.data_dir / "broker" / "processed"
    if settings.broker_url is not None or not folder.is_dir():
        return 0
    limit = time.time() - older_than_s
    deleted = 0
    for entry in os.scandir(folder):
        with suppress(OSError):
            if entry.stat().st_mtime < limit:
                Path(entry.path).unlink()
                deleted += 1
    return deleted


class FileChannel(filesystem.Channel):  # type: ignore[misc]  # kombu ships no types
    """kombu's filesystem channel without torn reads.

    Theirs creates a file and writes it afterwards, so a reader that is too early sees an empty one,
    which Celery takes for the end of the world. Here files appear whole, by rename.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._listed: dict[str, deque[str]] = {}
        for folder in (self.data_folder_in, self.processed_folder, self.control_folder):
            Path(folder).mkdir(parents=True, exist_ok=True)

    def _put(self, queue: str, payload: Any, **_: Any) -> None:
        name = f"{time.time_ns():020d}_{uuid.uuid4().hex}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, dumps(payload))

    def _get(self, queue: str) -> Any:
        # One listing serves many messages: listing for each would be quadratic in a long queue.
        names = self._listed.setdefault(queue, deque())
        if not names:
            ending = f".{queue}.msg"
            listed = os.listdir(self.data_folder_in)
            names.extend(sorted(name for name in listed if name.endswith(ending)))
        while names:
            payload = self._take(names.popleft())
            if payload is not None:
                return payload
        raise Empty

    def _take(self, name: str) -> Any:
        """The message in this file, None if another reader had it or it is no message."""
        taken = Path(self.processed_folder) / name
        try:
            os.rename(Path(self.data_folder_in) / name, taken)
            return loads(taken.read_text())
        except FileNotFoundError:
            return None
        except ValueError:
            log.warning("queue.not_a_message", extra={"file": str(taken)})
            return None

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        file = self._exchange_file(exchange)
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with file.with_suffix(".lock").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            table = self.get_table(exchange)
            if row not in table:
                _write_whole(file, dumps([row, *table]))


def _write_whole(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    unfinished.write_text(text)
    os.replace(unfinished, path)


class FileTransport(filesystem.Transport):  # type: ignore[misc]  # kombu ships no types
    """The filesystem broker of one data directory."""

    Channel = FileChannel

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        # Theirs is one per process, so that a second data directory would never be bound.
        self.state = virtual.BrokerState()

    def drain_events(self, connection: Any, timeout: float | None = None) -> Any:
        """Return to the caller often: Celery looks only then whether it is to end."""
        waited = LONGEST_WAIT_S if timeout is None else min(timeout, LONGEST_WAIT_S)
        return super().drain_events(connection, timeout=waited)
