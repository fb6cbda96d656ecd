"""The thread of every worker that tells the store how it is: its beat and what it has measured.

Started by `worker.celery_app` when the worker is ready. It tells every `beat_s` and at once when a
device changes hands or the worker drains; it decides about no run.
"""

import logging
import threading

from backend.machine.wall_clock import now
from backend.store.workers import workers
from worker.outage import OUTAGES
from worker.worker_process import WorkerProcess

log = logging.getLogger("podium.worker")

# Between two reports at least, however often devices change hands.
_SHORTEST_S = 0.5


class Presence(threading.Thread):
    """Reports until it is stopped."""

    def __init__(self, this_worker: WorkerProcess) -> None:
        super().__init__(name="presence", daemon=True)
        self._this_worker = this_worker
        self._end = threading.Event()

    def run(self) -> None:
        """Report, wait, report; a report that fails skips a turn and nothing else."""
        while not self._end.is_set():
            try:
                self.tell()
            except (*OUTAGES, OSError) as error:
                log.warning("worker.not_reported", extra={"error": str(error)[:300]})
            except Exception:
                # Drivers have errors of their own. A worker that is silent for ever counts as dead.
                log.exception("worker.not_reported")
            if not self._end.wait(_SHORTEST_S):
                self._this_worker.wait_for_news(self._pause_s())

    def stop(self) -> None:
        """End after the report at hand, if it was started at all."""
        self._end.set()
        self._this_worker.has_news.set()
        if self.is_alive():
            self.join()

    def tell(self) -> None:
        """Store one report; wake workers if a GPU came free by its memory."""
        this_worker = self._this_worker
        if this_worker.devices.measure():
            this_worker.wake_if_there_is_room()
        report = this_worker.report()
        with this_worker.database.write() as session:
            workers.report(session, this_worker.id, report, at=now())

    def _pause_s(self) -> float:
        if self._this_worker.devices.is_waiting_for_memory:
            return _SHORTEST_S
        return self._this_worker.settings.beat_s
