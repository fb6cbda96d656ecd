"""The API on a socket that the launcher has bound already: `python -m backend.serve FD`.

Started by `backend.launcher`, so that a restarted API keeps its address and a free port is known
before anything listens. Elsewhere uvicorn's own command line serves `backend.main:create_app`.
"""

import socket
import sys

import uvicorn

from backend.main import create_app
from backend.settings import Settings

# Open streams must not hold up the end; browsers reconnect by themselves.
GRACEFUL_SHUTDOWN_S = 5


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
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=file_descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
