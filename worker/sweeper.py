"""The thread of every worker that keeps the queue right: takes back, queues again, wakes.

It also kills what attempts left behind, sums up old curves and judges runs that nobody has judged.

Started by `worker.celery_app` when the worker is ready. Staleness and back-off are measured by its
own monotonic clock alone, so wrong clocks and store outages count for nobody's death. It prunes
nothing but old files of the filesystem broker.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from sqlalchemy.orm import Session

from backend.broker import clean_processed
from backend.machine.wall_clock import now
from backend.schemas.vocabulary import RunState
from backend.store.metrics import extremes, levels, verdicts
from backend.store.runs import runs, supervision
from backend.store.runs.supervision import Crashed, Live
from backend.store.runs.table import facts
from backend.store.workers import workers
from worker.outage import OUTAGES
from worker.process import attempt_tags, processes
from worker.process.attempt_tags import AttemptTag
from worker.run_directory.failures import LOST, TIMEOUT
from worker.worker_process import WorkerProcess

log = logging.getLogger("podium.worker")

# A killed process is gone within milliseconds; one that hangs in a driver is looked at next time.
_LOOKS, _LOOK_S = 20, 0.1

# Curves that are looked at together, and transactions of one sweep, some 10 ms each, that sum up
# curves: others wait for the writer of SQLite meanwhile.
_CURVES, _CURVE_WRITES = 500, 50
# Runs that one sweep judges or makes findable, some 10 ms each.
_RUNS = 50


class Sightings:
    """Times for which the same things have been seen, at every look without a failure."""

    def __init__(self, clock: Callable[[], float], longest_gap_s: float) -> None:
        """Count a gap between two looks for `longest_gap_s` at most: a sweeper that was itself
        stopped for a while has watched nobody meanwhile.
        """
        self._clock = clock
        self._longest_gap_s = longest_gap_s
        self._age_s: dict[Hashable, float] = {}
        self._last_look = clock()

    def look(self, seen: Iterable[Hashable]) -> None:
        """Note what is there now; forget everything else."""
        now = self._clock()
        gap_s = min(now - self._last_look, self._longest_gap_s)
        self._age_s = {
            thing: self._age_s[thing] + gap_s if thing in self._age_s else 0.0 for thing in seen
        }
        self._last_look = now

    def age_s(self, thing: Hashable) -> float:
        """Seconds for which this has been watched without a break."""
        return self._age_s[thing]

    def forget(self) -> None:
        """A look failed: nobody can say what happened meanwhile."""
        self._age_s.clear()


class Sweeper(threading.Thread):
    """Sweeps until it is stopped."""

    def __init__(
        self, this_worker: WorkerProcess, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._this_worker = this_worker
        self._settings = this_worker.settings
        self._live = Sightings(clock, 2 * this_worker.settings.sweep_s)
        self._crashed = Sightings(clock, 2 * this_worker.settings.sweep_s)
        self._workers = Sightings(clock, 2 * this_worker.settings.sweep_s)
        self._end = threading.Event()
        # What is done, in this order, and the sightings that it looks at.
        self._steps: list[tuple[Callable[[], None], Sightings | None]] = [
            (self._give_back_runs_of_dead_neighbours, None),
            (self._take_back_stale_runs, self._live),
            (self._kill_what_attempts_have_left, None),
            (self._forget_silent_workers, self._workers),
            (self._queue_crashed_runs, self._crashed),
            (this_worker.wake_if_there_is_room, None),
            (self._clean_broker, None),
            (self._sum_up_old_curves, None),
            (self._find_old_runs, None),
            (self._judge_ended_runs, None),
        ]
        # Curves up to this number are as they should be; None: all of them.
        self._looked_at: int | None = 0
        # Runs up to this number can be found by what they have; None: all of them.
        self._found: int | None = 0
        # Runs up to this number were looked at since the last time that all were.
        self._judged = 0
        self._unjudgeable: set[str] = set()

    def run(self) -> None:
        """Sweep at once, then every `sweep_s`."""
        while True:
            self.turn()
            if self._end.wait(self._settings.sweep_s):
                return

    def turn(self) -> None:
        """Sweep once; a step that fails keeps no other from its work, and no thread from its next.

        Where a look has failed, nothing seen before it counts.
        """
        for step, seen in self._steps:
            try:
                step()
            except OUTAGES as error:
                for sightings in (self._live, self._crashed, self._workers):
                    sightings.forget()
                log.warning("sweep.failed", extra={"error": str(error)[:300]})
                return
            except Exception:
                if seen is not None:
                    seen.forget()
                log.exception("sweep.failed", extra={"step": step.__name__})

    def stop(self) -> None:
        """End after the sweep at hand, if it was started at all."""
        self._end.set()
        if self.is_alive():
            self.join()

    def _clean_broker(self) -> None:
        clean_processed(self._settings)

    def _sum_up_old_curves(self) -> None:
        """Build the levels of curves that are older than them, a little in each sweep.

        Once all have been looked at, this worker has nothing to do: what is stored now is summed
        up with its run.
        """
        left = _CURVE_WRITES
        while self._looked_at is not None and left > 0:
            with self._this_worker.database.read() as session:
                curves = levels.behind(session, self._looked_at, limit=_CURVES)
            if not curves:
                self._looked_at = None
            for curve in curves:
                while levels.is_behind(curve):
                    if left == 0:
                        return
                    left -= 1
                    with self._this_worker.database.write() as session:
                        runs.locked(session, curve.run_id)
                        curve = levels.catch_up(session, curve)
                self._looked_at = curve.number

    def _find_old_runs(self) -> None:
        """Let lists find runs that are older than what they are found by, some in each sweep."""
        if self._found is None:
            return
        with self._this_worker.database.read() as session:
            old = facts.missing(session, self._found, limit=_RUNS)
        for number, run_id in old:
            self._write(partial(extremes.fill, run_id=run_id))
            self._found = number
        if not old:
            self._found = None

    def _judge_ended_runs(self) -> None:
        """Keep the verdicts of runs that ended without one, as those of before.

        One that cannot be judged keeps no other from its verdict, and is not tried again.
        """
        with self._this_worker.database.read() as session:
            unjudged = verdicts.unjudged(session, self._judged, limit=_RUNS)
        for number, run_id in unjudged:
            if run_id not in self._unjudgeable:
                self._judge(run_id)
            self._judged = number
        if len(unjudged) < _RUNS:
            self._judged = 0  # Runs do not end in the order of their numbers.

    def _judge(self, run_id: str) -> None:
        try:
            self._write(partial(verdicts.keep, run_id=run_id))
        except OUTAGES:
            raise
        except Exception:
            self._unjudgeable.add(run_id)
            log.exception("run.not_judged", extra={"run_id": run_id})

    def _give_back_runs_of_dead_neighbours(self) -> None:
        """Take back at once the runs of workers of this machine whose process is gone."""
        with self._this_worker.database.read() as session:
            present = workers.present_on(session, self._this_worker.host)
            live = supervision.live(session)
        for worker in present:
            if not is_dead(worker.pid, worker.process):
                continue
            log.warning("worker.dead", extra={"worker": worker.id, "pid": worker.pid})
            owned = [seen for seen in live if seen.owner == worker.id]
            if not self._are_gone(owned):
                continue
            for seen in owned:
                self._take_back(seen, queue_at_once=True)
            self._write(partial(workers.lose, worker_id=worker.id, at=now()))

    def _are_gone(self, owned: Sequence[Live]) -> bool:
        """Whether no trainer of these is left on this machine; whoever is, is killed.

        Their guards may be late, or dead as well, and the next owner may be another machine.
        """
        attempts = {(seen.run_id, seen.attempt) for seen in owned}

        def is_theirs(tag: AttemptTag) -> bool:
            return (tag.run_dir.name, tag.attempt) in attempts

        for _ in range(_LOOKS):
            if not attempts or not self._this_worker.kill_left(is_theirs):
                return True
            self._this_worker.wait(_LOOK_S)
        return False

    def _take_back_stale_runs(self) -> None:
        with self._this_worker.database.read() as session:
            live = supervision.live(session)
        self._live.look(live)
        for seen in live:
            if self._live.age_s(seen) >= self._settings.stale_s:
                self._take_back(seen, queue_at_once=False)

    def _take_back(self, seen: Live, *, queue_at_once: bool) -> None:
        def write(session: Session) -> None:
            error = (TIMEOUT if seen.state == RunState.STOPPING else LOST).as_error()
            state = supervision.take_back(session, seen, error, at=now())
            log.warning("run.taken_back", extra={"run_id": seen.run_id, "state": state})
            if state == RunState.CRASHED and queue_at_once:
                for crashed in supervision.crashed(session):
                    if crashed.run_id == seen.run_id:
                        supervision.queue_again(session, crashed, at=now())

        self._write(write)

    def _kill_what_attempts_have_left(self) -> None:
        """Kill trainers here that have no guard, of attempts that are over or given away."""
        runs_dir = self._settings.runs_dir.resolve()
        # Before the store is asked: what lives now was claimed before.
        here = {tag for tag in attempt_tags.living().values() if tag.run_dir.parent == runs_dir}
        if not here:
            return
        with self._this_worker.database.read() as session:
            live = supervision.live(session)
        left = here - {AttemptTag(runs_dir / seen.run_id, seen.attempt) for seen in live}
        if left and (count := self._this_worker.kill_left(left.__contains__)):
            log.warning("run.left_behind_killed", extra={"processes": count})

    def _forget_silent_workers(self) -> None:
        """Mark silent workers as gone; one that was only cut off comes back by its beat."""
        with self._this_worker.database.read() as session:
            present = workers.present(session)
        self._workers.look(present)
        for seen in present:
            if self._workers.age_s(seen) >= self._settings.stale_s:
                self._write(partial(workers.lose, worker_id=seen.worker_id, at=now()))

    def _queue_crashed_runs(self) -> None:
        with self._this_worker.database.read() as session:
            crashed = supervision.crashed(session)
        self._crashed.look(crashed)
        for seen in crashed:
            if self._crashed.age_s(seen) >= self._back_off_s(seen):
                self._write(partial(self._queue_again, seen))

    def _queue_again(self, seen: Crashed, session: Session) -> None:
        if supervision.queue_again(session, seen, at=now()):
            log.info("run.queued_again", extra={"run_id": seen.run_id, "crashes": seen.crashes})

    def _back_off_s(self, seen: Crashed) -> float:
        steps = self._settings.crash_back_off_s
        return steps[min(seen.crashes, len(steps)) - 1] if seen.crashes and steps else 0.0

    def _write(self, work: Callable[[Session], None]) -> None:
        with self._this_worker.database.write() as session:
            work(session)


def is_dead(pid: int, identity: str) -> bool:
    """Whether the process that had this pid and identity is gone for certain.

    Only pids of this very boot and pid namespace can be judged; of others nothing is known.
    """
    known = identity.rpartition("/")[0] == processes.namespace()
    return known and processes.identity(pid) != identity
