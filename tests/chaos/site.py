"""A whole installation of parts that die: API, workers, PostgreSQL, Redis, each a real process."""

import os
import shutil
import signal
import socket
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from sqlalchemy import create_engine, text

from backend.auth import add_key
from tests import processes, servers
from tests.chaos import witness
from tests.chaos.clock import Clock
from tests.chaos.mortal import Mortal
from tests.conftest import migrate
from tests.worker.floor import Floor

# Short enough to see many deaths, long enough for a busy machine.
SHORT = {
    "PODIUM_BEAT_S": "0.5",
    "PODIUM_STALE_S": "10",
    "PODIUM_SWEEP_S": "0.5",
    "PODIUM_STOP_GRACE_S": "10",
    "PODIUM_CRASH_BACK_OFF_S": "[0.2, 0.5]",
}
_CALL_TIMEOUT_S = 10.0
# What every site can train.
SFT: dict[str, Any] = {
    "method": "sft",
    "model": {"id": "model_base"},
    "demonstrations": {"id": "snapshot_demonstrations"},
}


class Site:
    """What a test may break, and what it asks about afterwards."""

    def __init__(
        self,
        folder: Path,
        *,
        trainer: str,
        settings: Mapping[str, str],
        clocks: Mapping[str, Clock],
        python: str,
    ) -> None:
        """`clocks` gives parts by name a time of day of their own; `python` runs the trainer."""
        self.data_dir = folder / "data"
        self.witness = folder / "witness"
        self.servers: dict[str, Mortal] = {}
        self.workers: list[Mortal] = []
        self._folder = folder
        self._clocks = clocks
        command = witness.command(self.witness, trainer, python)
        # What is stored is what the trainer said, and nothing beside it.
        alone = {"PODIUM_SYSTEM_METRICS_S": "0"}
        self._settings = {**alone, **settings, "PODIUM_TRAINER_COMMAND": command}
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def open(self, database_url: str, broker_url: str | None, *, workers: int, slots: int) -> None:
        """Plant something to run and start the API and the workers."""
        self.floor = Floor(self.data_dir, database_url, broker_url)
        with self.floor.database.write() as session:
            at = datetime.now(UTC)
            key = add_key(session, user_id="user_seed", name="key", expires_in_s=None, at=at)
            self.key = key.key
        settings = {
            "PODIUM_DATABASE_URL": database_url,
            "PODIUM_SLOTS": str(slots),
            **({"PODIUM_BROKER_URL": broker_url} if broker_url else {}),
            **self._settings,
        }
        env = processes.environment(self.data_dir, **settings)
        self.servers["api"] = self._api(env)
        self.workers = [self._worker(number, env) for number in range(workers)]
        for part in self.parts():
            part.start()
        for part in self.parts():
            part.wait_until_ready()

    def close(self) -> None:
        """End API and workers; they need the servers until then."""
        for part in self.parts():
            part.ask_to_end()
        for part in self.parts():
            part.wait_for_end()
        self.floor.database.close()
        self._socket.close()

    def parts(self) -> list[Mortal]:
        """API and workers."""
        return [self.servers["api"], *self.workers]

    def restart(self) -> None:
        """End every process of the installation as an operator does, then start them all again."""
        servers = [self.servers[name] for name in ("postgres", "redis") if name in self.servers]
        for tier in (self.parts(), servers):
            for part in tier:
                part.ask_to_end()
            for part in tier:
                part.wait_for_end()
        for tier in (servers, self.parts()):
            for part in tier:
                part.start()
            for part in tier:
                part.wait_until_ready()

    def clock_of(self, name: str) -> dict[str, str]:
        """What makes a part see its own clock; nothing for a part that has none."""
        return self._clocks[name].environment() if name in self._clocks else {}

    def _api(self, env: Mapping[str, str]) -> Mortal:
        listener = self._socket.fileno()
        return Mortal(
            "api",
            [sys.executable, "-m", "backend.ops.serve", str(listener)],
            self._folder / "api.log",
            is_ready=lambda _: processes.answers(f"{self.url}/healthz"),
            env={**env, **self.clock_of("api")},
            pass_fds=(listener,),
        )

    def _worker(self, number: int, env: Mapping[str, str]) -> Mortal:
        return Mortal(
            f"worker {number}",
            [sys.executable, "-m", "celery", "--app", "worker.celery_app", "worker"],
            self._folder / f"worker-{number}.log",
            is_ready=lambda said: "worker.ready" in said,
            env={**env, **self.clock_of(f"worker {number}")},
        )

    def create_run(self, name: str, config: dict[str, Any]) -> str:
        """Create a run as a client does that does not give up; returns its id."""
        body = {"project_id": "project_seed", "name": name, "config": config}
        key = uuid.uuid4().hex
        answer: list[str] = []

        def is_created() -> bool:
            found = self.call("POST", "/runs", json=body, headers={"Idempotency-Key": key})
            if found is not None:
                answer.append(found["id"])
            return found is not None

        processes.wait_until(is_created, "a run is created", timeout_s=120)
        return answer[0]

    def call(self, method: str, path: str, *, too_late: int = 0, **more: Any) -> Any:
        """The JSON of an answer, None while the API or its database is away.

        `too_late` is the status of a refusal that may be: then it is None, too.
        """
        headers = {"Authorization": f"Bearer {self.key}"} | more.pop("headers", {})
        try:
            answer = httpx.request(
                method,
                f"{self.url}/api/v1{path}",
                headers=headers,
                timeout=_CALL_TIMEOUT_S,
                trust_env=False,
                verify=False,
                **more,
            )
        except httpx.HTTPError:
            return None
        if answer.status_code >= 500 or answer.status_code == too_late:
            return None
        assert answer.status_code < 300, answer.text
        return answer.json()

    def pids(self, word: str, run_ids: Sequence[str]) -> list[int]:
        """Live processes of these runs whose command line has this word."""
        words = [f"{run_id}/config.json" for run_id in run_ids]
        found = []
        for pid, said in _command_lines():
            if any(one in said for one in words) and (word in said) and processes.is_alive(pid):
                found.append(pid)
        return found

    def trainers(self, run_ids: Sequence[str]) -> list[int]:
        """Live trainers of these runs."""
        guards = set(self.pids("worker.process.guard", run_ids))
        return [pid for pid in self.pids("", run_ids) if pid not in guards]

    def guards(self, run_ids: Sequence[str]) -> list[int]:
        """Live guards of these runs."""
        return self.pids("worker.process.guard", run_ids)

    def orphans(self) -> list[str]:
        """Command lines of processes that work in or on a run directory."""
        runs = str(self.data_dir / "runs")
        found = []
        for pid, said in _command_lines():
            if runs in f"{said} {_folder_of(pid)}" and processes.is_alive(pid):
                found.append(f"{pid}: {said}")
        return found


def _command_lines() -> Iterator[tuple[int, str]]:
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            raw = Path("/proc", name, "cmdline").read_bytes()
        except OSError:
            continue
        yield int(name), raw.replace(b"\0", b" ").decode(errors="replace")


def _folder_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


@contextmanager
def embedded_site(
    folder: Path,
    template: Path,
    *,
    trainer: str,
    settings: Mapping[str, str] = SHORT,
    clocks: Mapping[str, Clock] = MappingProxyType({}),
    python: str = sys.executable,
) -> Iterator[Site]:
    """SQLite and files, one worker, as `podium up` has it."""
    site = Site(folder, trainer=trainer, settings=settings, clocks=clocks, python=python)
    site.data_dir.mkdir(parents=True)
    shutil.copyfile(template, site.data_dir / "podium.sqlite3")
    url = f"sqlite:///{site.data_dir / 'podium.sqlite3'}"
    try:
        site.open(url, None, workers=1, slots=3)
        yield site
    finally:
        site.close()


@contextmanager
def server_site(
    folder: Path,
    *,
    trainer: str,
    settings: Mapping[str, str] = SHORT,
    clocks: Mapping[str, Clock] = MappingProxyType({}),
    python: str = sys.executable,
) -> Iterator[Site]:
    """PostgreSQL and Redis that can be killed, and two workers."""
    site = Site(folder, trainer=trainer, settings=settings, clocks=clocks, python=python)
    cluster = Path(tempfile.mkdtemp(prefix="podium-pg-", dir="/tmp"))
    port = servers.free_port()
    command, account = servers.prepare_postgres(cluster, keeps_commits=True)
    postgres = Mortal(
        "postgres",
        command,
        folder / "postgres.log",
        is_ready=lambda _: servers.postgres_answers(cluster),
        env={**os.environ, **site.clock_of("postgres")},
        user=account,
        cwd=cluster,
        end_signal=signal.SIGINT,
        # A killed postmaster's children may take a moment to notice.
        passing="pre-existing shared memory block",
    )
    redis = Mortal(
        "redis",
        servers.redis_command(folder, port),
        folder / "redis.log",
        is_ready=lambda _: servers.redis_answers(port),
    )
    site.servers |= {"postgres": postgres, "redis": redis}
    try:
        for server in (postgres, redis):
            server.start()
            server.wait_until_ready()
        url = new_database(servers.postgres_url(cluster))
        site.open(url, f"redis://127.0.0.1:{port}/0", workers=2, slots=2)
        yield site
    finally:
        site.close()
        for server in (postgres, redis):
            server.ask_to_end()
        for server in (postgres, redis):
            server.wait_for_end()
        shutil.rmtree(cluster, ignore_errors=True)


def new_database(server: str) -> str:
    """A migrated database on a server, whose URL has `{database}` to fill in."""
    engine = create_engine(server.format(database="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE podium"))
    engine.dispose()
    url = server.format(database="podium")
    migrate(url)
    return url
