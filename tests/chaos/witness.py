"""Runs a trainer and swears that no other trainer of the same run was alive at any time.

    python -m tests.chaos.witness FOLDER MODULE ARGUMENTS... --run-dir DIR

The oath is a lock that this very process holds and hands to nobody: the kernel gives it back when
the process is gone and not before. Who finds it taken says so in `witness.log`, one JSON object a
line, written in one piece. Standard library only.
"""

import fcntl
import json
import os
import runpy
import sys
import time
from pathlib import Path


def testify(folder: Path, run_id: str) -> None:
    """Say that this process trains the run now, or that another one does already."""
    folder.mkdir(parents=True, exist_ok=True)
    # Not inheritable, and never closed: it ends with the process.
    lock = os.open(folder / f"{run_id}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        word = "alone"
    except BlockingIOError:
        word = "doubled"
    said = {"word": word, "run": run_id, "pid": os.getpid(), "at": time.monotonic()}
    log = os.open(folder / "witness.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(log, json.dumps(said).encode() + b"\n")
    os.close(log)


def command(folder: Path, trainer: str, python: str = sys.executable) -> str:
    """The command of a trainer, a module and its flags, that testifies in this folder."""
    return f"{python} -P -m tests.chaos.witness {folder} {trainer}"


def words_of(folder: Path, run_id: str) -> list[str]:
    """What the trainers of a run have said at their start, in order."""
    path = folder / "witness.log"
    lines = path.read_text().splitlines() if path.exists() else []
    said = [json.loads(line) for line in lines]
    return [one["word"] for one in said if one["run"] == run_id]


def main(folder: str, module: str, arguments: list[str]) -> None:
    """Testify, then be the trainer."""
    run_dir = Path(arguments[arguments.index("--run-dir") + 1])
    testify(Path(folder), run_dir.name)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
