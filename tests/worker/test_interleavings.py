"""Supervisors, sweepers, people and faults in every order: a run has one live trainer at most.

A state machine draws the order in which workers on one or two machines take their transactions, are
killed, sleep, wake late and lose the store. After every turn the histories of the runs are checked,
and in the end everything heals and every run must come to rest.
"""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select, text, update

from backend.domain import run_state
from backend.errors import Conflict
from backend.schemas.vocabulary import RunState
from backend.store.db import Database
from backend.store.runs import runs
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import RunEvent
from backend.store.tables.workers import Worker
from tests.worker.floor import Floor
from tests.worker.history import History
from tests.worker.stepped import (
    STEPS,
    Actor,
    ScriptedTrainer,
    SteppedSupervisor,
    SteppedWorker,
)
from worker import tasks
from worker.outage import OUTAGES
from worker.presence import Presence
from worker.process import processes
from worker.process.trainer_process import Ended
from worker.sweeper import Sweeper

MOST_RUNS = 3
REST = run_state.ENDED | {RunState.PAUSED}
VERBS = ("cancel", "pause", "resume", "retry", "anew")
# Rows of a run, children first.
OF_RUNS = (
    "run_events", "run_facts", "metric_points", "metric_levels", "metric_curves", "token_marks",
    "distributions", "prompt_scores", "asked_prompts", "samples", "checkpoints", "artifacts",
    "log_lines", "run_failures",
)  # fmt: skip


class Interleavings(RuleBasedStateMachine):
    """One order of things. `floor` and `hosts` are set by the tests."""

    floor: ClassVar[Floor]
    hosts: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.run_ids: list[str] = []
        self.histories: dict[str, History] = {}
        self.workers: list[SteppedWorker] = []
        self.sweepers: dict[str, Sweeper] = {}
        self.dead: list[SteppedWorker] = []
        self._folder = tempfile.TemporaryDirectory()
        self._is_checked = True

    @property
    def database(self) -> Database:
        return self.floor.database

    @initialize()
    def begin(self) -> None:
        """A worker on each place of `hosts` and one queued run."""
        for host in self.hosts:
            self._start_worker(host)
        self.add_run(priority=0)

    def _start_worker(self, host: str) -> None:
        data_dir = Path(self._folder.name) / host
        given = self.floor.settings.model_copy(
            update={"data_dir": data_dir, "model_roots": str(self.floor.data_dir), "slots": 2}
        )
        this_worker = SteppedWorker(given, self.database, host, lambda: self.now)
        this_worker.register()
        this_worker.trainers_here = lambda: self._trainers_of(host)
        self.workers.append(this_worker)
        self.sweepers[this_worker.id] = Sweeper(this_worker, lambda: self.now)

    # People.

    @precondition(lambda self: len(self.run_ids) < MOST_RUNS)
    @rule(priority=st.integers(0, 1))
    def add_run(self, priority: int) -> None:
        """Somebody starts a run, or clones one."""
        run_id = self.floor.new_run(priority=priority)
        self.run_ids.append(run_id)
        self.histories[run_id] = History()
        self._is_checked = False

    @rule(which=st.integers(0, MOST_RUNS - 1), verb=st.sampled_from(VERBS))
    def ask(self, which: int, verb: str) -> None:
        """A person asks for something, in time or not."""
        run_id = self.run_ids[which % len(self.run_ids)]
        extra: dict[str, Any] = {"from_start": True} if verb == "anew" else {}
        call = runs.retry if verb == "anew" else getattr(runs, verb)
        with suppress(Conflict), self.database.write() as session:
            call(session, run_id, at=datetime.now(UTC), **extra)
        self._is_checked = False

    # Workers, transaction by transaction.

    @precondition(lambda self: self.workers)
    @rule(which=st.integers(0, 2), steps=st.integers(1, 12))
    def wake(self, which: int, steps: int) -> None:
        """A message, the first or a doubled one, late or in time."""
        this_worker = self._this_worker(which)
        at_work = [actor for actor in this_worker.actors if actor.name == "task"]
        if len([actor for actor in at_work if not actor.is_over]) < this_worker.threads:
            name = this_worker.settings.data_dir.name
            what = lambda: tasks.execute(this_worker, name, SteppedSupervisor)  # noqa: E731
            self._go_on(this_worker.begin(what, "task"), steps)

    @rule(which=st.integers(0, 8), steps=st.integers(1, 12))
    def go_on(self, which: int, steps: int) -> None:
        """One thread of one worker goes on for some transactions."""
        actors = self._actors()
        if actors:
            self._go_on(actors[which % len(actors)], steps)

    @precondition(lambda self: self.workers)
    @rule(which=st.integers(0, 2), steps=st.integers(1, 12))
    def sweep(self, which: int, steps: int) -> None:
        """A sign of life and a sweep begin, and perhaps end."""
        this_worker = self._this_worker(which)
        at_work = [actor for actor in this_worker.actors if not actor.is_over]
        sweeps = [actor for actor in at_work if actor.name == "sweep"]
        self._go_on(
            sweeps[0] if sweeps else this_worker.begin(self._turn_of(this_worker), "sweep"), steps
        )

    def _turn_of(self, this_worker: SteppedWorker) -> Callable[[], None]:
        def turn() -> None:
            with suppress(*OUTAGES):
                Presence(this_worker).tell()
            self.sweepers[this_worker.id].turn()

        return turn

    @rule(
        which=st.integers(0, 3),
        what=st.sampled_from(("step", "step", "step", "checkpoint", "crash", "fail", "tear")),
        times=st.integers(1, 3),
    )
    def train(self, which: int, what: str, times: int) -> None:
        """A trainer does something."""
        trainers = self._trainers()
        for _ in range(times if trainers else 0):
            trainers[which % len(trainers)].work(what)

    @rule(seconds=st.sampled_from((1.0, 5.0, 16.0, 31.0)))
    def pass_time(self, seconds: float) -> None:
        """Time passes; whoever does not go on meanwhile sleeps."""
        self.now += seconds

    # Faults.

    @precondition(lambda self: self.workers)
    @rule(which=st.integers(0, 2))
    def kill_worker(self, which: int) -> None:
        """SIGKILL; its guards have not noticed yet."""
        this_worker = self._this_worker(which)
        this_worker.kill()
        self._lose(this_worker)

    def _lose(self, this_worker: SteppedWorker) -> None:
        """The process is gone: whoever looks for it finds another one or none."""
        self.workers.remove(this_worker)
        self.dead.append(this_worker)
        with self.database.write() as session:
            gone = f"{processes.namespace()}/1"
            session.execute(update(Worker).where(Worker.id == this_worker.id).values(process=gone))

    @precondition(lambda self: len(self.workers) < len(self.hosts))
    @rule()
    def start_worker(self) -> None:
        """Another worker takes the place of one that is gone."""
        missing = list(self.hosts)
        for this_worker in self.workers:
            missing.remove(this_worker.host)
        self._start_worker(missing[0])

    @rule(which=st.integers(0, 3))
    def notice(self, which: int) -> None:
        """A guard sees that its worker is dead."""
        orphans = [trainer for trainer in self._trainers() if trainer.is_orphan]
        if orphans:
            orphans[which % len(orphans)].end(Ended(code=None, signal=9))

    @precondition(lambda self: self.workers)
    @rule(which=st.integers(0, 2))
    def cut_off(self, which: int) -> None:
        """A worker does not reach the store any more, or reaches it again."""
        database = self._this_worker(which).database
        database.is_cut = not database.is_cut

    @precondition(lambda self: self.workers)
    @rule(which=st.integers(0, 2))
    def lose_answer(self, which: int) -> None:
        """The next commit is done, and the connection breaks before the worker knows."""
        self._this_worker(which).database.loses_answer = True

    @precondition(lambda self: self.workers)
    @rule(which=st.integers(0, 2))
    def drain(self, which: int) -> None:
        """SIGTERM, as on deploy."""
        self._this_worker(which).drain()

    @precondition(lambda self: any(self._is_drained(one) for one in self.workers))
    @rule()
    def leave(self) -> None:
        """A drained worker stops."""
        this_worker = next(one for one in self.workers if self._is_drained(one))
        with suppress(*OUTAGES):
            this_worker.close()
        self._lose(this_worker)

    # What must hold.

    @invariant()
    def one_live_trainer_at_most(self) -> None:
        """Of every run, whatever its supervisors believe."""
        live = [trainer.run_id for trainer in self._trainers() if trainer.runs]
        assert len(live) == len(set(live))

    @invariant()
    def histories_are_true(self) -> None:
        """Moves, attempts, stop reasons and curves."""
        if self._is_checked:
            return
        self._is_checked = True
        for run_id, history in self.histories.items():
            statement = select(RunEvent).where(RunEvent.run_id == run_id)
            for event in self.floor.rows(
                statement.where(RunEvent.seq > history.seq).order_by(RunEvent.seq)
            ):
                history.take(event)

    def teardown(self) -> None:
        """Everything heals; then every run comes to rest, with its whole curve."""
        try:
            if self.workers or self.dead:
                self._heal()
                self._come_to_rest()
        finally:
            for this_worker in [*self.workers, *self.dead]:
                this_worker.kill()
                for trainer in this_worker.trainers:
                    trainer.end(Ended(code=None, signal=9))
            self._clear()
            self._folder.cleanup()

    def _heal(self) -> None:
        for trainer in self._trainers():
            if trainer.is_orphan:
                trainer.end(Ended(code=None, signal=9))
        for this_worker in self.workers:
            this_worker.database.is_cut = this_worker.database.loses_answer = False
        for _ in range(len(self.hosts) - len(self.workers)):
            self.start_worker()

    def _come_to_rest(self) -> None:
        for _ in range(400):
            self._let_a_second_pass()
            if all(history.state in REST for history in self.histories.values()):
                break
        for run_id, history in self.histories.items():
            assert history.state in REST, f"{run_id} is {history.state} for ever"
            if history.state == RunState.SUCCEEDED:
                assert history.curve == list(range(1, STEPS + 1))
            points = select(MetricPoint.step).where(MetricPoint.run_id == run_id)
            assert self.floor.rows(points.order_by(MetricPoint.step)) == history.curve

    def _let_a_second_pass(self) -> None:
        """Everybody does what is due."""
        self.now += 1.0
        for which, this_worker in enumerate(self.workers):
            if all(actor.is_over for actor in this_worker.actors):
                this_worker.is_draining.clear()
                self.wake(which, 1)
            if int(self.now) % 5 == 0:
                self.sweep(which, 1)
        for actor in self._actors():
            self._go_on(actor, 4)
        for trainer in self._trainers():
            trainer.work("step")
        self.one_live_trainer_at_most()
        self.histories_are_true()

    def _clear(self) -> None:
        with self.database.write() as session:
            for table in OF_RUNS:
                session.execute(text(f"DELETE FROM {table}"))
            session.execute(text("DELETE FROM models WHERE run_id IS NOT NULL"))
            for table in ("runs", "workers"):
                session.execute(text(f"DELETE FROM {table}"))

    def _this_worker(self, which: int) -> SteppedWorker:
        return self.workers[which % len(self.workers)]

    def _actors(self) -> list[Actor]:
        found = [actor for this_worker in self.workers for actor in this_worker.actors]
        return [actor for actor in found if not actor.is_over]

    def _trainers_of(self, host: str) -> list[ScriptedTrainer]:
        workers = [one for one in (*self.workers, *self.dead) if one.host == host]
        return [trainer for this_worker in workers for trainer in this_worker.trainers]

    def _trainers(self) -> list[ScriptedTrainer]:
        workers = [*self.workers, *self.dead]
        return [one for this_worker in workers for one in this_worker.trainers if one.is_alive]

    def _go_on(self, actor: Actor, steps: int) -> None:
        for _ in range(steps):
            actor.step()
        self._is_checked = False

    @staticmethod
    def _is_drained(this_worker: SteppedWorker) -> bool:
        return this_worker.is_draining.is_set() and all(
            actor.is_over for actor in this_worker.actors
        )


# Seconds; a fault is told by its shortest example, and looking for that takes long.
SHRINKS = pytest.mark.timeout(2400)


def check(floor: Floor, hosts: tuple[str, ...], examples: int, steps: int) -> None:
    """Draw many orders and check every one."""
    Interleavings.floor, Interleavings.hosts = floor, hosts
    drawn = settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    run_state_machine_as_test(Interleavings, settings=drawn)  # type: ignore[no-untyped-call]


@pytest.mark.slow
def test_a_dead_worker_whose_guard_is_late_gives_its_run_to_no_other_machine_too_early(
    postgres_url: str, tmp_path: Path
) -> None:
    floor = Floor(tmp_path / "data", postgres_url)
    Interleavings.floor, Interleavings.hosts = floor, ("here", "here", "far")
    order = Interleavings()
    order.begin()

    order.wake(which=0, steps=12)
    order.train(which=0, what="step", times=1)
    order.kill_worker(which=0)
    order.sweep(which=0, steps=40)
    order.wake(which=1, steps=40)
    order.one_live_trainer_at_most()

    order.teardown()
    floor.database.close()


@SHRINKS
@pytest.mark.slow
def test_two_workers_of_one_machine_in_every_order(sqlite_floor: Floor) -> None:
    check(sqlite_floor, ("here", "here"), examples=25, steps=40)


@SHRINKS
@pytest.mark.slow
def test_three_workers_of_two_machines_in_every_order(postgres_url: str, tmp_path: Path) -> None:
    floor = Floor(tmp_path / "data", postgres_url)
    check(floor, ("here", "here", "far"), examples=15, steps=40)
    floor.database.close()


@pytest.mark.chaos
def test_two_workers_in_very_many_orders(sqlite_floor: Floor) -> None:
    check(sqlite_floor, ("here", "here"), examples=600, steps=80)


@pytest.mark.chaos
def test_three_workers_in_very_many_orders(postgres_url: str, tmp_path: Path) -> None:
    floor = Floor(tmp_path / "data", postgres_url)
    check(floor, ("here", "here", "far"), examples=600, steps=80)
    floor.database.close()
