"""The socket that the API listens on, bound by whoever starts it."""

import socket

from backend.errors import Unavailable

# Connections that the kernel keeps until they are taken.
BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises Unavailable if the address is taken or not of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"cannot listen on {host}:{port}: {error.strerror}",
            advice="Set PODIUM_PORT to another port, or to 0 for a free one; PODIUM_HOST must be "
            "an address of this machine.",
        ) from error
    listener.listen(BACKLOG)
    return listener


def url_of(listener: socket.socket) -> str:
    """The address under which this machine reaches the socket."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"
