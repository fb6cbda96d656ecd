"""The broker between API and worker: `wake` sends a message that there is work.

Called by routes after their commit and by workers (the sweeper, their presence, and a supervisor
that drains); `worker.celery_app` takes its broker settings from here. The store is the truth: a
message that is lost, doubled or late changes nothing, so a dead broker is a warning in the log and
never an error.
"""

import logging
import os
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import Unavailable
from backend.settings import Settings

# Celery, kombu and the client of Redis take long to load, so an API does so when it first wakes a
# worker: where they are used.
if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger("podium.broker")

TASK = "runs.execute"
QUEUE = "runs"
POLLING_INTERVAL_S = 0.1  # kombu's own 1 s makes a message late; 0.1 s delivers in about 50 ms.
CONNECT_TIMEOUT_S = 1.0
KEEP_PROCESSED_S = 3600.0


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
        "broker_transport": "backend.file_transport:FileTransport",
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

    The id is for the log alone. Takes a second at most, and the first time as long as Celery takes
    to load; tries once and raises nothing: the store has what is to be done.
    """
    try:
        _caller(settings).send_task(TASK, args=[run_id], queue=QUEUE, retry=False)
    except Exception as error:  # noqa: BLE001 - a client that cannot be loaded, too
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
    try:
        _connect(settings.broker_url)
    except ImportError as error:  # Named first: the errors of the client are loaded with it.
        raise Unavailable(
            f"the client of the broker cannot be loaded ({error})",
            advice="Install Podium again, then restart it.",
        ) from error
    except _broker_errors() as error:
        raise Unavailable(
            f"the broker does not answer ({error})",
            advice="Check that the broker runs and that PODIUM_BROKER_URL names it.",
        ) from error


def _connect(url: str) -> None:
    from kombu import Connection

    # Loaded now, while one that is missing can still be told.
    _broker_errors()
    options = {"socket_connect_timeout": CONNECT_TIMEOUT_S, "socket_timeout": CONNECT_TIMEOUT_S}
    with Connection(url, transport_options=options) as connection:
        connection.ensure_connection(max_retries=1, timeout=CONNECT_TIMEOUT_S)


def _broker_errors() -> tuple[type[Exception], ...]:
    from celery.exceptions import CeleryError
    from kombu.exceptions import KombuError
    from redis.exceptions import RedisError

    return KombuError, CeleryError, RedisError, OSError


@lru_cache(maxsize=8)
def _caller(settings: Settings) -> "Celery":
    from celery import Celery

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
