"""The API as a server: `python -m backend.ops.serve`, wherever it runs.

It binds `PODIUM_HOST` and `PODIUM_PORT` itself, in containers for example; or it takes the number
of a socket that `backend.ops.launcher` has bound already, so that a restarted API keeps its address
and a free port is known before anything listens.
"""

import asyncio
import gc
import logging
import os
import socket
import sys
from typing import Any

from backend.machine import garbage

garbage.begin_loading()

import uvicorn
from pydantic import ValidationError

from backend.errors import ServiceError
from backend.main import create_app
from backend.ops.arrivals import Arrivals
from backend.ops.connections import KEEP_ALIVE_S, Guard, raise_file_limit
from backend.ops.listening import listen, reach_of, url_of
from backend.reading.reader import Reader
from backend.settings import UMASK, Settings, wrong_settings
from backend.traces import json_log

garbage.end_loading()

# Slow answers must not hold up the end for longer.
GRACEFUL_SHUTDOWN_S = 5
# Python's own 5 ms, times every thread that computes, is what each step of a small request would
# wait for; much less, and threads do little but change places.
SWITCH_THREADS_S = 0.002

log = logging.getLogger("uvicorn.error")


class _Server(uvicorn.Server):
    """Guards the connections, and ends streams and jobs first: uvicorn would wait for them."""

    def __init__(self, config: uvicorn.Config, guard: Guard) -> None:
        super().__init__(config)
        self._guard = guard
        self._arrivals = Arrivals(guard, self._connection)

    def _connection(self) -> asyncio.Protocol:
        return self._guard.protocol(self.config, self.server_state, self.lifespan.state)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start serving."""
        # uvicorn would serve each connection from its first moment.
        await super().startup([])
        self._watch = asyncio.get_running_loop().create_task(self._guard.watch())
        self._arrivals.begin(sockets or [])
        # What is loaded by now stays. Looking through it for garbage would stop every request for a
        # fifth of a second, time and again. What first requests build later, schemas and routes, is
        # looked through: it is less, and comes bit by bit.
        gc.collect()
        gc.freeze()

    async def on_tick(self, counter: int) -> bool:
        """Whether to end; called ten times a second."""
        if self._watch.done():
            self._watch.result()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        await self._arrivals.close()
        self._watch.cancel()
        app: Any = self.config.app
        app.state.permissions.close()
        app.state.streams.close()
        app.state.waiting_annotators.close()
        app.state.jobs.stop()
        await super().shutdown(sockets)


def server_of(settings: Settings, *, most_connections: int) -> uvicorn.Server:
    """The server of the application with these settings; `run` gives it its sockets."""
    guard = Guard(most_connections, settings.trusted_networks)
    config = uvicorn.Config(
        create_app(settings, reader=Reader(settings.sqlalchemy_url)),
        http=guard.protocol,  # type: ignore[arg-type]
        ws="none",
        # `backend.api.edge` believes the proxies that the settings name, and no other.
        proxy_headers=False,
        reset_contextvars=True,
        log_config=None,  # `main` has set it.
        log_level=settings.log_level,
        access_log=False,  # `backend.traces.requests` knows more.
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_S,
        server_header=False,
    )
    return _Server(config, guard)


def main(file_descriptor: int | None = None) -> None:
    """Serve until SIGTERM, on an inherited listening socket if one is given."""
    os.umask(UMASK)
    settings = Settings()
    json_log.begin(settings.log_level)
    most = raise_file_limit()
    server = server_of(settings, most_connections=most)
    # From the number alone: uvicorn's own --fd assumes a Unix socket, and Nagle's delay stays on.
    listener = (
        listen(settings) if file_descriptor is None else socket.socket(fileno=file_descriptor)
    )
    log.info(
        "Listening on %s for %s; at most %d connections", url_of(listener), reach_of(listener), most
    )
    sys.setswitchinterval(SWITCH_THREADS_S)
    server.run(sockets=[listener])


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
    except ValidationError as error:
        sys.exit(wrong_settings(error))
    except ServiceError as error:
        sys.exit(str(error))
