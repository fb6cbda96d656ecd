"""The Celery application of the worker: settings, the one task, and what begins and ends with it.

Started by `celery --app worker.celery_app worker`; everything else it needs is set here, so that
every way of starting it gives the same worker. It imports no torch: the trainer is another program.
"""

import logging
import os
from typing import Any

from backend.machine import garbage

garbage.begin_loading()

from celery import Celery, signals
from celery.apps.worker import Worker
from pydantic import ValidationError

# Else Celery loads it under the umask of data, and what Python compiles is for every user.
import backend.file_transport  # noqa: F401
from backend.broker import TASK, broker_settings
from backend.errors import ServiceError
from backend.settings import UMASK, Settings, wrong_settings
from backend.store.revision import require_current
from backend.traces import json_log
from worker import tasks
from worker.outage import OUTAGES
from worker.presence import Presence
from worker.sweeper import Sweeper
from worker.worker_process import WorkerProcess

log = logging.getLogger("podium.worker")


class PodiumWorker(Worker):  # type: ignore[misc]  # Celery ships no types
    """Celery's worker between registering with the store and leaving it."""

    this_worker: WorkerProcess

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Refuse to start on a foreign schema; raises SystemExit with what to do."""
        os.umask(UMASK)
        try:
            require_current(self.this_worker.database)
            self.this_worker.register()
        except ServiceError as error:
            raise SystemExit(f"{error.detail}. {error.advice or ''}") from error
        except OUTAGES as error:
            raise SystemExit(
                f"The database cannot be used: {error}. Check PODIUM_DATABASE_URL and that the "
                "database runs."
            ) from error
        self._sweeper = Sweeper(self.this_worker)
        self._presence = Presence(self.this_worker)
        # Chatter between workers, which the store makes needless.
        quiet = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
        super().__init__(*args, **kwargs | quiet)

    def on_consumer_ready(self, consumer: Any) -> None:
        """Sweep from now on: the first sweep gives back what a dead worker here has left."""
        super().on_consumer_ready(consumer)
        if not self._sweeper.is_alive():
            self._sweeper.start()
            self._presence.start()
        log.info("worker.ready", extra={"worker": self.this_worker.id})

    def stop(self, in_sighandler: bool = False, exitcode: int | None = None) -> None:
        """Let runs checkpoint and queue again, wait for them, and be gone from the store."""
        self.this_worker.drain()
        super().stop(in_sighandler=in_sighandler, exitcode=exitcode)
        self._sweeper.stop()
        self._presence.stop()
        try:
            self.this_worker.close()
        except OUTAGES as error:
            log.warning("store.away", extra={"error": str(error)[:300]})


def make_app(settings: Settings) -> Celery:
    """The application, wired to these settings."""
    this_worker = WorkerProcess(settings)
    app = Celery("podium")
    app.conf.update(broker_settings(settings))
    app.conf.update(
        worker_pool="threads",
        worker_concurrency=this_worker.threads,
        broker_connection_max_retries=None,
    )
    app.Worker = app.subclass_with_self(PodiumWorker)
    app.Worker.this_worker = this_worker

    @app.task(name=TASK)
    def execute(run_id: str) -> None:
        tasks.execute(this_worker, run_id)

    @signals.setup_logging.connect(weak=False)
    def _log_as_json(**_: Any) -> None:
        json_log.begin(settings.log_level)
        # Celery logs every message, and a message that finds nothing to do is no event.
        logging.getLogger("celery.worker.strategy").setLevel(logging.WARNING)
        logging.getLogger("celery.app.trace").setLevel(logging.WARNING)

    @signals.worker_shutting_down.connect(weak=False)
    def _drain(**_: Any) -> None:
        # At once, in the signal handler: `stop` comes only when the consumer has let go.
        this_worker.drain()

    return app


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        raise SystemExit(wrong_settings(error)) from error


app = make_app(_settings())

garbage.end_loading()
