"""A TCP proxy between a browser and the server, whose connections can be cut."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

# A closed socket sends a reset at once and drops what it has.
_RESET = struct.pack("ii", 1, 0)


class TcpProxy:
    """It passes bytes on, both ways, as they come."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (str(parts.hostname), int(parts.port or 80))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
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
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
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
