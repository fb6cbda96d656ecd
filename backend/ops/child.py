"""One process that the launcher keeps alive: started, restarted with back-off, ended by pid.

Used by `backend.ops.launcher` alone; it knows nothing of what the process does.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

FIRST_BACK_OFF_S = 1.0
LONGEST_BACK_OFF_S = 60.0
# A process that lived this long was healthy; its next failure starts from the first back-off.
HEALTHY_AFTER_S = 60.0
# Of the log and of the one before it; a process that lives for months is looked at once a minute.
KEPT_LOG_BYTES = 16 * 1024 * 1024
LOOK_AT_LOG_S = 60.0
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
        self._next_look_at = 0.0

    def start(self) -> None:
        """Start the process in a session of its own: a Ctrl-C reaches it through us alone."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self._has_long_log():
            self.log.replace(self._previous_log)
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
            return self._start_again(now)
        code = self._process.poll()
        if code is None:
            self._look_at_log(now)
            return None
        if now - self._started_at > HEALTHY_AFTER_S:
            self._back_off_s = FIRST_BACK_OFF_S
        self._process = None
        return (
            f"{self.name} ended with {_describe(code)} and starts again in "
            f"{self._back_off(now):.0f} s; its log is {self.log}"
        )

    def _start_again(self, now: float) -> str:
        try:
            self.start()
        except (OSError, subprocess.SubprocessError) as error:
            # The machine has no process, memory or file left, and may have soon.
            return (
                f"{self.name} cannot be started: {error}; it is tried again in "
                f"{self._back_off(now):.0f} s"
            )
        return f"{self.name} was started again"

    def _back_off(self, now: float) -> float:
        """Put the next start off, longer each time; the seconds until then."""
        wait_s, self._back_off_s = self._back_off_s, min(self._back_off_s * 2, LONGEST_BACK_OFF_S)
        self._next_start_at = now + wait_s
        return wait_s

    def _look_at_log(self, now: float) -> None:
        if now >= self._next_look_at:
            self._next_look_at = now + LOOK_AT_LOG_S
            # A disk without room for the copy keeps no process from living.
            with suppress(OSError):
                if self._has_long_log():
                    self._cut_log()

    def _has_long_log(self) -> bool:
        return self.log.exists() and self.log.stat().st_size > KEPT_LOG_BYTES

    @property
    def _previous_log(self) -> Path:
        return self.log.with_suffix(".previous.log")

    def _cut_log(self) -> None:
        """Copy and empty the log of a living process, which appends to it: it goes on at 0.

        What it writes between copy and cut, a moment, is lost.
        """
        unfinished = self.log.with_suffix(".part")
        try:
            shutil.copyfile(self.log, unfinished)
            unfinished.replace(self._previous_log)
            os.truncate(self.log, 0)
        finally:
            unfinished.unlink(missing_ok=True)

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
    if code >= 0:
        return f"exit code {code}"
    # Real-time signals have no names.
    name = next((one.name for one in signal.Signals if one == -code), str(-code))
    return f"signal {name}"


def _end_with_parent() -> None:
    """Ask the kernel for a SIGTERM when the launcher dies, even by SIGKILL (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() == 1:
            os.kill(os.getpid(), signal.SIGTERM)
