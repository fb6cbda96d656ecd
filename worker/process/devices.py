"""What this worker has to train on, who holds it, and whether it came back.

Called by `worker.worker_process`. CPU runs take a slot, GPU runs their GPUs. A GPU whose memory is
not back when its run has ended is not given out again until it is. Several workers on one machine
share its GPUs by CUDA_VISIBLE_DEVICES. Which run goes where is the business of the queue in the
store.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.store.runs.supervision import Waiting
from worker.process.gpus import Gpu

log = logging.getLogger("podium.worker")

# A big run that was passed over for this long reserves the next GPUs that come free.
RESERVE_AFTER_S = 600.0
# Memory that a driver may hold beyond what it held before; far below what any model needs.
TOLERANCE_BYTES = 256 * 2**20
# Drivers take a moment to take memory back; what lasts longer is worth a person's look.
FAULT_AFTER_S = 5.0


@dataclass(frozen=True)
class Lease:
    """What one run holds while it runs."""

    run_id: str
    gpus: tuple[Gpu, ...]

    @property
    def visible_devices(self) -> str:
        """The value of CUDA_VISIBLE_DEVICES; empty hides every GPU."""
        return ",".join(gpu.id for gpu in self.gpus)


@dataclass
class _Place:
    """One GPU and who holds it: nobody, a run at work, or one that has ended but for its memory."""

    gpu: Gpu
    run_id: str | None = None
    used_bytes: int | None = None
    before_bytes: int | None = None
    peak_bytes: int | None = None
    ended_at: float | None = None

    def take(self, run_id: str) -> None:
        self.run_id, self.ended_at = run_id, None
        self.before_bytes = self.peak_bytes = self.used_bytes

    def read(self, used_bytes: int | None) -> None:
        self.used_bytes = used_bytes
        if self.run_id is not None and used_bytes is not None:
            self.peak_bytes = max(used_bytes, self.peak_bytes or 0)

    def has_come_back(self) -> bool:
        # A driver that does not say how much is in use cannot keep a GPU from being used.
        if self.used_bytes is None or self.before_bytes is None:
            return True
        return self.used_bytes <= self.before_bytes + TOLERANCE_BYTES

    def free(self) -> None:
        self.run_id = self.ended_at = None


def _unknown(_: Gpu) -> int | None:
    return None


class Devices:
    """The slots and GPUs of one worker; safe to call from several threads."""

    def __init__(
        self,
        slots: int,
        gpus: Sequence[Gpu],
        *,
        used_bytes: Callable[[Gpu], int | None] = _unknown,
        clock: Callable[[], float] = time.monotonic,
        reserve_after_s: float = RESERVE_AFTER_S,
    ) -> None:
        """`used_bytes` reads the memory in use on a GPU; `None` if it is unknown."""
        self.slots = slots
        self.gpus = tuple(gpus)
        self._used_bytes = used_bytes
        self._clock = clock
        self._reserve_after_s = reserve_after_s
        self._lock = threading.Lock()
        self._in_slots: list[str] = []
        self._places = {gpu.id: _Place(gpu, used_bytes=used_bytes(gpu)) for gpu in gpus}
        self._passed_over: dict[str, float] = {}

    def take_best(self, queue: Sequence[Waiting]) -> tuple[str, Lease] | None:
        """The first run of the queue that fits what is free, and its devices; None if none does.

        Not one that holds devices already: another thread is about to claim it, or to leave it.
        """
        with self._lock:
            self._forget_all_but(queue)
            gpus_are_reserved = False
            for run_id, wanted in self._without_holders(queue):
                lease = None if wanted and gpus_are_reserved else self._take(run_id, wanted)
                if lease is not None:
                    return run_id, lease
                since = self._passed_over.setdefault(run_id, self._clock())
                has_waited = self._clock() - since >= self._reserve_after_s
                gpus_are_reserved |= has_waited and 0 < wanted <= self._usable()
            return None

    def give_back(self, lease: Lease) -> None:
        """Free what a run has held, GPUs as soon as their memory is back."""
        with self._lock:
            if not lease.gpus:
                self._in_slots.remove(lease.run_id)
            for gpu in lease.gpus:
                self._places[gpu.id].ended_at = self._clock()
        self.measure()

    def measure(self) -> bool:
        """Read the memory of every GPU; whether one came free by it."""
        # Outside the lock: a driver in trouble may take its time.
        used = {gpu.id: self._read(gpu) for gpu in self.gpus}
        has_freed = False
        with self._lock:
            for place in self._places.values():
                place.read(used[place.gpu.id])
                if place.ended_at is not None and place.has_come_back():
                    place.free()
                    has_freed = True
        return has_freed

    def _read(self, gpu: Gpu) -> int | None:
        try:
            return self._used_bytes(gpu)
        except Exception as error:  # noqa: BLE001 - drivers have errors of their own
            # No answer must not look like free memory.
            log.warning("gpu.not_read", extra={"gpu": gpu.id, "error": repr(error)[:300]})
            return self._places[gpu.id].used_bytes

    @property
    def is_waiting_for_memory(self) -> bool:
        """Whether a run has ended whose GPUs are not free yet."""
        with self._lock:
            return any(place.ended_at is not None for place in self._places.values())

    def peak_bytes(self, lease: Lease) -> int | None:
        """Most memory seen in use on a run's GPUs together, None without GPUs or a reading."""
        with self._lock:
            peaks = [self._places[gpu.id].peak_bytes for gpu in lease.gpus]
        known = [peak for peak in peaks if peak is not None]
        return sum(known) if known else None

    def fitting(self, queue: Sequence[Waiting]) -> list[str]:
        """The runs of the queue, best first, that fit what is free now all together."""
        with self._lock:
            slots, gpus = self.slots - len(self._in_slots), len(self._free_places())
            candidates = self._without_holders(queue)
        found = []
        for run_id, wanted in candidates:
            if wanted > gpus or (wanted == 0 and slots == 0):
                continue
            slots, gpus = (slots, gpus - wanted) if wanted else (slots - 1, gpus)
            found.append(run_id)
        return found

    def describe(self) -> list[dict[str, Any]]:
        """Every device with who holds it, as the store keeps it; the CPU first."""
        with self._lock:
            cpu = {
                "kind": "cpu",
                "cores": os.cpu_count() or 1,
                "slots": self.slots,
                "run_ids": list(self._in_slots),
            }
            return [cpu, *map(self._describe, self._places.values())]

    def _describe(self, place: _Place) -> dict[str, Any]:
        gpu, ended_at = place.gpu, place.ended_at
        told: dict[str, Any] = {
            "kind": "gpu",
            "id": gpu.id,
            "name": gpu.name,
            "memory_bytes": gpu.memory_bytes,
            "memory_used_bytes": place.used_bytes,
            "run_ids": [] if place.run_id is None or ended_at is not None else [place.run_id],
            "is_returning": ended_at is not None,
            "fault": None,
        }
        if self._is_at_fault(place):
            told["fault"] = _fault(place)
        return told

    def _take(self, run_id: str, wanted: int) -> Lease | None:
        if wanted == 0:
            if not self._has_free_slot():
                return None
            self._in_slots.append(run_id)
            return Lease(run_id, ())
        free = self._free_places()
        if wanted > len(free):
            return None
        for place in free[:wanted]:
            place.take(run_id)
        return Lease(run_id, tuple(place.gpu for place in free[:wanted]))

    def _without_holders(self, queue: Sequence[Waiting]) -> list[Waiting]:
        places = self._places.values()
        holders = {*self._in_slots, *(one.run_id for one in places if one.ended_at is None)}
        return [waiting for waiting in queue if waiting[0] not in holders]

    def _has_free_slot(self) -> bool:
        return len(self._in_slots) < self.slots

    def _free_places(self) -> list[_Place]:
        return [place for place in self._places.values() if place.run_id is None]

    def _is_at_fault(self, place: _Place) -> bool:
        ended_at = place.ended_at
        return ended_at is not None and self._clock() - ended_at >= FAULT_AFTER_S

    def _usable(self) -> int:
        """GPUs that are free or will be when their runs have ended."""
        return sum(not self._is_at_fault(place) for place in self._places.values())

    def _forget_all_but(self, queue: Sequence[Waiting]) -> None:
        queued = {run_id for run_id, _ in queue}
        self._passed_over = {k: v for k, v in self._passed_over.items() if k in queued}


def _fault(place: _Place) -> str:
    used, before = (place.used_bytes or 0) / 1e9, (place.before_bytes or 0) / 1e9
    return (
        f"{used:.1f} GB are still in use after its run ended; before the run {before:.1f} GB were "
        "in use. No run gets this GPU until the memory is free. Podium checks it twice a second; "
        "`nvidia-smi` shows the process that holds the memory."
    )
