"""The thread that looks every few seconds what a trainer and its machine use.

Started by `worker.supervisor` beside the trainer. It is a thread of its own because a driver in
trouble may take its time; nothing waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping

from worker.process.system_usage import SystemUsage

log = logging.getLogger("podium.worker")

# A sample that takes long is left behind at the end of a run.
_PATIENCE_S = 1.0


class SystemSampler:
    """Samples until it is left; use it as a context."""

    def __init__(
        self,
        usage: SystemUsage,
        every_s: float,
        *,
        pid: Callable[[], int | None],
        on_sample: Callable[[float, Mapping[str, float]], None],
    ) -> None:
        """`pid` is the trainer's, None before it began; `on_sample` gets the time and the values.

        The time is in seconds since the epoch. `every_s` 0 = never.
        """
        self._usage = usage
        self._every_s = every_s
        self._pid = pid
        self._on_sample = on_sample
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="system-sampler", daemon=True)

    def __enter__(self) -> "SystemSampler":
        if self._every_s > 0:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE_S)

    def _run(self) -> None:
        while not self._end.wait(self._every_s):
            try:
                self._sample()
            except Exception:
                # Drivers have errors of their own; training goes on without this sample.
                log.exception("run.system_not_sampled")

    def _sample(self) -> None:
        pid = self._pid()
        if pid is None:
            return
        values = self._usage.read(pid, time.monotonic())
        if not self._end.is_set():
            self._on_sample(time.time(), values)
