"""One worker process: who it is, what it has, and whether it is shutting down.

Made once by `worker.celery_app`; supervisor, sweeper and tasks get it handed. It claims and gives
back devices; it supervises nothing itself.
"""

import os
import shlex
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from backend.artifacts import ArtifactStore
from backend.queue import ring
from backend.settings import Settings
from backend.store import supervision, workers
from backend.store.db import Database
from backend.store.supervision import Claim
from backend.store.tables import Run
from worker import processes
from worker.devices import Devices, Lease, find_gpus


class Claimed(NamedTuple):
    """A run that is this worker's, what it runs on, and since when the ownership is proven."""

    run: Run
    claim: Claim
    lease: Lease
    proven_at: float


class Station:
    """A worker process and its belongings."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = processes.uptime_s) -> None:
        """Look at the machine; `register` is what makes the worker known."""
        self.settings = settings
        self.clock = clock
        self.database = Database(settings.sqlalchemy_url)
        self.artifacts = ArtifactStore(settings.resolved_artifact_url)
        self.devices = Devices(settings.slots, find_gpus())
        self.host = socket.gethostname()[:200]
        self.id = ""
        self.is_draining = threading.Event()
        self._grace_ends = float("inf")

    @property
    def threads(self) -> int:
        """Runs that may be at work at once."""
        return self.settings.slots + len(self.devices.gpus)

    @property
    def trainer_command(self) -> list[str]:
        """The program that trains, without its arguments."""
        if self.settings.trainer_command:
            return shlex.split(self.settings.trainer_command)
        return [sys.executable, "-P", "-m", "worker.trainer"]

    @property
    def pause_after_s(self) -> float:
        """Seconds without a beat after which a guard stops its trainer for the time being.

        0 = never, where the lock on the run directory is enough and a busy database must not pause
        training. It lies below `stale_s`, so that a trainer stands still before another may start.
        """
        return 0.0 if self.settings.is_embedded_database else self.settings.stale_s * 2 / 3

    def register(self) -> None:
        """Make this worker known to the store."""
        with self.database.write() as session:
            self.id = workers.register(
                session,
                host=self.host,
                pid=os.getpid(),
                process=processes.identity(os.getpid()) or "",
                slots=self.settings.slots,
                devices=self.devices.describe(),
                at=datetime.now(UTC),
            )

    def drain(self) -> None:
        """Take no more runs; those at work stop within the grace. Safe in a signal handler."""
        if not self.is_draining.is_set():
            self._grace_ends = self.clock() + self.settings.stop_grace_s
            self.is_draining.set()

    def wait(self, seconds: float) -> bool:
        """Sleep, and say whether there is any use in trying again afterwards."""
        left_s = self._grace_ends - self.clock()
        time.sleep(max(0.0, min(seconds, left_s)))
        return self.clock() < self._grace_ends

    def claim_next(self) -> Claimed | None:
        """The best queued run that fits what is free, made this worker's; None if there is none."""
        while not self.is_draining.is_set():
            with self.database.read() as session:
                queue = supervision.waiting(session, most_gpus=len(self.devices.gpus))
            best = self.devices.take_best(queue)
            if best is None:
                return None
            run_id, lease = best
            claimed = self._claim(run_id, lease)
            if claimed is not None:
                return claimed
        return None

    def _claim(self, run_id: str, lease: Lease) -> Claimed | None:
        run = None
        began = self.clock()
        try:
            with self.database.write() as session:
                run = supervision.claim(session, run_id, self.id, at=datetime.now(UTC))
        finally:
            if run is None:
                self.devices.give_back(lease)
        if run is None:
            return None
        return Claimed(run, Claim(run.id, self.id, run.attempt), lease, began)

    def ring(self, run_id: str) -> None:
        """Tell the other workers that there is work."""
        ring(self.settings, run_id)

    def close(self) -> None:
        """Say good-bye to the store."""
        with self.database.write() as session:
            workers.stop(session, self.id, at=datetime.now(UTC))
        self.database.close()
