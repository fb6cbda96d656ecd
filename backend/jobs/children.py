"""Child processes that wait for jobs: started when one is wanted, used again, ended by their id.

A child belongs to no application and no event loop, so that several applications of one process can
share them. `backend.jobs.runner` says how many there may be.
"""

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread

from backend.errors import Unavailable
from backend.jobs.messages import LAST, Message, Unpacker, packed
from backend.machine.child_process import ChildProcess

_PIECE = 1 << 16


class Child:
    """One process and what crosses its socket."""

    def __init__(self) -> None:
        self._process = ChildProcess("backend.jobs.child")
        self._process.socket.setblocking(False)
        self._unpacker = Unpacker()
        self._received: deque[Message] = deque()

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._process.pid

    def lives(self) -> bool:
        """Whether the process has not ended."""
        return self._process.lives()

    async def send(self, message: Message) -> None:
        """Send a message. Raises OSError if nobody listens."""
        await asyncio.get_running_loop().sock_sendall(self._process.socket, packed(message))

    async def receive(self) -> Message | None:
        """The next message, None when the process has ended or is ending."""
        while not self._received:
            try:
                piece = await asyncio.get_running_loop().sock_recv(self._process.socket, _PIECE)
            except OSError:
                return None
            if not piece:
                return None
            self._received.extend(self._unpacker.take(piece))
        return self._received.popleft()

    def kill(self) -> None:
        """Kill the process; `end` says what it died of."""
        self._process.kill()

    def end(self) -> str:
        """Close the socket, wait until the process is gone, and say how it ended."""
        code = self._process.end()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class Children:
    """The child processes that have nothing to do."""

    def __init__(self) -> None:
        self._idle: list[Child] = []
        self._lock = threading.Lock()

    def take(self) -> Child:
        """Take a child that lives, as far as one can know; start one if there is none."""
        while True:
            with self._lock:
                child = self._idle.pop() if self._idle else None
            if child is None:
                return Child()
            if child.lives():
                return child
            child.end()

    def give_back(self, child: Child) -> None:
        """Keep a child that has answered for the next job."""
        with self._lock:
            self._idle.append(child)

    def reap(self) -> None:
        """Forget those that have ended by themselves."""
        with self._lock:
            dead = [child for child in self._idle if not child.lives()]
            self._idle = [child for child in self._idle if child not in dead]
        for child in dead:
            child.end()

    def close(self) -> None:
        """End them all."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.kill()
            child.end()

    async def ask(
        self,
        order: Message,
        *,
        doing: str,
        told: Callable[[Message], None] = lambda message: None,
        beside: Callable[[Child], Coroutine[Any, Any, None]] | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Message:
        """Give a child an order, and return its last word.

        `told` gets each message before the last one; `beside` runs while the child works; no second
        child is asked unless `is_wanted`. Whoever is cancelled kills the child. Raises Unavailable
        if the child that was `doing` it ended before it was done.
        """
        has_begun = False

        def hear(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or "begun" in message
            told(message)

        how = ""
        for _ in range(2):
            child = await anyio.to_thread.run_sync(self.take)
            last = await _talk(child, order, hear, beside)
            if last is not None:
                self.give_back(child)
                return last
            how = await anyio.to_thread.run_sync(child.end)
            # One that had nothing to do for long, or keeps much memory, may end while it is asked.
            if has_begun or not is_wanted():
                break
        raise Unavailable(
            f"the process that {doing} ended with {how}",
            advice="Try again. If it happens again, look into the service's log (api.log), and "
            "whether the machine has enough memory.",
        )


async def _talk(
    child: Child,
    order: Message,
    hear: Callable[[Message], None],
    beside: Callable[[Child], Coroutine[Any, Any, None]] | None,
) -> Message | None:
    """The child's last word; None if it ended without one."""
    other: asyncio.Task[None] | None = None
    try:
        with suppress(OSError):
            await child.send({"begin": order})
        if beside is not None:
            other = asyncio.create_task(beside(child))
        while (message := await child.receive()) is not None:
            if message.keys() & LAST:
                return message
            hear(message)
        return None
    except BaseException:
        child.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(child.end)
        raise
    finally:
        if other is not None:
            other.cancel()
