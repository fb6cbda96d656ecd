"""How the API and its reading process talk over their socket: a JSON object, then bytes.

Down: `{database_url}` once, then calls (`Call.as_message`), one at a time. Up: `{ready: true}`
once, then for each call `{facts}` with its bytes, or `{error}`. An end of file: nobody is there.
"""

import json
import socket
import struct
from typing import Any

_LENGTHS = struct.Struct(">IQ")
_PIECE = 1 << 20

Message = dict[str, Any]


def send(connection: socket.socket, message: Message, body: bytes = b"") -> None:
    """Send a message and its bytes. Raises OSError if nobody listens."""
    head = json.dumps(message).encode("ascii")
    connection.sendall(_LENGTHS.pack(len(head), len(body)) + head)
    if body:
        connection.sendall(body)


def receive(connection: socket.socket) -> tuple[Message, bytes]:
    """The next message and its bytes. Raises EOFError if the other side is gone."""
    n_head, n_body = _LENGTHS.unpack(_taken(connection, _LENGTHS.size))
    head = json.loads(_taken(connection, n_head))
    return head, bytes(_taken(connection, n_body))


def _taken(connection: socket.socket, length: int) -> bytearray:
    taken = bytearray(length)
    view, have = memoryview(taken), 0
    while have < length:
        try:
            n_new = connection.recv_into(view[have : have + _PIECE])
        except ConnectionResetError:
            n_new = 0
        if not n_new:
            raise EOFError(f"the other side has ended after {have} of {length} bytes")
        have += n_new
    return taken
