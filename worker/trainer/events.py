"""`events.jsonl`: what the trainer tells the world, one flushed JSON object a line.

Every loop emits through `Events`; nothing is read back here. Numbers that are not finite become
null and an alert. Failing to write is an error of the run: its directory is broken.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from backend.schemas.run_directory.events import (
    AlertLine,
    CheckpointLine,
    DistributionLine,
    Histogram,
    MetricLine,
    ProgressLine,
    PromptScoresLine,
    SampleLine,
    StartLine,
    TrainerLine,
)
from worker.trainer.errors import disk_error

# Of one line; a relay takes twice as many.
MOST_VALUES = 500


class Events:
    """The event file of one attempt; opening it cuts a torn last line off."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.tokens = 0
        self._started_at = time.monotonic()
        self._first_step = 0
        self._said: set[tuple[str, str]] = set()
        try:
            cut_back_to_last_newline(path)
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise disk_error(error, str(path)) from error

    def start(self, *, attempt: int, step: int, environment: dict[str, object]) -> None:
        """Say that this attempt goes on after `step`."""
        self._first_step = step
        self._write(StartLine(attempt=attempt, step=step, environment=environment))

    def metric(self, step: int, values: Mapping[str, float]) -> None:
        """Write the metrics of a step; a value that is not finite becomes null and an alert.

        Many values are several lines of the step: a relay refuses lines with too many.
        """
        at, every, broken = time.time(), list(values.items()), list[str]()
        for first in range(0, max(len(every), 1), MOST_VALUES):
            part = dict(every[first : first + MOST_VALUES])
            line = MetricLine(step=step, time=at, tokens=self.tokens, values=part)
            self._write(line)
            broken += [name for name, value in line.values.items() if value is None]
        if broken:
            self.alert(
                "non_finite_metric",
                "These metrics are NaN or infinite and are stored as null: "
                f"{', '.join(sorted(broken))}.",
                step=step,
            )

    def distributions(self, step: int, values: Mapping[str, Histogram]) -> None:
        """Write how values of a step are spread."""
        said = {"time": time.time(), "tokens": self.tokens, "values": dict(values)}
        self._write(DistributionLine.model_validate({"step": step, **said}))

    def prompt_scores(self, line: PromptScoresLine) -> None:
        """Write what the responses to each prompt of a step scored."""
        self._write(line)

    def sample(self, line: SampleLine) -> None:
        """Write a sample."""
        self._write(line)

    def progress(self, step: int, steps: int, phase: str) -> None:
        """Say how far the run is; the remaining time follows from the steps of this attempt."""
        done = step - self._first_step
        spent_s = time.monotonic() - self._started_at
        eta_s = spent_s / done * (steps - step) if done > 0 else None
        self._write(ProgressLine(step=step, steps=steps, phase=phase, eta_s=eta_s))

    def checkpoint(self, step: int, path: str, *, best: bool = False) -> None:
        """Say that a checkpoint is complete."""
        self._write(CheckpointLine(step=step, path=path, best=best))

    def alert(
        self,
        rule: str,
        message: str,
        *,
        level: Literal["info", "warning", "error"] = "warning",
        step: int | None = None,
    ) -> None:
        """Point a researcher at something."""
        self._write(AlertLine(level=level, rule=rule, message=message, step=step))

    def alert_once(
        self, rule: str, message: str, *, level: Literal["info", "warning"] = "warning"
    ) -> None:
        """Point a researcher at something, unless this attempt has said the same."""
        if (rule, message) not in self._said:
            self._said.add((rule, message))
            self.alert(rule, message, level=level)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, line: TrainerLine) -> None:
        try:
            self._file.write(line.model_dump_json(exclude_none=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise disk_error(error, str(self._path)) from error


def cut_back_to_last_newline(path: Path) -> None:
    """Remove what follows the last newline of a file: a line that was never finished."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)
