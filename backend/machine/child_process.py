"""A process of ours that answers over a socket: how it is started, and how it ends.

What crosses the socket, and when there is one, is for its users to say: `backend.jobs.children` and
`backend.reading.reader`.
"""

import socket
import subprocess
import sys
from contextlib import suppress

# Seconds in which a process that was killed, or whose socket was closed, is gone.
_END_S = 10.0


class ChildProcess:
    """One process of a module that takes the number of its end of the socket as argument.

    Raises OSError where there is not enough memory, or too many processes, for one more.
    """

    def __init__(self, module: str) -> None:
        self.socket, theirs = socket.socketpair()
        number = theirs.fileno()
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", module, str(number)],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(number,),
                    start_new_session=True,  # A Ctrl-C reaches it through us alone.
                )
        except OSError:
            self.socket.close()
            raise

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._process.pid

    def lives(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def shut_down_socket(self) -> None:
        """Shut the socket down: whoever waits for an answer, here or there, gets an end of file."""
        # The socket may have been closed just now, with a process that has ended.
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        """Kill the process; `end` says what it died of."""
        if self.lives():
            self._process.kill()

    def end(self) -> int:
        """Close the socket and wait until the process is gone; its exit code, -9 for SIGKILL."""
        self.socket.close()
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
