"""A TCP proxy between a browser and the server, whose connections can be cut."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

# A closed socket sends a reset at once and drops what it has.
_RESET = struct.pack("ii", 1, 0)
_END_OF_HEAD = b"\r\n\r\n"


class TcpProxy:
    """It passes bytes on, both ways, as they come."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (str(parts.hostname), int(parts.port or 80))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut_in_answer: tuple[bytes, int] = (b"", 0)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, name="tcp-proxy", daemon=True).start()

    def cut(self) -> int:
        """Reset every connection; how many there were."""
        with self._lock:
            cut, self._open = self._open, set()
        for one in cut:
            with suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                # Wakes the thread that reads from it.
                one.shutdown(socket.SHUT_RD)
            one.close()
        return len(cut) // 2

    def cut_in_answers(self, path: str, times: int) -> None:
        """End the connection some bytes into the body of so many answers to requests for a path."""
        self._cut_in_answer = (f"GET {path}".encode(), times)

    @property
    def cuts_left(self) -> int:
        """How many answers are still to be cut."""
        return self._cut_in_answer[1]

    def close(self) -> None:
        """Take no more connections, and cut those that are left."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            with self._lock:
                self._open |= {near, far}
            asked = threading.Event()
            for source, sink, is_asking in ((near, far, True), (far, near, False)):
                given = (source, sink, asked, is_asking)
                threading.Thread(target=self._pass_on, args=given, daemon=True).start()

    def _pass_on(
        self, source: socket.socket, sink: socket.socket, asked: threading.Event, is_asking: bool
    ) -> None:
        """`asked`: the answer that comes next is one to be cut."""
        with suppress(OSError):
            while data := source.recv(65536):
                path, left = self._cut_in_answer
                if is_asking and left and data.startswith(path):
                    self._cut_in_answer = (path, left - 1)
                    asked.set()
                if not is_asking and asked.is_set():
                    head, end, body = data.partition(_END_OF_HEAD)
                    sink.sendall(head + end + body[:20])
                    # Closing alone would wait for the thread that reads from it.
                    sink.shutdown(socket.SHUT_RDWR)
                    break
                sink.sendall(data)
        with self._lock:
            mine = {source, sink} & self._open
            self._open -= mine
        for one in mine:
            one.close()


@contextmanager
def tcp_proxy(url: str) -> Iterator[TcpProxy]:
    """A proxy to this address that is gone afterwards."""
    proxy = TcpProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
