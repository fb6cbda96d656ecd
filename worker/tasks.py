"""The one task: take the best queued run that fits this worker and see it through.

Called by Celery for every message. The id in it is for the log; the store says what is next.
"""

import logging
from collections.abc import Callable

from worker.outage import OUTAGES
from worker.supervisor import Supervisor
from worker.worker_process import Claimed, WorkerProcess

log = logging.getLogger("podium.worker")


def execute(
    this_worker: WorkerProcess,
    run_id: str,
    supervisor: Callable[[WorkerProcess, Claimed], Supervisor] = Supervisor,
) -> None:
    """Work until nothing queued fits; a message that finds nothing returns at once."""
    log.debug("worker.woken", extra={"run_id": run_id})
    try:
        while (claimed := this_worker.claim_next()) is not None:
            try:
                supervisor(this_worker, claimed).see_through()
            finally:
                this_worker.give_back(claimed.lease)
    except OUTAGES as error:
        # The queue is in the store: it is there again when the store is.
        log.warning("store.away", extra={"error": str(error)[:300]})
