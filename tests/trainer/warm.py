"""Trainers that begin with torch and transformers loaded.

`Workshop.start_by_command` starts the trainer as its users do.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.warm.hosts import ENVIRONMENT, TRAINER
from tests.warm.process import WarmProcess


def _train(arguments: Sequence[str]) -> int:
    from worker.trainer.__main__ import main

    return main(list(arguments))


class WarmTrainer(WarmProcess):
    """A trainer at work."""

    def __init__(
        self, run_dir: Path, environment: Mapping[str, str], log: Path | None = None
    ) -> None:
        """Start it; it prints to `log`, by default in the run directory."""
        arguments = [str(run_dir / "config.json"), "--run-dir", str(run_dir)]
        given = os.environ | ENVIRONMENT | environment
        super().__init__(_train, arguments, given, log or run_dir / "trainer.log", host=TRAINER)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; what it has printed comes second."""
        self.wait(timeout)
        return "", self.log.read_text(errors="replace") if self.log.exists() else ""
