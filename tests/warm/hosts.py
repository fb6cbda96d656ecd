"""Which hosts there are, and who starts them.

    SERVICE   the service, the command line and the Celery side of the worker
    TRAINER   torch and transformers besides: a fork of SERVICE
    TESTS     the tests themselves besides: a fork of TRAINER, for the processes of pytest-xdist

A process of tests starts a host when it first asks for it. All processes of `make test` share those
of the first one, so that everything is loaded once. Hosts end with the process that started them.
"""

import atexit
import gc
import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from tests import processes
from tests.warm.host import Host

SERVICE, TRAINER, TESTS = "service", "trainer", "tests"
# What the libraries read when they are loaded.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

_CLIENT = Path(__file__).with_name("client.py")
_SHARED = "PODIUM_TEST_HOSTS"
_ORIGIN = {TRAINER: SERVICE, TESTS: TRAINER}
_LOADED = {
    # Not `worker.celery_app`, which reads the settings when it is loaded.
    SERVICE: [
        "celery.bin.celery", "celery.concurrency.thread", "worker.presence", "celery.apps.worker",
        "celery.app.log", "celery.loaders.app", "worker.sweeper", "worker.tasks",
        "backend.file_transport", "psycopg", "redis", "httpx", "backend.ops.serve", "backend.cli",
        "backend.ops.audit", "backend.ops.backup", "backend.ops.doctor", "backend.ops.launcher",
        "backend.ops.migration", "backend.ops.prune", "alembic.command", "backend.jobs.child",
        "backend.jobs.agreement", "backend.jobs.freeze_snapshot", "backend.jobs.import_file",
        "backend.jobs.inspect_model", "backend.ops.reading", "tests.warm.first_use",
    ],
    TRAINER: ["worker.trainer.__main__"],
}  # fmt: skip


def python(host: str, *arguments: str) -> str:
    """A command that stands for `python`, with what this host has loaded."""
    address = str(address_of(host, *arguments))
    return shlex.join([sys.executable, "-I", "-S", str(_CLIENT), address])


def executable() -> str:
    """A program that stands for `python`, with what the service needs loaded."""
    program = _folder() / "python"
    if not program.exists():
        address = str(address_of(SERVICE))
        new = program.with_suffix(f".{os.getpid()}")
        new.write_text(
            f"#!{sys.executable} -IS\nimport sys\nsys.argv[1:1] = [{address!r}]\n"
            + _CLIENT.read_text()
        )
        new.chmod(0o700)
        new.rename(program)
    return str(program)


def up() -> list[str]:
    """The command of `podium up` whose API and worker begin with their libraries loaded."""
    return [sys.executable, "-m", "tests.warm.up", executable()]


def share() -> None:
    """Let the processes that are started from here on use the hosts of this one."""
    os.environ[_SHARED] = str(_folder())


def address_of(host: str, *arguments: str) -> Path:
    """Where this host listens; it is started, with these arguments, if nobody has."""
    address = _folder() / host
    if not address.exists():
        log = address.with_suffix(".log")
        if host in _ORIGIN:
            _start_from(_ORIGIN[host], [host, str(address), *arguments], log)
        else:
            _start_first([host, str(address)], log)
        processes.wait_until(address.exists, f"the host {host} listens", log=log)
    return address


def ask(
    host: str,
    function: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    files: Sequence[int],
    *,
    is_host: bool = False,
) -> socket.socket:
    """Let a fork of this host call a function, `module:name`; the connection that is its life."""
    given = {
        "call": function,
        "is_host": is_host,
        "arguments": list(arguments),
        "environment": dict(environment),
        "directory": str(processes.ROOT),
        "files": [0, 1, 2],
    }
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(address_of(host)))
    socket.send_fds(connection, [json.dumps(given).encode()], list(files))
    return connection


@cache
def _folder() -> Path:
    if shared := os.environ.get(_SHARED):
        return Path(shared)
    # The address of a socket has at most 107 bytes; folders of tests may be deeper.
    folder = Path(tempfile.mkdtemp(prefix="podium-warm-", dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _start_first(arguments: Sequence[str], log: Path) -> None:
    alive, _held_to_the_end = os.pipe()
    os.set_inheritable(alive, True)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    program = (
        f"import os; from tests.warm import hosts; os.setsid(); hosts.be({arguments}, {alive})"
    )
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", program],
        os.environ | ENVIRONMENT | {"PYTHONPATH": str(processes.ROOT)},
        file_actions=[(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)],
    )
    for fd in (output, alive):
        os.close(fd)


def _start_from(origin: str, arguments: Sequence[str], log: Path) -> None:
    with log.open("ab") as output, open(os.devnull, "rb") as nothing:
        files = [nothing.fileno(), output.fileno(), output.fileno()]
        given = os.environ | ENVIRONMENT
        life = ask(origin, "tests.warm.hosts:be", arguments, given, files, is_host=True)
    life.detach()  # It is closed at the end of this process.


def be(arguments: Sequence[str], alive: int) -> int:
    """Load what a host needs, and be it to the end; `alive` closes when the tests have ended."""
    host, address, *rest = arguments
    # Forks have the environments of their clients, and may ask for forks of their own.
    os.environ[_SHARED] = str(Path(address).parent)
    _folder()
    # What is loaded stays to the end: nobody looks through it for garbage.
    gc.disable()
    if host == TESTS:
        _load_tests(rest)
    for module in _LOADED.get(host, ()):
        import_module(module)
        gc.disable()  # Entry points have it begin again.
    gc.collect()
    gc.freeze()
    gc.enable()
    Host(Path(address), alive).serve()
    return 0


def _load_tests(arguments: Sequence[str]) -> None:
    """Collect the tests; whoever collects them once more finds their modules loaded."""
    import pytest

    quietly = ["--collect-only", "--quiet", "--quiet", "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytest.main([*quietly, *arguments])
