"""Messages as files: kombu's filesystem transport, made fit for many processes at one folder.

Loaded by Celery, which finds it by the name that `backend.broker` sets; an API that wakes nobody
loads neither.
"""

import fcntl
import logging
import os
import time
import uuid
from collections import deque
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem, virtual
from kombu.utils.json import dumps, loads

log = logging.getLogger("podium.broker")

LONGEST_WAIT_S = 0.25


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
