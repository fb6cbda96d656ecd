"""The GPUs of this machine, as NVML tells of them.

Called by `worker.worker_process` and `worker.process.devices`. It reads and never changes anything;
NVML is opened once and stays open, for a reading every few seconds. Without the library or a driver
there are no GPUs.
"""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

log = logging.getLogger("podium.worker")


@dataclass(frozen=True)
class Gpu:
    """One GPU: `id` is what CUDA_VISIBLE_DEVICES takes."""

    id: str
    name: str
    memory_bytes: int | None


class GpuReader:
    """NVML, opened if it is there."""

    def __init__(self) -> None:
        """Open NVML; raises nothing."""
        self._nvml = _opened()
        self._handles: dict[str, Any] = {}

    def find(self) -> list[Gpu]:
        """The GPUs that CUDA_VISIBLE_DEVICES allows this process, in its order."""
        if self._nvml is None:
            return []
        found = [self._describe(self._nvml, index) for index in range(_count(self._nvml))]
        allowed = visible(found, os.environ.get("CUDA_VISIBLE_DEVICES"))
        return [gpu for gpu in allowed if gpu.id in self._handles]

    def used_bytes(self, gpu: Gpu) -> int | None:
        """Memory in use on a GPU by anybody; None where the driver does not say."""
        if self._nvml is None or gpu.id not in self._handles:
            return None
        memory = _memory(self._nvml, self._handles[gpu.id])
        return None if memory is None else int(memory.used)

    def busy(self, gpu: Gpu) -> float | None:
        """Return the share of the last moments in which a GPU computed; `None` if it is unknown."""
        if self._nvml is None or gpu.id not in self._handles:
            return None
        try:
            return float(self._nvml.nvmlDeviceGetUtilizationRates(self._handles[gpu.id]).gpu) / 100
        except self._nvml.NVMLError:
            # Parts of a GPU (MIG) and some drivers do not tell.
            return None

    def _describe(self, nvml: Any, index: int) -> Gpu:
        """What is told of a GPU; one that answers nothing keeps its number and gets no handle."""
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            name, uuid = nvml.nvmlDeviceGetName(handle), nvml.nvmlDeviceGetUUID(handle)
        except nvml.NVMLError as error:
            log.warning("gpu.not_found", extra={"index": index, "error": str(error)[:300]})
            return Gpu(f"unreadable-{index}", "unreadable", None)
        memory = _memory(nvml, handle)
        gpu = Gpu(_text(uuid), _text(name), None if memory is None else int(memory.total))
        self._handles[gpu.id] = handle
        return gpu


def _count(nvml: Any) -> int:
    try:
        return int(nvml.nvmlDeviceGetCount())
    except nvml.NVMLError as error:
        log.warning("gpu.not_found", extra={"error": str(error)[:300]})
        return 0


def _memory(nvml: Any, handle: Any) -> Any:
    """Memory of a GPU, or None: those that share the machine's do not tell."""
    try:
        return nvml.nvmlDeviceGetMemoryInfo(handle)
    except nvml.NVMLError:
        return None


def _opened() -> Any:
    try:
        import pynvml  # optional: the worker's extra installs it
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def visible(gpus: Sequence[Gpu], allowed: str | None) -> list[Gpu]:
    """Keep the GPUs, in PCI order, that a value of CUDA_VISIBLE_DEVICES names.

    Reads it as CUDA does: by number, by id or its beginning; an unknown name hides what follows.
    """
    if allowed is None:
        return list(gpus)
    found: list[Gpu] = []
    for name in filter(None, (part.strip() for part in allowed.split(","))):
        named = [gpu for i, gpu in enumerate(gpus) if name == str(i) or _begins(gpu.id, name)]
        if len(named) != 1:
            break
        found += [gpu for gpu in named if gpu not in found]
    return found


def _begins(gpu_id: str, name: str) -> bool:
    return name.startswith("GPU-") and gpu_id.startswith(name)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
