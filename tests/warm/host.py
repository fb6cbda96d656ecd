"""A host: a process with libraries loaded, which forks for its clients.

A client connects to the host's socket and says what a fork is to do: run a program as `python`
would, or call a function. The fork gets the client's open files, its environment and its directory.
The host tells the fork's process id and, once it has ended, its exit code; numbers from the client
are signals for the fork, and when the client closes the connection, the fork is killed.

`hosts.py` says which hosts there are; each is a fork of another but the first. `client.py` and
`process.py` are the clients.
"""

import atexit
import fcntl
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_MOST_BYTES = 1 << 20
_MOST_FILES = 16
# No client keeps files with numbers as high as these.
_FREE_FROM = 500
_ALIVE_FROM = 900


class Host:
    """Forks one process per client, until SIGTERM or the end of the tests."""

    def __init__(self, address: Path, alive: int) -> None:
        """Listen; `alive` is the end of a pipe that closes when the tests have ended."""
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # A fork gets the files of its client under their numbers, which this one's may be.
        self._alive = fcntl.fcntl(alive, fcntl.F_DUPFD_CLOEXEC, _ALIVE_FROM)
        os.close(alive)
        self._selector = selectors.DefaultSelector()
        self._signalled = os.pipe()
        self._forks: dict[int, socket.socket] = {}
        self._must_end = False
        # Whoever sees the address finds somebody who listens.
        new = address.with_suffix(".new")
        self._listener.bind(str(new))
        self._listener.listen()
        new.rename(address)

    def serve(self) -> None:
        """Do what clients ask for."""
        self._watch_signals()
        self._watch(self._listener, self._accept)
        self._watch(self._alive, self._end)
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
            _become(given, files, self._alive)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        self._forks[pid] = client
        self._watch(client, lambda: self._hear(client, pid))
        with suppress(OSError):  # The client has ended meanwhile, which is heard.
            client.send(b"%d" % pid)

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
        try:
            number = client.recv(1)
        except ConnectionResetError:
            number = b""
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
    """The fork with its process group; before it has one, alone."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _become(given: dict[str, Any], files: list[int], alive: int) -> NoReturn:
    """In a fork: do what is asked for and end as a python of its own would."""
    code = 1
    try:
        _place(files, given["files"])
        code = _code_of(lambda: _do(given, alive))
        threading._shutdown()  # type: ignore[attr-defined]
        code = _code_of(atexit._run_exitfuncs) or code
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        # Nothing is torn down: what was loaded is the host's.
        os._exit(code)


def _place(files: list[int], numbers: list[int]) -> None:
    """Give the open files of the client the numbers that they have there."""
    # Out of the way of those numbers first.
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FREE_FROM) for fd in files]
    for fd in files:
        os.close(fd)
    for fd, number in zip(moved, numbers, strict=True):
        os.dup2(fd, number)
        os.close(fd)


def _do(given: dict[str, Any], alive: int) -> Any:
    # A program stays in the session of the host, a function that is called has one of its own.
    if given["call"]:
        os.setsid()
    else:
        os.setpgid(0, 0)
    os.environ.clear()
    os.environ.update(given["environment"])
    os.chdir(given["directory"])
    sys.stdin = os.fdopen(0, closefd=False)
    arguments: list[str] = given["arguments"]
    if not given["call"]:
        os.close(alive)
        _run(arguments)
        return None
    module, _, name = given["call"].partition(":")
    function = getattr(import_module(module), name)
    if given["is_host"]:
        return function(arguments, alive)
    os.close(alive)
    return function(arguments)


def _code_of(do: Callable[[], Any]) -> int:
    """The exit code of what is done."""
    try:
        code = do()
    except SystemExit as error:
        code = error.code
    except BaseException:  # noqa: BLE001 - as any python does at its end
        traceback.print_exc()
        return 1
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)  # noqa: T201
    return 1


def _run(arguments: list[str]) -> None:
    """What `python` does with these arguments."""
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    match arguments:
        case ["-u", "-c", text]:
            sys.argv = ["-c"]
            exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
        case ["-P", "-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-m", *_]:
            sys.path.insert(0, os.getcwd())
            _run(["-P", *arguments])
        case [script, *_]:
            sys.argv = arguments
            sys.path.insert(0, str(Path(script).parent))
            runpy.run_path(script, run_name="__main__")
