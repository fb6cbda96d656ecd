"""The process that makes large answers: `python -m backend.ops.reading FD`.

Started by `backend.reading.reader`, which holds the other end of the socket FD. It ends when that
end is closed, which the kernel does whatever the API died of, when nobody has asked it for a while,
and after an answer that took much memory.
"""

import gc
import logging
import os
import socket
import sys

from backend.machine import garbage

garbage.begin_loading()

import psutil

# Their routes register what can be called. All of the API would take half as long again to load.
from backend.api import (  # noqa: F401
    comparisons,
    differences,
    metrics,
    prompts,
    results,
    samples,
    seed_groups,
    shared_prompts,
    snapshots,
    stream,
    verdicts,
    versus,
)
from backend.errors import ServiceError, error_message
from backend.reading import wire
from backend.reading.calls import Call, Made
from backend.settings import UMASK, Settings
from backend.store.db import Database, service_errors
from backend.traces import json_log

garbage.end_loading()

log = logging.getLogger("podium.reading")

IDLE_S = 900.0
# Python gives memory back to the system only when it ends.
MOST_KEPT_BYTES = 512 * 2**20
# The API answers people; large answers give way to it.
_NICENESS = 5


def serve(connection: socket.socket, idle_s: float = IDLE_S) -> None:
    """Make what is asked for, until nothing is for so long or the API is gone."""
    first, _ = wire.receive(connection)
    database = Database(first["database_url"], idle_connections=1)
    try:
        wire.send(connection, {"ready": True})
        connection.settimeout(idle_s)
        while psutil.Process().memory_info().rss < MOST_KEPT_BYTES:
            message, _ = wire.receive(connection)
            connection.settimeout(None)
            _answer(connection, database, Call.of(message))
            connection.settimeout(idle_s)
    except (EOFError, OSError):
        return
    finally:
        database.close()


def _answer(connection: socket.socket, database: Database, call: Call) -> None:
    try:
        made = _made(database, call)
    except ServiceError as error:
        wire.send(connection, {"error": error_message(error)})
    else:
        wire.send(connection, {"facts": made.facts}, made.body)


def _made(database: Database, call: Call) -> Made:
    try:
        with service_errors(), database.read() as session:
            return call.made(session)
    except ServiceError:
        raise
    except Exception as error:
        log.exception("reading.failed name=%s", call.name)
        raise ServiceError(
            "the service had an unexpected error",
            advice=f"Look for {call.name} in the service's log (api.log); report the lines found "
            "there if it happens again.",
        ) from error


def main(file_descriptor: int) -> None:
    """Serve the API at the other end of this socket."""
    os.umask(UMASK)
    os.nice(_NICENESS)
    json_log.begin(Settings().log_level)
    gc.freeze()
    serve(socket.socket(fileno=file_descriptor))


if __name__ == "__main__":
    main(int(sys.argv[1]))
