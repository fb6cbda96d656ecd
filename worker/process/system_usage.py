"""What a trainer uses of its machine now, and how busy the machine is: one reading after another.

Called by `worker.process.system_sampler`. What cannot be read is left out, never 0: a GPU whose
driver does not say, counters that the operating system does not keep.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from worker.process import processes
from worker.process.gpus import Gpu, GpuReader

_GIB, _MIB = 2**30, 2**20


class _Counters(NamedTuple):
    """What has grown since the trainer began; None = the operating system does not count it."""

    at: float
    cpu_s: float
    read_bytes: int | None
    written_bytes: int | None


class _Cores(NamedTuple):
    """Time of all cores since the machine has started."""

    total_s: float
    idle_s: float


class SystemUsage:
    """Readings of one trainer; rates are of the time since the reading before."""

    def __init__(self, folder: Path, gpus: Sequence[Gpu], reader: GpuReader) -> None:
        """`folder` is where the trainer writes; `gpus` are those that it holds."""
        self._folder = folder
        self._gpus = tuple(gpus)
        self._reader = reader
        self._before: _Counters | None = None
        self._cores: _Cores | None = None

    def read(self, pid: int, now: float) -> dict[str, float]:
        """Values by metric, of the process `pid` and its descendants; `now` in seconds.

        The first reading has no rates: there is nothing to take them of.
        """
        found = self._of_machine() | self._of_gpus()
        trainer = _processes(pid)
        if trainer:
            found["system/memory_gib"] = sum(map(_resident_bytes, trainer)) / _GIB
            counters = _counters(trainer, now)
            found |= _rates(self._before, counters)
            self._before = counters
        return found

    def _of_machine(self) -> dict[str, float]:
        memory = psutil.virtual_memory()
        found = {"system/machine_memory": (memory.total - memory.available) / memory.total}
        before, self._cores = self._cores, _cores()
        if before is not None and self._cores.total_s > before.total_s:
            idle_s = self._cores.idle_s - before.idle_s
            busy = 1 - idle_s / (self._cores.total_s - before.total_s)
            found["system/machine_cpu"] = min(1.0, max(0.0, busy))
        with contextlib.suppress(OSError):
            found["system/disk_free_gib"] = psutil.disk_usage(str(self._folder)).free / _GIB
        return found

    def _of_gpus(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for number, gpu in enumerate(self._gpus):
            used_bytes, busy = self._reader.used_bytes(gpu), self._reader.busy(gpu)
            if used_bytes is not None:
                found[f"system/gpu_memory_gib/{number}"] = used_bytes / _GIB
            if busy is not None:
                found[f"system/gpu_busy/{number}"] = busy
        return found


def _cores() -> _Cores:
    times = psutil.cpu_times()
    # Time of guests is in that of users already.
    guests_s = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return _Cores(sum(times) - guests_s, times.idle + getattr(times, "iowait", 0.0))


def _processes(pid: int) -> list[psutil.Process]:
    found = []
    for one in processes.with_descendants({pid}):
        try:
            found.append(psutil.Process(one))
        except psutil.Error:
            continue
    return found


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _counters(trainer: Sequence[psutil.Process], now: float) -> _Counters:
    """Add up the counters of all processes; those of a child that has ended are its parent's."""
    cpu_s, read, written = 0.0, 0, 0
    is_counted = True
    for process in trainer:
        try:
            cpu_s += sum(process.cpu_times()[:4])
            counters = process.io_counters() if hasattr(process, "io_counters") else None
        except psutil.Error:
            continue
        is_counted = is_counted and counters is not None
        if counters is not None:
            read += counters.read_bytes
            written += counters.write_bytes
    return _Counters(now, cpu_s, read if is_counted else None, written if is_counted else None)


def _rates(before: _Counters | None, after: _Counters) -> dict[str, float]:
    if before is None or after.at <= before.at:
        return {}
    span_s = after.at - before.at
    found = {"system/cpu_cores": (after.cpu_s - before.cpu_s) / span_s}
    if before.read_bytes is not None and after.read_bytes is not None:
        found["system/disk_read_mib_s"] = (after.read_bytes - before.read_bytes) / _MIB / span_s
    if before.written_bytes is not None and after.written_bytes is not None:
        written = after.written_bytes - before.written_bytes
        found["system/disk_write_mib_s"] = written / _MIB / span_s
    # A process that has left the trainer takes along what it had used.
    return {name: max(0.0, rate) for name, rate in found.items()}
