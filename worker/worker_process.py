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
from typing import Any, NamedTuple

import psutil
from sqlalchemy.orm import Session

from backend.artifacts import ArtifactStore
from backend.broker import wake
from backend.machine import disk_space
from backend.machine.disk_space import DiskSpace
from backend.machine.wall_clock import now
from backend.settings import Settings
from backend.store.db import Database
from backend.store.group_commit import GroupCommit
from backend.store.runs import supervision
from backend.store.runs.supervision import Claim
from backend.store.tables.runs import Run
from backend.store.workers import workers
from worker.digests import Digests
from worker.outage import patiently
from worker.process import attempt_tags, processes
from worker.process.attempt_tags import AttemptTag
from worker.process.devices import Devices, Lease
from worker.process.gpus import GpuReader

# Within one transaction. Runs of a worker that stands still in the middle of one are given away
# only after this; nothing that a worker does between two statements takes as long.
_LONGEST_PAUSE_S = 15.0


class Claimed(NamedTuple):
    """A run that is this worker's, what it runs on, and since when the ownership is proven."""

    run: Run
    claim: Claim
    lease: Lease
    proven_at: float


class WorkerProcess:
    """A worker process and its belongings."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = processes.uptime_s) -> None:
        """Look at the machine; `register` is what makes the worker known."""
        self.settings = settings
        self.clock = clock
        # A worker's threads seldom ask at once, and many workers share one server.
        self.database = Database(
            settings.sqlalchemy_url, idle_connections=4, longest_pause_s=_LONGEST_PAUSE_S
        )
        # What the runs of this worker tell at the same time is stored together: SQLite has one
        # writer, and everybody else waits for it.
        self.group = GroupCommit(self.database) if self.database.is_sqlite else None
        self.artifacts = ArtifactStore(settings.resolved_artifact_url)
        self.digests = Digests()
        self.gpus = GpuReader()
        self.devices = Devices(settings.slots, self.gpus.find(), used_bytes=self.gpus.used_bytes)
        self.host = socket.gethostname()[:200]
        self.id = ""
        self.is_draining = threading.Event()
        # Set when there is something to report before the next beat.
        self.has_news = threading.Event()
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
                report=self.report(),
                at=now(),
            )

    def report(self) -> dict[str, Any]:
        """How the worker is, in bytes, as the store keeps it."""
        memory = psutil.virtual_memory()
        disk = self._disk()
        return {
            "is_draining": self.is_draining.is_set(),
            "devices": self.devices.describe(),
            "memory_used_bytes": memory.total - memory.available,
            "memory_bytes": memory.total,
            "disk_free_bytes": disk.free_bytes,
            "disk_bytes": disk.total_bytes,
            "disk_needed_bytes": disk.needed_bytes,
        }

    @property
    def has_disk_space(self) -> bool:
        """Whether the disk of the run directories has room for another run."""
        return not self._disk().is_low

    def _disk(self) -> DiskSpace:
        """The disk of the run directories; one without room if it is not there."""
        needed_bytes = self.settings.min_free_bytes
        try:
            self.settings.runs_dir.mkdir(parents=True, exist_ok=True)
            return disk_space.look_at(self.settings.runs_dir, needed_bytes)
        except OSError:
            return DiskSpace(0, 0, needed_bytes)

    def drain(self) -> None:
        """Take no more runs; those at work stop within the grace. Safe in a signal handler."""
        if not self.is_draining.is_set():
            self._grace_ends = self.clock() + self.settings.stop_grace_s
            self.is_draining.set()
            self.has_news.set()

    def wait(self, seconds: float) -> bool:
        """Sleep, and say whether there is any use in trying again afterwards."""
        left_s = self._grace_ends - self.clock()
        time.sleep(max(0.0, min(seconds, left_s)))
        return self.clock() < self._grace_ends

    def write(self, work: Callable[[Session], None]) -> None:
        """Do something in one transaction, as soon as the store is there; see `patiently`."""

        def once() -> None:
            with self.database.write() as session:
                work(session)

        patiently(once, self.wait)

    def claim_next(self) -> Claimed | None:
        """The best queued run that fits what is free, made this worker's; None if there is none.

        A worker that drains, or whose disk is nearly full, takes none.
        """
        while not self.is_draining.is_set() and self.has_disk_space:
            with self.database.read() as session:
                queue = supervision.waiting(session, most_gpus=len(self.devices.gpus))
            best = self.devices.take_best(queue)
            if best is None:
                return None
            claimed = self._claim(*best)
            if claimed is not None:
                self.has_news.set()
                return claimed
        return None

    def _claim(self, run_id: str, lease: Lease) -> Claimed | None:
        began = self.clock()
        try:
            with self.database.write() as session:
                run = supervision.claim(session, run_id, self.id, at=now())
        except BaseException:
            # Also where the commit was done and only its answer is lost: nobody beats for that
            # claim, so the run is soon taken back.
            self.devices.give_back(lease)
            raise
        if run is None:
            self.devices.give_back(lease)
            return None
        return Claimed(run, Claim(run.id, self.id, run.attempt), lease, began)

    def give_back(self, lease: Lease) -> None:
        """Free the devices of a run that has ended."""
        self.devices.give_back(lease)
        self.has_news.set()

    def wait_for_news(self, seconds: float) -> None:
        """Sleep until there is something to report, or this long."""
        self.has_news.wait(seconds)
        self.has_news.clear()

    def wake_if_there_is_room(self) -> None:
        """Send a message for each queued run that fits what is free: each wakes one thread."""
        with self.database.read() as session:
            waiting = supervision.waiting(session, most_gpus=len(self.devices.gpus))
        for run_id in self.devices.fitting(waiting):
            if not self.wake(run_id):
                return

    def wake(self, run_id: str) -> bool:
        """Wake one thread of some worker; whether the broker took the message."""
        return wake(self.settings, run_id)

    def kill_left(self, is_meant: Callable[[AttemptTag], bool]) -> int:
        """Kill what attempts have left on this machine; how many processes there were."""
        return attempt_tags.kill(is_meant)

    def close(self) -> None:
        """Store that this worker has stopped, and close the database."""
        with self.database.write() as session:
            workers.stop(session, self.id, at=now())
        self.database.close()
