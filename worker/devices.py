"""What this worker has to train on, and what of it is free.

Called by `worker.station`. CPU runs take a slot, GPU runs their GPUs. Several workers on one
machine share its GPUs by CUDA_VISIBLE_DEVICES. Which run goes where is the business of the queue in
the store.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.store.supervision import Waiting

# A big run that was passed over for this long reserves the next GPUs that come free.
RESERVE_AFTER_S = 600.0


@dataclass(frozen=True)
class Gpu:
    """One GPU: `id` is what CUDA_VISIBLE_DEVICES takes."""

    id: str
    name: str
    memory_bytes: int


@dataclass(frozen=True)
class Lease:
    """What one run holds while it runs."""

    gpus: tuple[Gpu, ...]

    @property
    def visible_devices(self) -> str:
        """The value of CUDA_VISIBLE_DEVICES; empty hides every GPU."""
        return ",".join(gpu.id for gpu in self.gpus)


class Devices:
    """The slots and GPUs of one worker; safe to call from several threads."""

    def __init__(
        self,
        slots: int,
        gpus: Sequence[Gpu],
        *,
        clock: Callable[[], float] = time.monotonic,
        reserve_after_s: float = RESERVE_AFTER_S,
    ) -> None:
        self.slots = slots
        self.gpus = tuple(gpus)
        self._free_slots = slots
        self._free_gpus = list(gpus)
        self._passed_over: dict[str, float] = {}
        self._clock = clock
        self._reserve_after_s = reserve_after_s
        self._lock = threading.Lock()

    def describe(self) -> list[dict[str, Any]]:
        """The devices as the store keeps them."""
        cpu: dict[str, Any] = {"kind": "cpu", "cores": os.cpu_count() or 1}
        return [cpu] + [
            {"kind": "gpu", "id": gpu.id, "name": gpu.name, "memory_bytes": gpu.memory_bytes}
            for gpu in self.gpus
        ]

    def take_best(self, queue: Sequence[Waiting]) -> tuple[str, Lease] | None:
        """The first run of the queue that fits what is free, and its devices; None if none does."""
        with self._lock:
            self._forget_all_but(queue)
            gpus_are_reserved = False
            for run_id, wanted in queue:
                lease = None if wanted and gpus_are_reserved else self._take(wanted)
                if lease is not None:
                    return run_id, lease
                since = self._passed_over.setdefault(run_id, self._clock())
                waited_s = self._clock() - since
                gpus_are_reserved |= wanted > 0 and waited_s >= self._reserve_after_s
            return None

    def give_back(self, lease: Lease) -> None:
        """Free what a run has held."""
        with self._lock:
            if lease.gpus:
                self._free_gpus.extend(lease.gpus)
            else:
                self._free_slots += 1

    def has_room_for(self, queue: Sequence[Waiting]) -> bool:
        """Whether any of these runs would fit now."""
        with self._lock:
            return any(
                wanted <= len(self._free_gpus) if wanted else self._free_slots > 0
                for _, wanted in queue
            )

    def _take(self, wanted: int) -> Lease | None:
        if wanted == 0:
            if self._free_slots == 0:
                return None
            self._free_slots -= 1
            return Lease(())
        if wanted > len(self._free_gpus):
            return None
        taken, self._free_gpus = self._free_gpus[:wanted], self._free_gpus[wanted:]
        return Lease(tuple(taken))

    def _forget_all_but(self, queue: Sequence[Waiting]) -> None:
        queued = {run_id for run_id, _ in queue}
        self._passed_over = {k: v for k, v in self._passed_over.items() if k in queued}


def find_gpus() -> list[Gpu]:
    """The GPUs that NVML shows and CUDA_VISIBLE_DEVICES allows; none where NVML is missing."""
    try:
        import pynvml  # type: ignore[import-not-found]  # optional, and without types
    except ImportError:
        return []
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        found = [_describe(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
    finally:
        pynvml.nvmlShutdown()
    return visible(found, os.environ.get("CUDA_VISIBLE_DEVICES"))


def visible(gpus: Sequence[Gpu], allowed: str | None) -> list[Gpu]:
    """Those of the GPUs, in PCI order, that a CUDA_VISIBLE_DEVICES value names."""
    if allowed is None:
        return list(gpus)
    names = [name.strip() for name in allowed.split(",") if name.strip()]
    by_name = {gpu.id: gpu for gpu in gpus} | {str(i): gpu for i, gpu in enumerate(gpus)}
    return [by_name[name] for name in names if name in by_name]


def _describe(nvml: Any, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    name, uuid = nvml.nvmlDeviceGetName(handle), nvml.nvmlDeviceGetUUID(handle)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle).total
    return Gpu(id=_text(uuid), name=_text(name), memory_bytes=int(memory))


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
