"""Workers whose transactions are taken one by one, in the order that a test chooses.

Worker process, tasks, supervisor, heartbeat, relay and sweeper are the real ones, each in a thread
that stands before every transaction, sleep and wait until it is told to go on; the store is a real
one. The guard with its trainer is a model in this process, so that no time passes but the test's
own.
"""

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.settings import Settings
from backend.store.db import Database
from tests.worker.floor import write_model
from worker.heartbeat import Heartbeat
from worker.process.attempt_tags import AttemptTag
from worker.process.trainer_process import Ended
from worker.supervisor import Supervisor
from worker.worker_process import WorkerProcess

STEPS = 3
_PATIENCE_S = 120.0
_here = threading.local()


class Killed(BaseException):
    """SIGKILL, as the code of the process that gets it sees it: nothing more of it happens."""


class Actor(threading.Thread):
    """A thread of a worker that goes on only when it is told to."""

    def __init__(self, this_worker: "SteppedWorker", what: Callable[[], None], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.this_worker = this_worker
        self.is_over = False
        self._what = what
        self._go = threading.Semaphore(0)
        self._stands = threading.Semaphore(0)
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Do it, from gate to gate."""
        _here.actor = self
        self._go.acquire()
        try:
            if not self.this_worker.is_killed:
                self._what()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001 - told by `step`
            self._error = error
        self.is_over = True
        self._stands.release()

    def stand(self) -> None:
        """Wait for the next `step`; raises Killed if the worker is dead by then."""
        self._stands.release()
        self._go.acquire()
        if self.this_worker.is_killed:
            raise Killed

    def step(self) -> None:
        """Let the thread go on to its next gate; raises what it raised."""
        if self.is_over:
            return
        self._go.release()
        assert self._stands.acquire(timeout=_PATIENCE_S), f"{self.name} hangs"
        if self._error is not None:
            raise self._error


def gate() -> None:
    """Where a thread of a worker may be overtaken by everybody else."""
    actor: Actor | None = getattr(_here, "actor", None)
    if actor is not None:
        actor.stand()


class SteppedDatabase(Database):
    """A worker's way to the store: overtaken before, cut off, and cut off before the answer."""

    def __init__(self, base: Database) -> None:
        vars(self).update(vars(base))
        self.is_cut = False
        self.loses_answer = False

    @contextmanager
    def read(self) -> Iterator[Session]:
        """As in any database."""
        self._reach()
        with super().read() as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """As in any database; the answer to a commit may be lost."""
        self._reach()
        with super().write() as session:
            yield session
        if self.loses_answer:
            self.loses_answer = False
            raise _away()

    def close(self) -> None:
        """The connections are everybody's."""

    def _reach(self) -> None:
        gate()
        if self.is_cut:
            raise _away()


def _away() -> OperationalError:
    return OperationalError("no statement", None, ConnectionError("the store is away"))


class SteppedWorker(WorkerProcess):
    """One worker process; no message wakes it, the test begins its tasks."""

    database: SteppedDatabase

    def __init__(
        self, settings: Settings, base: Database, host: str, clock: Callable[[], float]
    ) -> None:
        super().__init__(settings, clock)
        self.database.close()
        self.database = SteppedDatabase(base)
        # A thread that stands at its gate would keep those that share its transaction.
        self.group = None
        self.host = host
        self.is_killed = False
        self.actors: list[Actor] = []
        self.trainers: list[ScriptedTrainer] = []
        # Of every worker of this machine, dead ones too.
        self.trainers_here: Callable[[], Iterable[ScriptedTrainer]] = lambda: self.trainers

    def begin(self, what: Callable[[], None], name: str) -> Actor:
        """A new thread of this worker."""
        self.actors = [actor for actor in self.actors if not actor.is_over]
        self.actors.append(Actor(self, what, name))
        return self.actors[-1]

    def kill(self) -> None:
        """SIGKILL: the threads are gone; the guards find out when the test says so."""
        self.is_killed = True
        for trainer in self.trainers:
            trainer.is_orphan = True
        while any(not actor.is_over for actor in self.actors):
            for actor in self.actors:
                actor.step()

    def wait(self, seconds: float) -> bool:
        """Sleep for as long as the test likes."""
        gate()
        return self.clock() < self._grace_ends

    def kill_left(self, is_meant: Callable[[AttemptTag], bool]) -> int:
        """SIGKILL to the trainers of this machine that are meant."""
        left = [one for one in self.trainers_here() if one.is_alive and is_meant(one.tag)]
        for trainer in left:
            trainer.kill()
        return len(left)

    def wake(self, run_id: str) -> bool:
        """Taken and lost: a message changes nothing."""
        return True


class SteppedHeartbeat(Heartbeat):
    """The beating thread of one supervisor."""

    def start(self) -> None:
        """Begin as a thread of the worker whose thread calls."""
        this_worker: SteppedWorker = _here.actor.this_worker
        self._actor = this_worker.begin(self.run, self.name)

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        while not self._actor.is_over:
            gate()

    def _rest(self) -> bool:
        gate()
        return self._end.is_set()


class ScriptedTrainer:
    """A guard and its trainer, as a supervisor sees them; what it does is said by `work`."""

    steps: ClassVar[int] = STEPS

    def __init__(
        self,
        command: Sequence[str],
        *,
        tag: AttemptTag,
        logs: Path,
        lock_fd: int,
        environment: Mapping[str, str],
        pause_after_s: float,
        proven_at: float,
    ) -> None:
        self.run_id = tag.run_dir.name
        self.tag = tag
        self.is_orphan = False
        self.is_deaf = False
        self._folder = tag.run_dir
        self._attempt = tag.attempt
        self._lock_fd = os.dup(lock_fd)
        self._pause_after_s = pause_after_s
        self._proven_at = proven_at
        self._this_worker: SteppedWorker = _here.actor.this_worker
        self._this_worker.trainers.append(self)
        self._ended: Ended | None = None
        self.is_asked = False
        self._step: int | None = None

    @property
    def is_alive(self) -> bool:
        """Whether there is such a process."""
        return self._ended is None

    @property
    def runs(self) -> bool:
        """Whether it is alive and does not stand still."""
        left_s = self._proven_at + self._pause_after_s - self._this_worker.clock()
        return self.is_alive and (not self._pause_after_s or left_s > 0)

    def wait(self, timeout_s: float) -> Ended | None:
        """The supervisor's look at it."""
        gate()
        return self._ended

    def ask_to_stop(self) -> None:
        """SIGTERM."""
        self.is_asked = True

    def kill(self) -> None:
        """SIGKILL."""
        self.end(Ended(code=None, signal=9))

    def close(self) -> None:
        """The worker lets go of it, unless the worker itself is dead."""
        if not self._this_worker.is_killed:
            self.kill()

    def beat(self, proven_at: float) -> None:
        """A proof of ownership."""
        self._proven_at = max(self._proven_at, proven_at)

    def end(self, ended: Ended) -> None:
        """The process is gone, and with it the lock."""
        if self._ended is None:
            self._ended = ended
            os.close(self._lock_fd)

    def work(self, what: str) -> None:
        """One deed, if it runs: step, checkpoint, stop, fail, crash or tear."""
        if not self.runs:
            return
        if self._step is None:
            self._begin()
        elif self.is_asked and not self.is_deaf and what != "crash":
            self._checkpoint()
            self._leave(5)
        elif what == "step":
            self._train()
        elif what == "checkpoint":
            self._checkpoint()
        elif what == "fail":
            self._leave(4)
        elif what == "tear":
            self._write('{"type": "metric", "st')
            self.kill()
        elif what == "crash":
            self.kill()

    def _begin(self) -> None:
        (self._folder / "exit.json").unlink(missing_ok=True)
        events = self._folder / "events.jsonl"
        data = events.read_bytes() if events.exists() else b""
        events.write_bytes(data[: data.rfind(b"\n") + 1])
        found = (self._folder / "checkpoints").glob("step-*")
        self._step = max((int(path.name.removeprefix("step-")) for path in found), default=0)
        self._emit(type="start", attempt=self._attempt, step=self._step, environment={})

    def _train(self) -> None:
        assert self._step is not None  # it has begun
        if self._step == self.steps:
            output = self._folder / "output"
            write_model(output)
            (output / "tokenizer.json").write_text("{}")
            self._leave(0)
            return
        self._step += 1
        self._emit(type="metric", step=self._step, time=0.0, values={"loss": 1 / self._step})
        self._emit(type="progress", step=self._step, steps=self.steps, phase="update", eta_s=None)

    def _checkpoint(self) -> None:
        if self._step:
            path = f"checkpoints/step-{self._step}"
            (self._folder / path).mkdir(parents=True, exist_ok=True)
            self._emit(type="checkpoint", step=self._step, path=path)

    def _leave(self, code: int) -> None:
        report = {"attempt": self._attempt, "code": code}
        (self._folder / "exit.json").write_text(json.dumps(report))
        self.end(Ended(code=code))

    def _emit(self, **line: Any) -> None:
        self._write(json.dumps(line) + "\n")

    def _write(self, text: str) -> None:
        with (self._folder / "events.jsonl").open("a") as file:
            file.write(text)


class SteppedSupervisor(Supervisor):
    """The real supervisor beside a stepped heartbeat and a scripted trainer."""

    start_trainer = ScriptedTrainer  # type: ignore[assignment]
    make_heartbeat = SteppedHeartbeat
