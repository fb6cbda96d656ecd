"""The warm python: a process with torch and transformers loaded, which forks for its clients.

A program that is told which python to start (PODIUM_TRAINER_COMMAND, PODIUM_VLLM_PYTHON) is told to
start `client.py`; what it is to do is done by a fork of this process. `client.py` says what differs
from a python that is started: tests of just that start one.
"""

import atexit
import json
import os
import runpy
import selectors
import shlex
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NoReturn

from tests import processes
from tests.warm import ENVIRONMENT, WarmProcess

_CLIENT = Path(__file__).with_name("client.py")
_MOST_BYTES = 1 << 20
_MOST_FILES = 16


@contextmanager
def running() -> Iterator[str]:
    """The command that stands for `python`, while the block lasts."""
    # The address of a socket has at most 107 bytes; folders of tests may be deeper.
    with TemporaryDirectory(prefix="podium-warm-", dir="/tmp") as folder:
        address, log = Path(folder) / "socket", Path(folder) / "log"
        host = WarmProcess(_host, [str(address)], os.environ | ENVIRONMENT, log)
        with processes.ending(host):
            processes.wait_until(address.exists, "the warm python listens", process=host, log=log)
            yield shlex.join([sys.executable, "-I", "-S", str(_CLIENT), str(address)])


def _host(arguments: Sequence[str]) -> int:
    (address,) = arguments
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"{address}.new")
        listener.listen()
        os.rename(f"{address}.new", address)
        Host(listener).serve()
    return 0


class Host:
    """Forks one process per client, until SIGTERM or the end of the tests."""

    def __init__(self, listener: socket.socket) -> None:
        """Wait for clients of this listener."""
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._signalled = os.pipe()
        self._forks: dict[int, socket.socket] = {}
        self._must_end = False

    def serve(self) -> None:
        """Do what clients ask for; a fork leaves by SystemExit, with its code."""
        tests = parent_process()
        assert tests is not None
        self._watch_signals()
        self._watch(self._listener, self._accept)
        self._watch(tests.sentinel, self._end)
        while not self._must_end:
            for key, _ in self._selector.select():
                key.data()
        for pid in self._forks:
            _kill(pid)

    def _watch(self, fd: int | socket.socket, call: Callable[[], Any]) -> None:
        self._selector.register(fd, selectors.EVENT_READ, call)

    def _watch_signals(self) -> None:
        for fd in self._signalled:
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._signalled[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _do_nothing)
        signal.signal(signal.SIGTERM, self._end)
        self._watch(self._signalled[0], self._reap)

    def _end(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        self._must_end = True

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        given, files, _, _ = socket.recv_fds(client, _MOST_BYTES, _MOST_FILES)
        if given:
            self._fork(client, json.loads(given), files)
        else:
            client.close()
        for fd in files:
            os.close(fd)

    def _fork(self, client: socket.socket, given: dict[str, Any], files: list[int]) -> None:
        # A signal for the fork waits until it no longer has this process's handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        pid = os.fork()
        if pid == 0:
            self._forget()
            client.close()
            _become(given, files)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        with suppress(ProcessLookupError):
            os.setpgid(pid, pid)
        self._forks[pid] = client
        self._watch(client, lambda: self._hear(client, pid))

    def _forget(self) -> None:
        """In a fork: close what is the host's, and hear signals as any program does."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        self._selector.close()
        self._listener.close()
        for fd in self._signalled:
            os.close(fd)
        for client in self._forks.values():
            client.close()

    def _hear(self, client: socket.socket, pid: int) -> None:
        if self._forks.get(pid) is not client:  # it has ended
            return
        number = client.recv(1)
        if number:
            os.kill(pid, number[0])
        else:
            self._selector.unregister(client)
            _kill(pid)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._signalled[0], _MOST_BYTES)
        while self._forks:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._let_go(self._forks.pop(pid), os.waitstatus_to_exitcode(status))

    def _let_go(self, client: socket.socket, code: int) -> None:
        with suppress(KeyError):  # it was killed, and so was its fork
            self._selector.unregister(client)
        with suppress(OSError):
            client.send(b"%d" % code)
        client.close()


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Exist, so that the signal wakes the selector."""


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _become(given: dict[str, Any], files: list[int]) -> NoReturn:
    """In a fork: be the python that was asked for."""
    os.setpgid(0, 0)
    os.environ.clear()
    os.environ.update(given["environment"])
    os.chdir(given["directory"])
    for number, fd in enumerate(files[:3]):
        os.dup2(fd, number)
        os.close(fd)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    try:
        _run(given["arguments"])
    finally:
        # A fork of multiprocessing ends without what was registered for its end.
        atexit._run_exitfuncs()
    raise SystemExit(0)


def _run(arguments: list[str]) -> None:
    if arguments[:2] == ["-P", "-m"]:
        sys.argv = arguments[2:]
        runpy.run_module(arguments[2], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).parent))
    runpy.run_path(arguments[0], run_name="__main__")
