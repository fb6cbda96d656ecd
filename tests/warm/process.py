"""Processes that begin with their libraries loaded, for tests that start many of them.

Loading torch and transformers takes five seconds of a core, Celery and SQLAlchemy nearly two; what
a test does with them often takes less. A host (`hosts.py`) has loaded them and does nothing else.
Each process here is a fork of it: one of its own, with its own session, signals, random numbers,
environment, threads and end. Other tests start the same programs by command, as their users do.
"""

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from weakref import finalize

from tests.warm import hosts


class WarmProcess:
    """A process at work, as much of `subprocess.Popen` as tests need."""

    def __init__(
        self,
        main: Callable[[Sequence[str]], int],
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        stdin: str = "",
        host: str = hosts.SERVICE,
    ) -> None:
        """Start it; it prints to `log` and reads `stdin`."""
        self.log = log
        name = f"{main.__module__}:{main.__qualname__}"
        with log.open("ab") as output, tempfile.TemporaryFile() as said:
            said.write(stdin.encode())
            said.seek(0)
            files = [said.fileno(), output.fileno(), output.fileno()]
            self._host = hosts.ask(host, name, arguments, environment, files)
        # Without it, the fork is killed.
        finalize(self, self._host.close)
        # For ever, also after its end.
        self.pid = int(self._host.recv(16))
        self._code: int | None = None

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the number of the signal that ended it below zero."""
        return self.poll()

    def poll(self) -> int | None:
        """The same."""
        return self._heard(0)

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""
        code = self._heard(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.log), timeout or 0)
        return code

    def _heard(self, timeout_s: float | None) -> int | None:
        if self._code is None and select.select([self._host], [], [], timeout_s)[0]:
            # A host that has ended has killed its forks.
            self._code = int(self._host.recv(16) or -signal.SIGKILL)
            self._host.close()
        return self._code
