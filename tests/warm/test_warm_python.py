"""The warm python does what `python` does for whoever starts it."""

import fcntl
import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import processes

TELL = """
import json, os, sys
print(json.dumps({
    "loaded": "torch" in sys.modules,
    "argv": sys.argv,
    "cwd": os.getcwd(),
    "path": sys.path[:2],
    "environment": dict(os.environ),
    "read": sys.stdin.read(),
    "name": __name__,
}))
print("to stderr", file=sys.stderr)
"""


@pytest.fixture
def python(warm_python: str) -> list[str]:
    """The beginning of a command."""
    return shlex.split(warm_python)


def script(folder: Path, text: str) -> str:
    """A program."""
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


def test_a_program_gets_what_it_was_given_and_speaks_for_itself(
    python: list[str], tmp_path: Path
) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    program = script(tmp_path, TELL)
    env = {"LC_ALL": "C.UTF-8", "PYTHONPATH": str(modules), "SAID": "ü"}

    done = subprocess.run(
        [*python, program, "--one", "two words"],
        cwd=modules, env=env, input="heard", capture_output=True, text=True, check=True,
    )  # fmt: skip

    told = json.loads(done.stdout)
    assert told == {
        "loaded": True,
        "argv": [program, "--one", "two words"],
        "cwd": str(modules),
        "path": [str(tmp_path), str(modules)],
        "environment": env,
        "read": "heard",
        "name": "__main__",
    }
    assert done.stderr == "to stderr\n"


def test_a_module_is_found_by_its_name_alone(python: list[str], tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text("import sys; print(sys.argv[1:], __name__)")
    env = os.environ | {"PYTHONPATH": str(tmp_path)}

    done = processes.run([*python, "-P", "-m", "told", "a"], env)

    assert (done.returncode, done.stdout, done.stderr) == (0, "['a'] __main__\n", "")


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("import sys; sys.exit(7)", 7),
        ("import os; os._exit(7)", 7),
        ("", 0),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_it_ends_as_the_program_does(
    python: list[str], tmp_path: Path, end: str, code: int
) -> None:
    done = processes.run([*python, script(tmp_path, end)], os.environ)

    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("end", ["", "import sys; sys.exit(7)", "1 / 0"])
def test_what_is_registered_for_the_end_is_done(
    python: list[str], tmp_path: Path, end: str
) -> None:
    text = f"import atexit; atexit.register(print, 'the end')\n{end}"

    done = processes.run([*python, script(tmp_path, text)], os.environ)

    assert done.stdout == "the end\n"


def test_an_error_is_told(python: list[str], tmp_path: Path) -> None:
    done = processes.run([*python, script(tmp_path, "1 / 0")], os.environ)

    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


WAIT = """
import os, signal, subprocess, sys, time
def stop(*_):
    print("asked to stop", flush=True)
    sys.exit(5)
signal.signal(signal.SIGTERM, stop)
wait = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(wait, stdout=subprocess.DEVNULL)
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""


def waiting(python: list[str], folder: Path, **options: Any) -> "subprocess.Popen[str]":
    """A program that waits, once it has told its pid and that of its child."""
    command = [*python, script(folder, WAIT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def test_a_signal_reaches_the_program(python: list[str], tmp_path: Path) -> None:
    with waiting(python, tmp_path) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline().split()[1])
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "asked to stop\n"

    assert process.returncode == 5
    processes.kill(child)


def test_where_it_is_killed_the_program_ends_with_all_that_it_has_started(
    python: list[str], tmp_path: Path
) -> None:
    with waiting(python, tmp_path) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
        processes.wait_until(lambda: not any(map(processes.is_alive, pids)), "both are gone")


def test_what_it_is_to_keep_open_is_open_while_the_program_runs(
    python: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "lock"
    with path.open("w") as held, path.open() as asking:
        fcntl.flock(held, fcntl.LOCK_EX)
        with waiting(python, tmp_path, pass_fds=[held.fileno()]) as process:
            assert process.stdout is not None
            child = int(process.stdout.readline().split()[1])
            held.close()
            with pytest.raises(BlockingIOError):
                fcntl.flock(asking, fcntl.LOCK_EX | fcntl.LOCK_NB)
            process.terminate()
        processes.kill(child)
        fcntl.flock(asking, fcntl.LOCK_EX | fcntl.LOCK_NB)
