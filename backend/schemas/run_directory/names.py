"""The names in a run directory that more than one of trainer, worker and service must know."""

import re

# Beside the config and the inputs, which the trainer is told.
EVENTS = "events.jsonl"
EXIT_REPORT = "exit.json"
ATTEMPTS = "attempts"
OUTPUT = "output"
CHECKPOINTS = "checkpoints"
# Which of the checkpoints somebody wants kept.
PINS = "pins.json"
# Whoever works in the directory holds it.
LOCK = "lock"

# In the folder of one checkpoint.
MANIFEST = "manifest.json"

# As many digits as a bigint of the database holds, whatever they are.
_CHECKPOINT = re.compile(r"step-([0-9]{1,18})")


def checkpoint_name(step: int) -> str:
    """The name of the folder of a checkpoint."""
    return f"step-{step}"


def checkpoint_step(name: str) -> int | None:
    """The step of the checkpoint whose folder has this name; None for any other name."""
    match = _CHECKPOINT.fullmatch(name)
    return int(match[1]) if match else None
