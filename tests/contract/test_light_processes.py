"""What runs is light: no torch in API and Celery worker, and nothing loads what few need."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import processes
from tests.servers import free_port

HEAVY = {"torch", "transformers", "peft", "accelerate", "tokenizers", "safetensors", "gguf"}
# What one kind of request needs, or a bucket or a broker that was not set.
SELDOM = {"celery", "kombu", "redis", "fsspec", "zxcvbn", "pyarrow", "numpy", "alembic", "psycopg"}
# Python imports this file at start: asked by a signal, the process writes down what it has loaded.
SITE_CUSTOMIZE = """
import json, os, signal, sys

def tell(*_):
    with open(os.environ["TELL_FILE"] + ".part", "w") as file:
        json.dump(sorted({name.partition(".")[0] for name in list(sys.modules)}), file)
    os.rename(os.environ["TELL_FILE"] + ".part", os.environ["TELL_FILE"])

signal.signal(signal.SIGUSR2, tell)
"""
# A verb, then what of Podium it has loaded under the umask of data.
LATE = """
import os, sys
from backend.cli import main

given, loaded = [], []

def umask(mask, set_umask=os.umask):
    given.append(mask)
    loaded.append(set(sys.modules))
    return set_umask(mask)

os.umask = umask
main(sys.argv[1:])
assert given == [0o077]
late = sorted(set(sys.modules) - loaded[0])
print("loaded late:", [name for name in late if name.startswith(("backend.", "problems."))])
"""
# What the API has built before anybody asks it.
BUILT = """
from pydantic import BaseModel
from backend import main

def below(kind):
    for one in kind.__subclasses__():
        yield one
        yield from below(one)

app = main.create_app()
schemas = {one for one in below(BaseModel) if one.__module__.startswith("backend.")}
assert len(schemas) > 200
print("schemas:", sorted(one.__name__ for one in schemas if one.__pydantic_complete__))
print("routes:", [one.path for one in main._routes() if "dependant" in vars(one)])
"""
# Promised are 2 s, which `make bench` shows; torch alone takes longer than this on a slow machine.
API_READY_S = 8.0


def telling_environment(folder: Path, data_dir: Path) -> dict[str, str]:
    (folder / "sitecustomize.py").write_text(SITE_CUSTOMIZE)
    env = processes.environment(data_dir, PODIUM_PORT="0", PODIUM_STOP_GRACE_S="5")
    return {**env, "PYTHONPATH": str(folder), "TELL_FILE": str(folder / "modules.json")}


def loaded_modules(process: subprocess.Popen[bytes], folder: Path, log: Path) -> set[str]:
    told = folder / "modules.json"
    os.kill(process.pid, signal.SIGUSR2)
    processes.wait_until(told.exists, "the process told its modules", process=process, log=log)
    return set(json.loads(told.read_text()))


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    data_dir = tmp_path / "data"
    done = processes.run(["podium", "migrate"], processes.environment(data_dir))
    assert done.returncode == 0, done.stderr
    return data_dir


SERVE = [sys.executable, "-m", "backend.ops.serve"]


def test_the_running_api_has_not_loaded_torch(migrated: Path, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "api.log"
    env = telling_environment(tmp_path, migrated) | {"PODIUM_PORT": str(port)}

    with processes.running(SERVE, env, log) as api:
        url = f"http://127.0.0.1:{port}/readyz"
        processes.wait_until(lambda: processes.answers(url), "ready", process=api, log=log)
        modules = loaded_modules(api, tmp_path, log)

    assert {"fastapi", "sqlalchemy", "backend"} <= modules
    assert modules & (HEAVY | SELDOM) == set()
    assert "worker" not in modules


def test_the_running_celery_worker_has_not_loaded_torch(migrated: Path, tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    env = telling_environment(tmp_path, migrated)
    command = [sys.executable, "-m", "celery", "--app", "worker.celery_app", "worker"]

    with processes.running(command, env, log) as worker:
        processes.wait_until(
            lambda: "ready" in log.read_text(errors="replace"), "ready", process=worker, log=log
        )
        modules = loaded_modules(worker, tmp_path, log)

    assert {"celery", "sqlalchemy", "worker"} <= modules
    assert modules & (HEAVY | SELDOM) <= {"celery", "kombu"}
    assert "fastapi" not in modules


def test_the_api_builds_what_a_request_needs_when_one_comes(tmp_path: Path) -> None:
    """All schemas and routes would take half of the start."""
    done = processes.run([sys.executable, "-c", BUILT], processes.environment(tmp_path))

    # Constants are made with these.
    used = ["AxisSpan", "Listing", "Metric", "Preset", "PresetSource", "Settings", "Span"]
    assert done.stdout.splitlines() == [f"schemas: {used}", "routes: []"], done.stderr


def loaded_by(verb: list[str], data_dir: Path) -> set[str]:
    command = [sys.executable, "-X", "importtime", "-m", "backend.cli", *verb]
    done = processes.run(command, processes.environment(data_dir))
    assert done.returncode == 0, done.stderr
    names = (line.rpartition("|")[2].strip() for line in done.stderr.splitlines())
    return {name.partition(".")[0] for name in names}


def test_help_loads_no_database_and_no_broker(tmp_path: Path) -> None:
    modules = loaded_by(["--help"], tmp_path)

    assert {"backend", "argparse"} <= modules
    assert modules & {"sqlalchemy", "alembic", "celery", "kombu", "redis", "fastapi"} == set()


def test_verbs_on_the_database_load_no_broker_and_no_migrations(
    migrated: Path, tmp_path: Path
) -> None:
    created = loaded_by(["migrate"], tmp_path / "new")
    pruned = loaded_by(["prune"], migrated)

    assert {"sqlalchemy", "alembic"} <= created
    assert "sqlalchemy" in pruned
    assert "alembic" not in pruned
    assert (created | pruned) & {"celery", "kombu", "redis", "fastapi"} == set()


@pytest.mark.parametrize(
    "verb",
    ["migrate", "sign-in", "backup copy", "restore copy", "prune", "audit verify", "doctor",
     "problems read math none.parquet"],
)  # fmt: skip
def test_what_python_compiles_for_a_verb_is_for_every_user(
    verb: str, migrated: Path, tmp_path: Path
) -> None:
    """Also where root is the first to use it: the umask of data is not that of Podium itself."""
    words = [str(tmp_path / word) if word == "copy" else word for word in verb.split()]
    env = processes.environment(migrated)

    done = processes.run([sys.executable, "-c", LATE, *words], env)

    assert done.stdout.splitlines()[-1:] == ["loaded late: []"], done.stderr


def test_the_api_is_ready_at_once(migrated: Path, tmp_path: Path) -> None:
    times_s = [seconds_to_ready(migrated, tmp_path / f"api-{n}.log") for n in range(3)]

    assert min(times_s) < API_READY_S, times_s


def seconds_to_ready(data_dir: Path, log: Path) -> float:
    """From start to readiness, less the time in which other processes held all cores."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/readyz"
    began = time.monotonic()
    env = processes.environment(data_dir, PODIUM_PORT=str(port))
    with processes.running(SERVE, env, log) as api:
        processes.wait_until(lambda: processes.answers(url), "ready", process=api, log=log)
        return time.monotonic() - began - seconds_without_a_core(api.pid)


def seconds_without_a_core(pid: int) -> float:
    """How long the process was ready to run and did not; 0 where the system does not say."""
    schedule = Path(f"/proc/{pid}/schedstat")
    return int(schedule.read_text().split()[1]) / 1e9 if schedule.exists() else 0.0
