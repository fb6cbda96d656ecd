"""`python -m worker.trainer CONFIG.json --run-dir DIR`: run one config to its end.

Started by the worker's supervisor or by anybody from a shell. Exit codes: 0 done, 1 bug, 2 config
or data, 3 out of memory, 4 loss not finite, 5 stopped on request, 6 disk; the cause stands in
`exit.json`.
"""

import argparse
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

# Must be said before the libraries are loaded: a thread that waits for the others spins for some
# ten microseconds and then sleeps. Sleeping at once costs a fifth of the time on two free cores
# (60 times the context switches); spinning without end costs many times that on busy ones.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

from backend.machine import garbage

garbage.begin_loading()

import torch
import transformers
from pydantic import ValidationError

from backend.machine.disk_errors import is_unwritable
from backend.schemas.methods import METHODS
from backend.schemas.run_directory.events import ExitReport
from backend.schemas.training import RunConfig, parse_run_config
from backend.schemas.vocabulary import ExitCode
from worker.trainer import exit_report, preflight
from worker.trainer.errors import (
    ConfigError,
    OutOfMemory,
    StopRequested,
    TrainerError,
    disk_error,
)
from worker.trainer.run import Run, StopWish, attempt_number, open_run

garbage.end_loading()

# What torch says of memory that it did not get where it raises a bare RuntimeError: its allocator
# on CPUs, CUDA itself, and cuBLAS and cuDNN.
_NO_MEMORY = ("allocate memory", "CUDA error: out of memory", "_STATUS_ALLOC_FAILED")


def main(arguments: list[str] | None = None) -> int:
    """Run the config and report how it ended; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m worker.trainer", description=__doc__)
    parser.add_argument("config", type=Path, metavar="CONFIG.json")
    parser.add_argument("--run-dir", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    directory: Path = options.run_dir.resolve()
    stop = StopWish()
    stop.listen()
    transformers.utils.logging.disable_progress_bar()
    try:
        make_ready(directory)
        execute(directory, read_config(options.config), stop)
        error = None
    except Exception as raised:  # noqa: BLE001 - the last place where an error can be told
        if not isinstance(raised, StopRequested):
            traceback.print_exc()
        error = as_trainer_error(raised)
    return report(directory, error)


def make_ready(directory: Path) -> None:
    """Make the run directory and the reserve in which even a full disk can be reported.

    Raises DiskError, whatever stands in the way.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        exit_report.reserve(directory)
    except OSError as error:
        raise disk_error(error, str(directory)) from error


def read_config(path: Path) -> RunConfig:
    """The config of a file.

    Raises ConfigError naming each wrong key.
    """
    try:
        return parse_run_config(json.loads(path.read_text()))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "Give the path of a config file.") from error
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()
        ]
        raise ConfigError("; ".join(problems), "Correct these keys of the config.") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}", "Correct the file.") from error


def execute(directory: Path, config: RunConfig, stop: StopWish) -> None:
    """Run the method of the config."""
    run = open_run(directory, config, stop)
    try:
        preflight.check(run, config)
        loop = loop_of(config.method)
        gc.freeze()
        loop(run, config)
    finally:
        run.events.close()


def loop_of(method: str) -> Callable[[Run, RunConfig], None]:
    """The loop of a method; only now is its code loaded."""
    module, _, name = METHODS[method].loop.rpartition(".")
    loop: Callable[[Run, RunConfig], None] = getattr(import_module(module), name)
    return loop


def as_trainer_error(error: Exception) -> TrainerError:
    """What an exception means to the person who started the run."""
    if isinstance(error, TrainerError):
        return error
    if is_unwritable(error):
        return disk_error(error, error.filename or "the run directory")
    if _is_out_of_memory(error):
        return OutOfMemory(
            f"out of memory: {error}",
            "Lower optim.micro_batch_tokens or the sizes in rollout, train with LoRA, or use a "
            "machine with more memory.",
        )
    return TrainerError("".join(traceback.format_exception(error)))


def _is_out_of_memory(error: Exception) -> bool:
    is_one = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return is_one or any(words in str(error) for words in _NO_MEMORY)


def report(directory: Path, error: TrainerError | None) -> int:
    """Write `exit.json` and return the exit code; the message goes to stderr too."""
    code = ExitCode.DONE if error is None else int(error.code)
    try:
        exit_report.write(
            directory,
            ExitReport(
                attempt=attempt_number(directory),
                code=code,
                cause=None if error is None else error.cause,
                advice=None if error is None else error.advice,
                message=None if error is None else error.message,
            ),
        )
    except OSError as broken:
        print(f"could not write exit.json: {broken}", file=sys.stderr)  # noqa: T201
    if error is not None:
        print(f"{error.cause}: {error.message}", file=sys.stderr)  # noqa: T201
    return code


if __name__ == "__main__":
    sys.exit(main())
