"""One progress bar over the whole demo, with the time that is left.

`closed_loop` says which stage it is in and how far; on a terminal a bar is drawn, elsewhere a line
is printed now and then. It measures time and asks the service nothing.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

# Seconds each stage takes on two CPU cores: the bar's scale. The pace of this machine corrects the
# time left, so wrong numbers here only make the bar uneven.
EXPECTED_S = {
    "fetch": 30,
    "import": 3,
    "sft": 20,
    "first_generate": 20,
    "first_judge": 3,
    "first_reward_model": 55,
    "first_policy": 80,
    "generate": 20,
    "judge": 3,
    "reward_model": 95,
    "policy": 155,
    "evaluate": 90,
    "yours": 20,
    "report": 2,
}
LINE_EVERY_S = 10.0


class Course:
    """How far the demo is. Use as a context; enter each stage by `stage(name)`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._console = Console()
        self._started = time.monotonic()
        self._printed = -LINE_EVERY_S
        self._done_s = 0.0
        self._stage = ""
        # How far it was, in seconds of the scale, when that last grew, and when.
        self._reached_s, self._reached_at = 0.0, self._started
        self._bar = Progress(
            TextColumn("{task.description:<24}"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=sum(EXPECTED_S.values()), left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage under its name."""
        began = time.monotonic()
        self._stage = name
        self.at(0.0, name)
        yield
        self.seconds[name] = round(time.monotonic() - began, 1)
        self._done_s += EXPECTED_S[name]
        self.say(f"{name}: {self.seconds[name]:.0f} s")

    def at(self, fraction: float, doing: str, left_s: float | None = None) -> None:
        """The stage is at `fraction` (0 to 1); `left_s` is what the run itself expects."""
        done = self._done_s + EXPECTED_S[self._stage] * fraction
        if done > self._reached_s:
            self._reached_s, self._reached_at = done, time.monotonic()
        left = self._time_left(done, fraction, left_s)
        self._bar.update(self._task, completed=done, description=doing, left=f"about {left} left")
        now = time.monotonic()
        if not self._console.is_terminal and now - self._printed >= LINE_EVERY_S:
            self._printed = now
            share = done / sum(EXPECTED_S.values())
            self._write(f"[{share:4.0%}] {doing}, about {left} left")

    def follow(self, run: dict[str, Any], part: int = 0, parts: int = 1) -> None:
        """Show a run's progress as part `part` of `parts` of this stage."""
        progress = run["progress"]
        inside = progress["step"] / progress["steps"] if progress["steps"] else 0.0
        eta = progress["eta_s"] if parts == 1 else None
        doing = f"{run['name']}: {progress['phase'] or run['state']}"
        self.at((part + inside) / parts, doing, eta)

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        if self._console.is_terminal:
            self._bar.console.print(line, highlight=False, markup=False)
        else:
            self._write(line)

    def _time_left(self, done_s: float, fraction: float, stage_left_s: float | None) -> str:
        """Minutes and seconds; a stage that tells nothing for a while does not add to them."""
        total = sum(EXPECTED_S.values())
        reached_in = self._reached_at - self._started
        pace = reached_in / done_s if done_s > 0.05 * total else 1.0
        stage_s = EXPECTED_S[self._stage] * (1 - fraction)
        later = (total - done_s - stage_s) * pace
        waited = time.monotonic() - self._reached_at
        here = max(0.0, stage_s * pace - waited) if stage_left_s is None else stage_left_s
        minutes, seconds = divmod(round(max(0.0, later + here)), 60)
        return f"{minutes}:{seconds:02d}"

    @staticmethod
    def _write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
