"""Samples of the machine as metrics of a run: the mean of all samples since the point before.

The sampler adds, the relay takes. A metric has one value of one name at one step, but a step may
last minutes or milliseconds: so a point lies at the newest step that the trainer has reported, and
there is one at most for each such step. Samples wait until the trainer has reported a later step;
those up to its first report are the point of step 0.
"""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from backend.schemas.run_directory.events import MetricLine, StartLine, TrainerLine

# Samples of one step that are kept, newest last: a day at ten seconds each.
_MOST_SAMPLES = 8640


class SystemMeans:
    """Means of the samples of one attempt's machine; safe to call from two threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: list[tuple[float, Mapping[str, float]]] = []
        self._offered: MetricLine | None = None
        # The newest step that the trainer has reported, its tokens, and the newest with a point.
        self._step: int | None = None
        self._tokens = 0
        self._told = -1

    def add(self, at: float, values: Mapping[str, float]) -> None:
        """Take in what was sampled at a time, in seconds since the epoch."""
        with self._lock:
            self._samples = [*self._samples[1 - _MOST_SAMPLES :], (at, values)]

    def after(self, lines: Sequence[TrainerLine]) -> MetricLine | None:
        """Return the means to store after these lines of the trainer; the same until `stored`."""
        for line in lines:
            self._note(line)
        with self._lock:
            if self._offered is None and self._step is not None and self._step > self._told:
                self._offered = self._mean(self._step)
            return self._offered

    def stored(self) -> None:
        """Note that the means returned last are in the store."""
        if self._offered is not None:
            self._told = self._offered.step
            self._offered = None

    def _note(self, line: TrainerLine) -> None:
        if isinstance(line, StartLine):
            self._step, self._offered = line.step, None
            # A step at which the run resumes has had its point before.
            self._told = line.step if line.step > 0 else -1
        elif isinstance(line, MetricLine):
            self._step = max(line.step, self._step or 0)
            self._tokens = max(line.tokens, self._tokens)

    def _mean(self, step: int) -> MetricLine | None:
        if not self._samples:
            return None
        by_name: defaultdict[str, list[float]] = defaultdict(list)
        for _, values in self._samples:
            for name, value in values.items():
                by_name[name].append(value)
        at = self._samples[-1][0]
        self._samples = []
        means = {name: fmean(values) for name, values in by_name.items()}
        return MetricLine(step=step, time=at, tokens=self._tokens, values=means)
