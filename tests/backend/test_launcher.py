"""`podium up`: one real launcher with real children, watched by pid.

The launcher that most tests share is started as its users start it. Where a test ends the launcher,
its children begin with their libraries loaded.
"""

import fcntl
import json
import os
import re
import signal
import stat
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from backend.ops import launcher
from tests import processes
from tests.processes import is_alive, wait_until
from tests.warm import hosts

UP = ["podium", "up"]


@dataclass(frozen=True)
class Served:
    """A running launcher."""

    process: subprocess.Popen[bytes]
    data_dir: Path
    log: Path

    @property
    def url(self) -> str:
        return str(self.server_file()["url"])

    def server_file(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.data_dir / "server.json").read_text())
        return found

    def child(self, part_of_command: str) -> psutil.Process:
        """The child whose command line has this word; Raises StopIteration if there is none."""
        children = psutil.Process(self.process.pid).children()
        return next(c for c in children if part_of_command in " ".join(c.cmdline()))

    def call(self, method: str, path: str, body: object = None, key: str = "") -> tuple[int, Any]:
        """Status and JSON of an API call."""
        request = urllib.request.Request(
            f"{self.url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Origin": self.url}
            | ({"Authorization": f"Bearer {key}"} if key else {}),
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)


@contextmanager
def serving(folder: Path, command: Sequence[str] = UP, **settings: str) -> Iterator[Served]:
    """A launcher on a free port, from ready to ended."""
    data_dir, log = folder / "data", folder / "up.log"
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5", **settings)
    with processes.running(command, env, log) as process:
        served = Served(process, data_dir, log)
        wait_until(
            lambda: "Sign-in link" in log.read_text(errors="replace"),
            "served",
            process=process,
            log=log,
        )
        yield served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One launcher for the tests that do not end it."""
    with serving(tmp_path_factory.mktemp("up")) as found:
        yield found


def test_server_json_tells_address_and_process(served: Served) -> None:
    found = served.server_file()

    assert found == {"url": served.url, "pid": served.process.pid}
    assert processes.answers(f"{served.url}/readyz")


def test_the_first_start_leaves_a_key_that_works_and_that_only_the_owner_reads(
    served: Served,
) -> None:
    path = served.data_dir / "admin.key"

    status, me = served.call("GET", "/api/v1/me", key=path.read_text().strip())

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (status, me["role"]) == (200, "admin")


def test_the_printed_link_signs_in_once(served: Served) -> None:
    link = re.findall(r"http\S+/sign-in#token=\S+", served.log.read_text())[-1]
    body = {"token": link.split("#token=")[1]}

    first, _ = served.call("POST", "/api/v1/session", body)
    second, problem = served.call("POST", "/api/v1/session", body)

    assert link.startswith(served.url)
    assert (first, second) == (201, 401)
    assert problem["advice"]


def test_a_second_server_on_the_data_directory_is_told_who_holds_it(served: Served) -> None:
    env = processes.environment(served.data_dir, PODIUM_PORT="0")

    done = processes.run(UP, env)

    assert done.returncode == 1
    assert served.url in done.stderr
    assert str(served.process.pid) in done.stderr
    assert "PODIUM_DATA_DIR" in done.stderr


def test_a_taken_port_is_named(served: Served, tmp_path: Path) -> None:
    port = served.url.rsplit(":", 1)[1]
    env = processes.environment(tmp_path, PODIUM_PORT=port)

    done = processes.run(UP, env)

    assert done.returncode == 1
    assert port in done.stderr
    assert "PODIUM_PORT" in done.stderr


def test_a_dead_api_comes_back_at_the_same_address(served: Served) -> None:
    api = served.child("backend.ops.serve")

    api.kill()
    wait_until(lambda: not is_alive(api.pid), "the API is dead")

    wait_until(lambda: processes.answers(f"{served.url}/readyz"), "it is back", log=served.log)
    assert served.child("backend.ops.serve").pid != api.pid
    assert served.process.poll() is None


def test_a_dead_worker_comes_back(served: Served) -> None:
    worker = served.child("celery")

    worker.kill()

    def another() -> bool:
        try:
            return served.child("celery").pid != worker.pid
        except (StopIteration, psutil.NoSuchProcess):
            return False

    wait_until(another, "another worker runs", log=served.log)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_leaves_the_directory_free(
    tmp_path: Path, number: signal.Signals
) -> None:
    with serving(tmp_path, hosts.up()) as served:
        children = [child.pid for child in psutil.Process(served.process.pid).children()]

        served.process.send_signal(number)
        code = served.process.wait(processes.PATIENCE_S)

        assert code == 0, served.log.read_text()
        assert len(children) == 2
        assert [pid for pid in children if is_alive(pid)] == []
        assert not (served.data_dir / "server.json").exists()


def test_nohup_keeps_a_server_when_its_terminal_closes(tmp_path: Path) -> None:
    with serving(tmp_path, ["nohup", *hosts.up()]) as served:
        api = served.child("backend.ops.serve")

        served.process.send_signal(signal.SIGHUP)
        api.kill()
        wait_until(lambda: not is_alive(api.pid), "the API is dead")

        wait_until(
            lambda: processes.answers(f"{served.url}/readyz"), "it is back", process=served.process
        )


def test_a_server_that_cannot_print_still_brings_its_api_back(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5")
    with processes.running(hosts.up(), env, Path("/dev/full")) as process:
        served = Served(process, data_dir, data_dir / "logs" / "api.log")
        wait_until((data_dir / "server.json").exists, "served", process=process)
        api = served.child("backend.ops.serve")

        api.kill()
        wait_until(lambda: not is_alive(api.pid), "the API is dead")

        wait_until(lambda: processes.answers(f"{served.url}/readyz"), "it is back", process=process)


def test_a_link_that_nobody_can_read_is_a_failure(served: Served) -> None:
    env = processes.environment(served.data_dir)

    done = processes.run(["sh", "-c", "podium sign-in > /dev/full"], env)

    assert done.returncode != 0


def test_children_do_not_outlive_a_killed_launcher(tmp_path: Path) -> None:
    with serving(tmp_path, hosts.up()) as served:
        children = [child.pid for child in psutil.Process(served.process.pid).children()]

        served.process.kill()
        served.process.wait()

        wait_until(lambda: not any(is_alive(pid) for pid in children), "the children end")
    with serving(tmp_path, hosts.up()) as again:
        assert again.server_file()["pid"] == again.process.pid


def test_settings_that_make_no_sense_are_refused_by_name(tmp_path: Path) -> None:
    done = processes.run(UP, processes.environment(tmp_path, PODIUM_SLOTS="many"))

    assert done.returncode == 1
    assert "PODIUM_SLOTS is 'many': " in done.stderr


def test_the_process_group_of_the_launcher_is_its_own(served: Served) -> None:
    children = psutil.Process(served.process.pid).children()

    assert {os.getpgid(child.pid) for child in children}.isdisjoint({served.process.pid})


def test_whoever_asks_whether_a_server_runs_keeps_none_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "podium.lock").open("a+") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        monkeypatch.setattr(time, "sleep", lambda _: fcntl.flock(asking, fcntl.LOCK_UN))
        launcher.hold_data_dir(tmp_path).close()
