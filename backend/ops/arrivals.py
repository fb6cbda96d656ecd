"""New connections, taken at a pace that leaves the processor to those who are already served.

asyncio's own server takes all that wait as fast as it can. While its loop computes without a pause,
each statement of somebody's request waits for Python's lock: three thousand connections in a second
would make everybody else wait for hundreds of milliseconds.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence

log = logging.getLogger("podium.server")

# What is taken without a pause when nobody came for a while: a browser, or twenty.
AT_ONCE = 128
# After these one is taken so often. A flood of 3,000 is in within three seconds.
EVERY_S = 0.001
# Until the next try where the process has no file left for another connection.
OUT_OF_FILES_S = 1.0


class Arrivals:
    """Takes the connections that wait at some listening sockets, in one event loop."""

    def __init__(self, protocol: Callable[[], asyncio.Protocol]) -> None:
        """`protocol` makes what serves one connection."""
        self._protocol = protocol
        self._tasks: list[asyncio.Task[None]] = []
        # When all that was taken has been made up for.
        self._even_at = 0.0

    def begin(self, listeners: Sequence[socket.socket]) -> None:
        """Take connections from now on."""
        loop = asyncio.get_running_loop()
        for listener in listeners:
            listener.setblocking(False)
            self._tasks.append(loop.create_task(self._take(listener)))

    def close(self) -> None:
        """Take no more; whoever owns the sockets closes them."""
        for task in self._tasks:
            task.cancel()

    def check(self) -> None:
        """Raises what has kept this from taking connections, if anything has."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def _take(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except ConnectionError:
                continue  # It has gone again.
            except OSError as error:
                log.warning("server.not_taken", extra={"error": str(error)})
                await asyncio.sleep(OUT_OF_FILES_S)
                continue
            await loop.connect_accepted_socket(self._protocol, connection)
            await asyncio.sleep(self._rest_s(loop.time()))

    def _rest_s(self, now: float) -> float:
        self._even_at = max(self._even_at, now) + EVERY_S
        return max(0.0, self._even_at - now - AT_ONCE * EVERY_S)
