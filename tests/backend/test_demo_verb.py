"""`podium demo` and `podium paper` around a short client: the server first, and nothing left."""

import json
import signal
import sys
from pathlib import Path

import pytest

from tests import processes
from tests.warm import hosts

CLIENT = """
import json, os, sys, time, urllib.request
from pathlib import Path

data_dir = Path(os.environ["PODIUM_DATA_DIR"])
key = (data_dir / "admin.key").read_text().strip()
request = urllib.request.Request(
    os.environ["PODIUM_URL"] + "/api/v1/me", headers={"Authorization": f"Bearer {key}"}
)
with urllib.request.urlopen(request) as answer:
    me = json.load(answer)
server = json.loads((data_dir / "server.json").read_text())
(data_dir / "seen.json").write_text(json.dumps({"me": me, "server": server}))
{end}
"""


def demo_command(folder: Path, end: str, *verb: str, executable: str | None = None) -> list[str]:
    """The verb, `demo` if none is said, with this client in the place of its own.

    `executable` is what it starts as `python`, by default with the service's libraries loaded.
    """
    client = folder / "client.py"
    client.write_text(CLIENT.replace("{end}", end))
    program = f"""
import sys
from pathlib import Path
from backend import cli
cli.EXAMPLE = cli.PAPER = Path({str(client)!r})
sys.executable = {executable or hosts.executable()!r}
sys.exit(cli.main({list(verb or ("demo",))!r}))
"""
    return [sys.executable, "-c", program]


@pytest.mark.parametrize("code", [0, 3])
def test_without_a_terminal_the_client_decides_the_exit_code_and_nothing_stays(
    tmp_path: Path, code: int
) -> None:
    data_dir = tmp_path / "data"
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5")

    # Once as its users start it.
    executable = sys.executable if code == 0 else None
    done = processes.run(demo_command(tmp_path, f"sys.exit({code})", executable=executable), env)

    seen = json.loads((data_dir / "seen.json").read_text())
    assert done.returncode == code, done.stdout + done.stderr
    assert seen["me"]["role"] == "admin"
    assert not (data_dir / "server.json").exists()
    assert not processes.is_alive(seen["server"]["pid"])
    assert not processes.answers(f"{seen['server']['url']}/healthz")


@pytest.mark.parametrize(
    ("passed", "given"), [("internal.example", "internal.example,127.0.0.1"), ("*", "*")]
)
def test_behind_a_proxy_server_and_client_reach_each_other_without_it(
    tmp_path: Path, passed: str, given: str
) -> None:
    data_dir = tmp_path / "data"
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5")
    # Nothing answers there; what it lets pass is the operator's to say.
    env |= {"http_proxy": "http://127.0.0.1:9", "no_proxy": passed, "NO_PROXY": ""}
    tell = "(data_dir / 'no_proxy').write_text(os.environ['no_proxy'])"

    done = processes.run(demo_command(tmp_path, tell), env)

    assert done.returncode == 0, done.stdout + done.stderr
    assert (data_dir / "no_proxy").read_text() == given


def test_an_interrupted_demo_takes_its_client_along(tmp_path: Path) -> None:
    data_dir, log = tmp_path / "data", tmp_path / "demo.log"
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5")
    end = "(data_dir / 'client.pid').write_text(str(os.getpid())); time.sleep(600)"

    with processes.running(demo_command(tmp_path, end), env, log) as process:
        told = data_dir / "client.pid"
        processes.wait_until(
            lambda: told.exists() and bool(told.read_text()), "client", process=process, log=log
        )
        process.send_signal(signal.SIGINT)
        code = process.wait(processes.PATIENCE_S)

    assert code == 130
    assert not processes.is_alive(int(told.read_text()))
    assert not (data_dir / "server.json").exists()


def test_the_paper_s_client_is_told_the_size_and_its_reward_is_allowed(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5")
    names = ("PODIUM_REWARD_FUNCTIONS", "PYTHONPATH")
    end = f"""
told = [sys.argv[1:], *(os.environ[name] for name in {names!r})]
(data_dir / "told.json").write_text(json.dumps(told))
"""

    done = processes.run(demo_command(tmp_path, end, "paper", "--fast"), env)

    assert done.returncode == 0, done.stdout + done.stderr
    arguments, function, folder = json.loads((data_dir / "told.json").read_text())
    module, _, name = function.partition(":")
    source = Path(folder, *module.split(".")).with_suffix(".py").read_text()
    assert arguments == ["--fast"]
    assert f"def {name}(" in source
