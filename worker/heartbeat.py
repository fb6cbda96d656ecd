"""The beat of one run: a thread that shows life in the store and brings back what is wanted.

Started by `worker.supervisor`. Apart from the supervisor's own work, so that a long upload or a big
export never looks like death.
"""

import logging
import threading
from collections.abc import Callable

from backend.schemas.vocabulary import RunState
from backend.store.db import Database
from backend.store.runs import supervision
from backend.store.runs.supervision import Claim, GivenAway, RunControl
from worker.outage import OUTAGES

log = logging.getLogger("podium.worker")

# Between two looks at what is wanted; a person waits for a stop.
_LOOK_S = 1.0


class Heartbeat(threading.Thread):
    """Beats until it is stopped or the run is another's; use it as a context."""

    def __init__(
        self,
        database: Database,
        claim: Claim,
        beat_s: float,
        *,
        proven_at: float,
        clock: Callable[[], float],
        on_beat: Callable[[float], None],
    ) -> None:
        """`proven_at` is when the claim was begun; `on_beat` gets when the beat was begun.

        The store confirms an ownership after that moment, so whoever counts from it never counts
        too long, even if this process stood still meanwhile.
        """
        super().__init__(name=f"heartbeat-{claim.run_id}", daemon=True)
        self.control = RunControl(RunState.RUNNING, None)
        self.is_lost = False
        self.proven_at = proven_at
        self._clock = clock
        self._database = database
        self._claim = claim
        self._looks_per_beat = max(1, round(beat_s / _LOOK_S))
        self._interval_s = beat_s / self._looks_per_beat
        self._on_beat = on_beat
        self._end = threading.Event()

    def __enter__(self) -> "Heartbeat":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()

    def run(self) -> None:
        """Beat, look, look, beat; an outage of the store skips a turn and nothing else."""
        turn = 0
        while not self._rest():
            try:
                self._turn(is_beat=turn % self._looks_per_beat == 0)
                turn += 1
            except GivenAway:
                self.is_lost = True
                return
            except OUTAGES as error:
                log.warning("run.beat_missed", extra={"error": str(error)[:300]})
            except Exception:
                # Without this thread nobody would hear of a stop any more.
                log.exception("run.beat_missed")

    def _rest(self) -> bool:
        """Wait for the next turn; whether there is none."""
        return self._end.wait(self._interval_s)

    def _turn(self, *, is_beat: bool) -> None:
        if is_beat:
            began = self._clock()
            with self._database.write() as session:
                self.control = supervision.beat(session, self._claim)
            self.proven_at = began
            self._on_beat(began)
        else:
            with self._database.read() as session:
                self.control = supervision.look(session, self._claim)
