"""Processes that begin with their libraries loaded, for tests that start many of them.

Loading torch and transformers takes six seconds of a core, Celery and SQLAlchemy nearly two; what a
test does with them often takes less. A process of multiprocessing's fork server loads them once and
does nothing else. Each process here is a fork of it: one of its own, with its own session, signals,
random numbers, environment, threads and end. Other tests start the same programs by command, as
their users do.
"""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import forkserver, get_context
from pathlib import Path
from unittest.mock import patch

from tests import processes

_CONTEXT = get_context("forkserver")
# Not `worker.celery_app`, which reads the settings when it is loaded.
_CONTEXT.set_forkserver_preload(
    ["worker.trainer.__main__", "celery.bin.celery", "celery.concurrency.thread", "worker.presence",
     "celery.apps.worker", "celery.app.log", "celery.loaders.app", "worker.sweeper", "worker.tasks",
     "backend.file_transport", "psycopg", "redis", "backend.ops.serve", "backend.cli",
     "backend.ops.audit", "backend.ops.backup", "backend.ops.doctor", "backend.ops.launcher",
     "backend.ops.migration", "backend.ops.prune", "alembic.command", "tests.frozen"]
)  # fmt: skip
# What the libraries read when they are loaded.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

Main = Callable[[Sequence[str]], int]


def _begin(
    main: Main, arguments: Sequence[str], environment: Mapping[str, str], log: str, stdin: str
) -> None:
    """What the fork does."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(processes.ROOT)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdin = io.StringIO(stdin)
    raise SystemExit(main(arguments))


def ensure_server() -> None:
    """Let the fork server run; also whoever else asks multiprocessing for one gets this one."""
    with patch.dict(os.environ, ENVIRONMENT):
        forkserver.ensure_running()


class WarmProcess:
    """A process at work, as much of `subprocess.Popen` as tests need."""

    def __init__(
        self,
        main: Main,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        stdin: str = "",
    ) -> None:
        """Start it; it prints to `log` and reads `stdin`."""
        self.log = log
        log.touch()
        given = (main, arguments, dict(environment), str(log), stdin)
        self._process = _CONTEXT.Process(target=_begin, args=given)
        ensure_server()
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number; for ever, also after its end."""
        return self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the number of the signal that ended it below zero."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(str(self.log), timeout or 0)
        return self.returncode
