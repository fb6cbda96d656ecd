"""One process that the launcher keeps alive: started, restarted with back-off, ended by pid.

Used by `backend.ops.launcher` alone; it knows nothing of what the process does.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

FIRST_BACK_OFF_S = 1.0
LONGEST_BACK_OFF_S = 60.0
# A process that lived this long was healthy; its next failure starts from the first back-off.
HEALTHY_AFTER_S = 60.0
KEPT_LOG_BYTES = 16 * 1024 * 1024
_PR_SET_PDEATHSIG = 1


class Child:
    """A command, its process if it runs, and when it may be started again."""

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        log: Path,
        environment: dict[str, str],
        pass_fds: tuple[int, ...] = (),
    ) -> None:
        """Describe the process; `start` starts it. Its output goes to the file `log`."""
        self.name = name
        self.log = log
        self._command = command
        self._environment = environment
        self._pass_fds = pass_fds
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._back_off_s = FIRST_BACK_OFF_S
        self._next_start_at = 0.0

    def start(self) -> None:
        """Start the process in a session of its own: a Ctrl-C reaches it through us alone."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > KEPT_LOG_BYTES:
            self.log.replace(self.log.with_suffix(".previous.log"))
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                pass_fds=self._pass_fds,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # The launcher has one thread, so this is safe.
            )
        self._started_at = time.monotonic()

    def keep_alive(self) -> str | None:
        """Restart a process that ended, after its back-off; a sentence when something happened."""
        now = time.monotonic()
        if self._process is None:
            if now < self._next_start_at:
                return None
            self.start()
            return f"{self.name} was started again"
        code = self._process.poll()
        if code is None:
            return None
        if now - self._started_at > HEALTHY_AFTER_S:
            self._back_off_s = FIRST_BACK_OFF_S
        self._process = None
        self._next_start_at = now + self._back_off_s
        wait_s, self._back_off_s = self._back_off_s, min(self._back_off_s * 2, LONGEST_BACK_OFF_S)
        return (
            f"{self.name} ended with {_describe(code)} and starts again in {wait_s:.0f} s; its "
            f"log is {self.log}"
        )

    def ask_to_end(self) -> None:
        """Send SIGTERM."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def has_ended(self) -> bool:
        """Whether no process runs."""
        return self._process is None or self._process.poll() is not None

    def kill(self) -> None:
        """Send SIGKILL and wait."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return None if self.has_ended() or self._process is None else self._process.pid


def _describe(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _end_with_parent() -> None:
    """Ask the kernel for a SIGTERM when the launcher dies, even by SIGKILL (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() == 1:
            os.kill(os.getpid(), signal.SIGTERM)
