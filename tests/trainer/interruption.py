"""Trainers interrupted in the middle of a run, however slow or quick this process gets to look."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.trainer.conftest import Workshop
from tests.trainer.warm import WarmTrainer

# Runs are laid out so often until one is interrupted before it was through.
_TRIES = 5
_PATIENCE_S = 300.0

Interrupt = Callable[[WarmTrainer, Path], None]


def interrupted(
    workshop: Workshop, name: str, config: dict[str, Any], interrupt: Interrupt, *, code: int
) -> Path:
    """The directory of a run that ended with `code`, without an output, by the interruption.

    `interrupt` waits for the right moment, which may never come, and sends a signal. A tiny run may
    be through before this process gets its turn; then another one takes its place.
    """
    for _ in range(_TRIES):
        run_dir = workshop.lay_out(name, config)
        process = workshop.start(run_dir)
        interrupt(process, run_dir)
        _, stderr = process.communicate(timeout=_PATIENCE_S)
        is_through = (run_dir / "output").exists()
        assert process.returncode in ((0, code) if is_through else (code,)), stderr
        if not is_through:
            return run_dir
        # A SIGKILL may have come before it was written.
        assert code < 0 or json.loads((run_dir / "exit.json").read_text())["code"] == 0
        shutil.rmtree(run_dir)
    raise AssertionError(f"{_TRIES} runs were through before they could be interrupted")


def wait_for(is_so: Callable[[], bool], process: WarmTrainer, *, look_s: float) -> bool:
    """Block until it is so, looking every so many seconds; False where the trainer ends first."""
    deadline = time.monotonic() + _PATIENCE_S
    while not is_so():
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline, "the trainer does not come so far"
        time.sleep(look_s)
    return True


def wait_for_step(process: WarmTrainer, run_dir: Path, step: int) -> bool:
    """Block until the metrics of a step are in the events file; False where the trainer ends."""
    events, words = run_dir / "events.jsonl", f'"type":"metric","step":{step},'

    def is_told() -> bool:
        return events.exists() and "\n" in events.read_text().partition(words)[2]

    return wait_for(is_told, process, look_s=0.02)
