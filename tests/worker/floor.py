"""A floor to work on: a store with something to run, and real Celery workers on it.

Used by the tests of the worker. The trainer is `worker.process.fake_trainer` with the flags that a
test asks for; everything else is real.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.broker import wake
from backend.digest import go_on
from backend.model_files import content_sha256
from backend.schemas.references import PointsTo
from backend.settings import Settings
from backend.store.db import Database
from backend.store.runs import runs
from backend.store.runs.runs import NewRun
from backend.store.tables.data import Project, Prompt, Snapshot, SnapshotLine
from backend.store.tables.models import Model
from backend.store.tables.people import User
from backend.store.tables.runs import Run, RunEvent
from tests import processes
from tests.least_config import least_config
from tests.warm.process import WarmProcess
from tests.worker.history import steps_of
from worker.cancellation import Cancellation

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PROMPTS = 4
# Seconds: short where a test would wait for them, long where a slow machine would seem dead.
FAST = {
    "PODIUM_BEAT_S": "0.1",
    "PODIUM_STALE_S": "30",
    "PODIUM_SWEEP_S": "0.2",
    "PODIUM_STOP_GRACE_S": "30",
    "PODIUM_CRASH_BACK_OFF_S": "[0.1, 0.1]",
    # What is stored is what the trainer said, and nothing beside it.
    "PODIUM_SYSTEM_METRICS_S": "0",
}


def _work(arguments: Sequence[str]) -> int:
    from celery.__main__ import main

    sys.argv = list(arguments)
    return main() or 0


class Floor:
    """A data directory, a store, a broker."""

    def __init__(self, data_dir: Path, database_url: str, broker_url: str | None = None) -> None:
        self.data_dir = data_dir
        self.database = Database(database_url)
        self.settings = Settings(
            data_dir=data_dir, database_url=database_url, broker_url=broker_url
        )
        # Of work that nobody cancels.
        self.cancellation = Cancellation(lambda _: True, go_on)
        self._workers = 0
        (data_dir / "models").mkdir(parents=True, exist_ok=True)
        self._plant()

    def _plant(self) -> None:
        folder = self.data_dir / "models" / "base"
        write_model(folder)
        sha256 = content_sha256(folder, [folder / "model.safetensors"])
        with self.database.write() as session:
            session.add(User(id="user_seed", created_at=AT, name="Seed", role="admin"))
            session.add(Project(id="project_seed", created_at=AT, name="Seed"))
            session.flush()
            for number in range(PROMPTS):
                session.add(_prompt(number))
            model = Model(
                id="model_base",
                created_at=AT,
                project_id="project_seed",
                name="base",
                kind="causal_lm",
                source={"path": str(folder)},
                facts={},
                sha256=sha256,
            )
            session.add(model)
            session.flush()
            self.add_snapshot(session, "prompts", [_prompt_line(n) for n in range(PROMPTS)])
            self.add_snapshot(session, "demonstrations", [_demonstration_line(0)])

    def add_snapshot(
        self, session: Session, kind: str, lines: list[str], *, name: str | None = None
    ) -> None:
        """Freeze lines as a snapshot, by default named as its kind."""
        snapshot_id = f"snapshot_{name or kind}"
        text = "".join(f"{line}\n" for line in lines)
        session.add(
            Snapshot(
                id=snapshot_id,
                created_at=AT,
                project_id="project_seed",
                name=kind,
                kind=kind,
                sha256=hashlib.sha256(text.encode()).hexdigest(),
                heldout_fraction=0,
                seed=0,
                filter={},
                counts={"train": {"records": len(lines)}},
            )
        )
        session.flush()
        for position, line in enumerate(lines):
            session.add(
                SnapshotLine(snapshot_id=snapshot_id, position=position, split="train", line=line)
            )

    def new_run(
        self, method: str = "sft", *, behaviour: Mapping[str, Any] | None = None, **given: Any
    ) -> str:
        """A queued run, for which nobody is woken; see `add_run` and `behave`.

        A worker at work finds it together with its behaviour.
        """
        with self.database.write() as session:
            run_id = self.add_run(session, method, **given)
            if behaviour is not None:
                self.behave(run_id, **behaviour)
        return run_id

    def add_run(
        self,
        session: Session,
        method: str = "sft",
        *,
        gpus: int = 0,
        priority: int = 0,
        from_checkpoint: tuple[str, int] | None = None,
        **changes: Any,
    ) -> str:
        """A queued run; it may go on from a step of another one."""
        parent_id, parent_step = from_checkpoint or (None, None)
        config = least_config(method, _refer)
        if method == "generate":
            config |= {"samples_per_prompt": 2}
        new = NewRun(
            project_id="project_seed",
            user_id="user_seed",
            name="a run",
            method=method,
            config=config | changes,
            schema_version=1,
            gpus=gpus,
            priority=priority,
            parent_id=parent_id,
            parent_step=parent_step,
        )
        return runs.create(session, new, at=datetime.now(UTC)).id

    def behave(self, run_id: str, **flags: Any) -> None:
        """Tell the fake trainer of this run how to behave."""
        folder = self.settings.runs_dir / run_id
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / "behaviour.part"
        unfinished.write_text(json.dumps(flags))
        unfinished.replace(folder / "behaviour.json")

    def move_to(self, data_dir: Path) -> None:
        """From now on this floor is another machine: nothing of the first one's is there."""
        data_dir.mkdir()
        self.return_to(data_dir)

    def return_to(self, data_dir: Path) -> None:
        """From now on this floor is that machine again."""
        self.data_dir = data_dir
        self.settings = Settings(data_dir=data_dir, database_url=self.database.url)

    def wake(self, run_id: str) -> None:
        """Send one message that there is work."""
        # Redis gets a second each time; a message that comes twice changes nothing.
        processes.wait_until(lambda: wake(self.settings, run_id), "the broker takes the message")

    def run(self, run_id: str) -> Run:
        """The run as the store has it."""
        with self.database.read() as session:
            return runs.get(session, run_id)

    def states(self, run_id: str) -> list[str]:
        """Every state the run has been in, in order."""
        return [event.data["state"] for event in self.events(run_id, "state")]

    def events(self, run_id: str, kind: str) -> list[RunEvent]:
        """The run's events of one type, in order."""
        with self.database.read() as session:
            statement = select(RunEvent).where(RunEvent.run_id == run_id, RunEvent.type == kind)
            return list(session.scalars(statement.order_by(RunEvent.seq)))

    def told_steps(self, run_id: str) -> list[int]:
        """The steps of all metrics in the run's history, again where they were told again."""
        return [step for event in self.events(run_id, "metric") for step in steps_of(event)]

    def rows(self, statement: Any) -> list[Any]:
        """The rows of a select."""
        with self.database.read() as session:
            return list(session.scalars(statement))

    def ask(self, verb: Callable[..., object], run_id: str, **extra: Any) -> None:
        """Cancel, pause, resume or retry as the API does."""
        with self.database.write() as session:
            verb(session, run_id, at=datetime.now(UTC), **extra)

    def wait_for(self, run_id: str, *states: str, timeout_s: float = 120) -> Run:
        """The run once it is in one of these states."""
        what = f"run is {states}"
        processes.wait_until(
            lambda: self.run(run_id).state in states,
            what,
            timeout_s=timeout_s,
            log=self.newest_log(),
        )
        return self.run(run_id)

    def wait_for_step(self, run_id: str, step: int) -> None:
        """Wait until the run has told of this step."""
        processes.wait_until(
            lambda: self.run(run_id).step >= step, f"step {step}", log=self.newest_log()
        )

    def newest_log(self) -> Path:
        """The log of the worker started last."""
        return self.data_dir / f"worker-{self._workers}.log"

    def trainer_pid(self, run_id: str) -> int:
        """The process whose command line names the run's directory and --run-dir."""
        return self._pids(f"{run_id}/config.json", without="worker.process.guard")[0]

    def pids_of(self, run_id: str) -> list[int]:
        """Every live process whose command line or working directory names the run."""
        return self._pids(run_id)

    def _pids(self, word: str, without: str | None = None) -> list[int]:
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and processes.is_alive(int(folder.name)):
                text = _said_of(folder)
                if word in text and (without is None or without not in text):
                    found.append(int(folder.name))
        return found

    @staticmethod
    @contextmanager
    def _running(
        launcher: Sequence[str], app: str, env: Mapping[str, str], log: Path
    ) -> Iterator[processes.Process]:
        arguments = ["celery", "--app", app, "worker"]
        # Who brings modules of its own would find those of the others loaded.
        if launcher or "PYTHONPATH" in env:
            command = [*launcher, sys.executable, "-m", *arguments]
            with processes.running(command, env, log) as process:
                yield process
            return
        worker = WarmProcess(_work, arguments, env, log)
        with processes.ending(worker):
            yield worker

    @contextmanager
    def worker(
        self,
        *flags: str,
        slots: int = 1,
        app: str = "worker.celery_app",
        launcher: Sequence[str] = (),
        **settings: str,
    ) -> Iterator[processes.Process]:
        """A real Celery worker whose trainer is the fake one with these flags.

        It begins with its libraries loaded, unless `launcher` is the beginning of a command that
        becomes the worker, or PYTHONPATH names other libraries.
        """
        trainer = f"{sys.executable} -S -m worker.process.fake_trainer {' '.join(flags)}"
        given = {
            "PODIUM_DATABASE_URL": self.database.url,
            "PODIUM_SLOTS": str(slots),
            "PODIUM_TRAINER_COMMAND": trainer,
        }
        if self.settings.broker_url:
            given["PODIUM_BROKER_URL"] = self.settings.broker_url
        env = processes.environment(self.data_dir, **(given | FAST | settings))
        self._workers += 1
        log = self.newest_log()
        with self._running(launcher, app, env, log) as worker:
            processes.wait_until(
                lambda: "worker.ready" in log.read_text(errors="replace"),
                "the worker is ready",
                process=worker,
                log=log,
            )
            yield worker


def _said_of(folder: Path) -> str:
    try:
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return f"{command} {(folder / 'cwd').readlink()}"
    except OSError:
        return ""


def write_model(folder: Path) -> None:
    """The smallest folder that passes for a model."""
    folder.mkdir(parents=True, exist_ok=True)
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + bytes(8)
    )
    (folder / "config.json").write_text('{"vocab_size": 4}')


def _refer(_name: str, wants: PointsTo) -> dict[str, str]:
    return {"id": f"snapshot_{wants.kind}" if wants.snapshot else "model_base"}


def _prompt(number: int) -> Prompt:
    return Prompt(
        id=f"prompt_{number}",
        created_at=AT,
        project_id="project_seed",
        messages=[{"role": "user", "content": f"Question {number}?"}],
        tags=[],
        content_sha256=str(number) * 64,
    )


def _prompt_line(number: int) -> str:
    messages = [{"role": "user", "content": f"Question {number}?"}]
    record = {"prompt_id": f"prompt_{number}", "messages": messages, "split": "train"}
    return json.dumps(record)


def _demonstration_line(number: int) -> str:
    messages = [{"role": "user", "content": f"Question {number}?"}]
    record = {
        "demonstration_id": f"demonstration_{number}",
        "prompt_id": f"prompt_{number}",
        "messages": messages,
        "response": "An answer: ü.",
        "split": "train",
    }
    return json.dumps(record, ensure_ascii=False)
