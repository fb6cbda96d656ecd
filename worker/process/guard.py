"""The small process between supervisor and trainer: no trainer outlives its supervisor.

Started by `worker.process.trainer_process` as leader of a session of its own:

    python -S -P -m worker.process.guard --logs DIR [--keep-fd N] [--pause-after-s S --proven-at T]
    -- CMD

It starts CMD, pumps its output into bounded files and obeys words on its standard input, whose
write end only the worker has: `term`, `kill`, and `beat T` for an ownership proven at T of
`processes.uptime_s`. End of file there, however it came, kills every descendant. Reports go to
standard output, one JSON object a line. Standard library only.

What it cannot do: outlive a SIGKILL of its own. The supervisor sees that as the end of the reports
and kills the session itself.
"""

import argparse
import contextlib
import ctypes
import errno
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from worker.process import processes
from worker.process.bounded_log import BoundedLog
from worker.process.usage import LOOK_S, Usage

_PR_SET_CHILD_SUBREAPER = 36
_CHUNK_BYTES = 65536
# Between two looks at killed processes that the kernel has not handed over yet.
_REAP_S = 0.02
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# What a machine says that has no process, memory or descriptor to give, and may have soon.
_SHORT = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


class Guard:
    """One trainer and everything it has started."""

    def __init__(
        self, logs: Path, keep_fds: list[int], pause_after_s: float, proven_at: float
    ) -> None:
        self._logs = logs
        self._keep_fds = keep_fds
        self._pause_after_s = pause_after_s
        self._proven_at = proven_at
        self._selector = selectors.DefaultSelector()
        self._words = b""
        self._trainer: subprocess.Popen[bytes] | None = None
        self._status: int | None = None
        self._has_children = True
        self._must_end = False
        self._is_paused = False
        self._usage = Usage()
        self._next_look = 0.0

    def run(self, command: list[str]) -> None:
        """Start the command, see it to its end, and leave nothing of it alive."""
        become_subreaper()
        self._watch_signals()
        if not self._start(command):
            return
        self._watch(0, self._obey)
        while self._status is None and not self._must_end:
            self._turn(min(self._pause_if_unproven(), self._look()))
        self._end_all()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, _Pump):
                key.data.drain()
        self._report(**_outcome(self._status), usage=self._usage.told())

    def _start(self, command: list[str]) -> bool:
        try:
            self._trainer = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                pass_fds=self._keep_fds,
                bufsize=0,
            )
        except OSError as error:
            self._report(not_started=str(error), is_short=error.errno in _SHORT)
            return False
        prefer_for_out_of_memory(self._trainer.pid)
        for name, pipe in (("stdout", self._trainer.stdout), ("stderr", self._trainer.stderr)):
            assert pipe is not None  # PIPE was asked for
            pump = _Pump(pipe.fileno(), BoundedLog(self._logs / f"{name}.log"))
            self._watch(pipe.fileno(), pump)
        self._report(pid=self._trainer.pid)
        return True

    def _watch_signals(self) -> None:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        # Handlers, never SIG_IGN: an ignored signal would stay ignored in the trainer.
        signal.signal(signal.SIGCHLD, _do_nothing)
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._on_ending_signal)
        self._watch(reading, lambda: self._reap(reading))

    def _on_ending_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._must_end = True

    def _watch(self, fd: int, call: Callable[[], Any]) -> None:
        os.set_blocking(fd, False)
        self._selector.register(fd, selectors.EVENT_READ, call)

    def _turn(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            if key.data() is False:
                self._selector.unregister(key.fd)

    def _obey(self) -> bool:
        data = os.read(0, _CHUNK_BYTES)
        *words, self._words = (self._words + data).split(b"\n")
        for word in words:
            self._do(word)
        self._must_end = self._must_end or not data
        return bool(data)

    def _do(self, word: bytes) -> None:
        assert self._trainer is not None  # words are read after the start alone
        name, _, stamp = word.partition(b" ")
        if name == b"kill":
            self._must_end = True
        elif name == b"beat":
            self._proven_at = max(self._proven_at, float(stamp))
            self._continue_if_proven()
        elif name == b"term" and self._status is None:
            # The trainer alone: its own children are its to stop before the checkpoint. One that
            # stands still gets it with the next beat, for nobody knows whose the run is now.
            os.kill(self._trainer.pid, signal.SIGTERM)

    def _left_s(self) -> float:
        """How much longer the newest proof of ownership counts."""
        return self._proven_at + self._pause_after_s - processes.uptime_s()

    def _continue_if_proven(self) -> None:
        if self._is_paused and self._left_s() > 0:
            processes.signal_members(os.getpid(), signal.SIGCONT)
            self._is_paused = False

    def _pause_if_unproven(self) -> float:
        """Stop the trainer while nobody proves that he owns it; seconds until the next look."""
        if not self._pause_after_s or self._is_paused:
            return math.inf
        left_s = self._left_s()
        if left_s > 0:
            return left_s
        stopped = 0
        # Again while there are more of them: one may have forked before it got the signal.
        while (found := processes.signal_members(os.getpid(), signal.SIGSTOP)) > stopped:
            stopped = found
        self._is_paused = True
        return math.inf

    def _look(self) -> float:
        """Measure what the trainer uses, once a second; seconds until the next look."""
        now = time.monotonic()
        if now >= self._next_look:
            self._usage.look(os.getpid())
            self._next_look = now + LOOK_S
        return self._next_look - now

    def _reap(self, wakeup_fd: int | None = None) -> None:
        if wakeup_fd is not None:
            with contextlib.suppress(BlockingIOError):
                os.read(wakeup_fd, _CHUNK_BYTES)
        assert self._trainer is not None  # SIGCHLD needs a child
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self._has_children = False
                return
            if pid == 0:
                return
            self._usage.add(used)
            if pid == self._trainer.pid:
                self._status = os.waitstatus_to_exitcode(status)
                self._trainer.returncode = self._status

    def _end_all(self) -> None:
        """Kill until nothing is left; a subreaper inherits every orphan, so nothing is missed."""
        while self._has_children or processes.members(os.getpid()):
            processes.signal_members(os.getpid(), signal.SIGKILL)
            self._reap()
            if self._has_children:
                time.sleep(_REAP_S)

    def _report(self, **fields: Any) -> None:
        # The worker may be dead; the guard has its own work to finish.
        with contextlib.suppress(OSError):
            os.write(1, json.dumps(fields).encode() + b"\n")


class _Pump:
    """Moves what the trainer prints into its bounded file."""

    def __init__(self, fd: int, log: BoundedLog) -> None:
        self._fd = fd
        self._log = log

    def __call__(self) -> bool:
        """Move one chunk; False at the end of the stream."""
        data = os.read(self._fd, _CHUNK_BYTES)
        self._log.write(data)
        return bool(data)

    def drain(self) -> None:
        """Move all that has been printed so far, waiting for nobody."""
        with contextlib.suppress(BlockingIOError):
            while self():
                pass
        self._log.close()


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Exist, so that the signal wakes the selector."""


def _outcome(status: int | None) -> dict[str, int | None]:
    if status is None or status < 0:
        return {"code": None, "signal": -status if status else int(signal.SIGKILL)}
    return {"code": status, "signal": None}


def become_subreaper() -> None:
    """Inherit orphaned descendants instead of init (Linux; elsewhere the session is all we see)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def prefer_for_out_of_memory(pid: int) -> None:
    """Let the kernel kill the trainer and not the worker where memory runs out."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("500")


def main(arguments: list[str]) -> None:
    """Read the command line and guard."""
    parser = argparse.ArgumentParser(prog="worker.process.guard")
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("--keep-fd", type=int, action="append", default=[])
    parser.add_argument("--pause-after-s", type=float, default=0.0)
    parser.add_argument("--proven-at", type=float, default=0.0)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(arguments)
    guard = Guard(given.logs, given.keep_fd, given.pause_after_s, given.proven_at)
    guard.run(given.command)


if __name__ == "__main__":
    main(sys.argv[1:])
