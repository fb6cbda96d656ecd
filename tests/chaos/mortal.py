"""A process that is killed and started again: the same command and log, another pid each time."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests import processes

READY_TIMEOUT_S = 120.0


class Mortal:
    """One part of an installation."""

    def __init__(
        self,
        name: str,
        command: Sequence[Path | str],
        log: Path,
        *,
        is_ready: Callable[[str], bool],
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        cwd: Path = processes.ROOT,
        pass_fds: Sequence[int] = (),
        end_signal: signal.Signals = signal.SIGTERM,
        passing: str | None = None,
    ) -> None:
        """`is_ready` is asked with what the process has written to its log since its start.

        `end_signal` is what asks it to end. If it ends by itself with `passing` in its log, what it
        needs is not free yet, and it is started again until it is.
        """
        self.name = name
        self.log = log
        self._command = [str(part) for part in command]
        self._is_ready = is_ready
        self._env = env
        self._user = user
        self._cwd = cwd
        self._pass_fds = pass_fds
        self._end_signal = end_signal
        self._passing = passing
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    def start(self) -> None:
        """Start it; `wait_until_ready` waits for it."""
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._cwd,
                env=self._env,
                user=self._user,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=self._pass_fds,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Wait until it does its work; with the end of its log if it does not."""
        processes.wait_until(
            self._is_up, f"{self.name} is ready", log=self.log, timeout_s=READY_TIMEOUT_S
        )

    def _is_up(self) -> bool:
        if self._is_ready(self._said()):
            return True
        if self._process is None or self._process.poll() is None:
            return False
        said = self.log.read_text(errors="replace")[-4000:]
        is_passing = self._passing is not None and self._passing in self._said()
        assert is_passing, f"{self.name} has ended before it was ready\n{said}"
        self.start()
        return False

    @property
    def pid(self) -> int:
        """Its process now."""
        assert self._process is not None, f"{self.name} was never started"
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL, without a word to anybody."""
        assert self._process is not None, f"{self.name} was never started"
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def ask_to_end(self) -> None:
        """Send the signal that means the end; `wait_for_end` waits for it."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(self._end_signal)

    def wait_for_end(self) -> None:
        """Wait; SIGKILL after a minute."""
        if self._process is None:
            return
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()

    def _said(self) -> str:
        with self.log.open("rb") as file:
            file.seek(self._log_start)
            return file.read().decode(errors="replace")
