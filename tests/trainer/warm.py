"""Trainers that begin with their libraries loaded, for tests that start many of them.

Loading torch and transformers takes seven seconds of a core, a tiny run less than one. A process of
multiprocessing's fork server loads them once and does nothing else. Each trainer is a fork of it: a
process of its own with its own signals, random numbers and end. `Workshop.start_by_command` starts
the trainer as its users do.
"""

import os
import signal
import subprocess
import sys
from multiprocessing import forkserver, get_context
from pathlib import Path
from unittest.mock import patch

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["worker.trainer.__main__"])
# What the libraries read when they are loaded.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def _train(arguments: list[str], environment: dict[str, str], log: str) -> None:
    """What the fork does."""
    os.environ.update(environment)
    from worker.trainer.__main__ import main

    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.exit(main(arguments))


class WarmTrainer:
    """A trainer at work, as much of `subprocess.Popen` as interruptions need."""

    def __init__(self, run_dir: Path, environment: dict[str, str]) -> None:
        self._log = run_dir / "trainer.log"
        arguments = [str(run_dir / "config.json"), "--run-dir", str(run_dir)]
        given = (arguments, environment, str(self._log))
        self._process = _CONTEXT.Process(target=_train, args=given)
        with patch.dict(os.environ, _ENVIRONMENT):
            forkserver.ensure_running()
            self._process.start()

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the number of the signal that ended it below zero."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal unless it has ended."""
        if self.poll() is None and self._process.pid is not None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; what it has printed comes second."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("worker.trainer", timeout or 0)
        return "", self._log.read_text(errors="replace") if self._log.exists() else ""
