"""Real processes in tests: started with an environment of their own, watched, ended by pid.

Used by the tests that run the program as its users do. Waiting is always for a condition.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
# Seconds; a whole program may start meanwhile, on a machine with other things to do.
PATIENCE_S = 180.0


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """The caller's environment with these PODIUM_ settings and no other.

    A machine whose disk is nearly full takes runs, too: it is not what is tested.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
    path = f"{BIN}{os.pathsep}{kept.get('PATH', '')}"
    given = {"PODIUM_DATA_DIR": str(data_dir), "PODIUM_MIN_FREE_GB": "0"}
    return {**kept, "PATH": path, **given, **settings}


def run(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: str = "",
    timeout_s: float = PATIENCE_S,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end from the root of the project."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


@contextmanager
def running(
    command: Sequence[str], env: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is asked to end when the block ends, and killed if it does not."""
    with log.open("wb") as output, _hearing_hangups():
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with ending(process):
        yield process


@contextmanager
def _hearing_hangups() -> Iterator[None]:
    """What is started here hears SIGHUP, also if the tests were started with nohup."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextmanager
def ending(process: "Process") -> Iterator[None]:
    """Ask a process to end when the block ends."""
    try:
        yield
    finally:
        end(process)


class Process(Protocol):
    """What tests need of a process: `subprocess.Popen`, or a fork of one that is warm."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def kill(self) -> None: ...


def end(process: Process, *, timeout_s: float = PATIENCE_S) -> int:
    """Send SIGTERM and give the exit code; SIGKILL after the timeout."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def wait_until(
    is_so: Callable[[], bool],
    what: str,
    *,
    process: "Process | None" = None,
    log: Path | None = None,
    timeout_s: float = PATIENCE_S,
) -> None:
    """Wait for a condition; with the end of the log if it does not come or the process ends."""
    deadline = time.monotonic() + timeout_s
    pause_s = 0.01
    while not is_so():
        if time.monotonic() > deadline or (process is not None and process.poll() is not None):
            tail = log.read_text(errors="replace")[-4000:] if log else ""
            raise AssertionError(f"waited in vain until {what}\n{tail}")
        time.sleep(pause_s)
        # Asking costs the processes that are waited for, above all where many are asked at once.
        pause_s = min(1.2 * pause_s, 0.1)


def answers(url: str) -> bool:
    """Whether a GET is answered with 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def is_alive(pid: int) -> bool:
    """Whether a process with this id runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def kill(pid: int) -> bool:
    """SIGKILL; whether there was anything to kill."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
