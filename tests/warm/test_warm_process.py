"""A function in a process of its own: what it gets, what it says, and how it ends."""

import gc
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests import processes
from tests.warm import hosts, said
from tests.warm.process import WarmProcess


@pytest.mark.parametrize(
    ("host", "loaded"),
    [(hosts.SERVICE, ["sqlalchemy"]), (hosts.TRAINER, ["sqlalchemy", "torch"])],
)
def test_it_has_its_own_session_environment_and_input(
    tmp_path: Path, host: str, loaded: list[str]
) -> None:
    environment = os.environ | {"NAMED": "ü"}
    log = tmp_path / "log"

    process = WarmProcess(said.tell, ["7"], environment, log, stdin="heard", host=host)

    assert process.wait(60) == process.returncode == process.poll() == 7
    told = json.loads(log.read_text())
    assert told == {"read": "heard", "named": "ü", "leads": True, "loaded": loaded}


def test_an_error_is_its_end_and_stands_in_the_log(tmp_path: Path) -> None:
    process = WarmProcess(said.fail, [], os.environ, tmp_path / "log")

    assert process.wait(60) == 1
    assert "LookupError: nothing is found" in process.log.read_text()


def waiting(folder: Path) -> WarmProcess:
    process = WarmProcess(said.wait, [], os.environ, folder / "log")
    processes.wait_until(lambda: bool(process.log.read_text()), "it waits", process=process)
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    process = waiting(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0)

    process.send_signal(number)

    assert process.wait(60) == -number
    assert not processes.is_alive(process.pid)
    process.kill()  # It has ended, and its number may be another's.


def test_what_nobody_waits_for_any_more_is_killed(tmp_path: Path) -> None:
    process = waiting(tmp_path)
    pid = process.pid

    del process
    gc.collect()

    processes.wait_until(lambda: not processes.is_alive(pid), "it is gone")


def test_what_the_executable_is_given_to_keep_open_has_its_number(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, sys; os.write(int(sys.argv[1]), b'here')")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()

        subprocess.run(
            [hosts.executable(), str(program), str(number)], pass_fds=[number], check=True
        )

        assert ours.recv(16) == b"here"


def test_the_executable_runs_a_module_from_the_directory_of_its_client(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text(
        "import sys; print(sys.argv[1:], 'sqlalchemy' in sys.modules)"
    )

    done = subprocess.run(
        [hosts.executable(), "-m", "told", "a"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, "['a'] True\n", "")
