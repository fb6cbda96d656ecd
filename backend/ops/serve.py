"""The API on a socket that the launcher has bound already: `python -m backend.ops.serve FD`.

Started by `backend.ops.launcher`, so that a restarted API keeps its address and a free port is
known before anything listens. Elsewhere uvicorn's own command line serves
`backend.main:create_app`.
"""

import socket
import sys
from typing import Any

import uvicorn

from backend.main import create_app
from backend.settings import Settings

# Slow answers must not hold up the end for longer.
GRACEFUL_SHUTDOWN_S = 5


class _Server(uvicorn.Server):
    """Ends the open streams first: uvicorn would wait for them, and they have no end; jobs too."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        app: Any = self.config.app
        app.state.streams.close()
        app.state.jobs.stop()
        await super().shutdown(sockets)


def main(file_descriptor: int) -> None:
    """Serve on an inherited listening socket until SIGTERM."""
    settings = Settings()
    config = uvicorn.Config(
        create_app(settings),
        log_level=settings.log_level,
        access_log=settings.log_level == "debug",
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_S,
        server_header=False,
    )
    # From the number alone: uvicorn's own --fd assumes a Unix socket, and Nagle's delay stays on.
    _Server(config).run(sockets=[socket.socket(fileno=file_descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
