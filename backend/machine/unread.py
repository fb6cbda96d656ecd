"""Whether somebody at the other end has sent what nobody has read yet."""

import select
import socket


def has_unread(connection: socket.socket) -> bool:
    """Whether bytes have come, or the end, that are not read; waits for nothing."""
    # `select.select` knows no file descriptor above 1,023, and each client of a server has one.
    ready = select.poll()
    ready.register(connection.fileno(), select.POLLIN)
    return bool(ready.poll(0))
