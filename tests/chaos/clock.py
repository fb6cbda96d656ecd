"""The time of day as one part of a site sees it, moved while it runs.

`libfaketime` (Debian's package faketime) stands between the part and its C library. The monotonic
clock is left alone, as it is when somebody sets the clock of a machine.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

_LIBRARY = "libfaketimeMT.so.1"
_SLEEP = str(Path(__file__).with_name("under_faketime"))
_FOLDERS = ("/usr/lib", "/usr/local/lib", "/lib")


class Clock:
    """One clock; whoever sees it reads the file with its offset every second.

    At each look at the clock would cost a site more processor time than all its work.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.move(0)
        path.chmod(0o644)

    def move(self, offset_s: int) -> None:
        """Go wrong by so many seconds, within a second for whoever sees it."""
        unfinished = self._path.with_suffix(".part")
        unfinished.write_text(f"{offset_s:+d}\n")
        unfinished.chmod(0o644)
        unfinished.replace(self._path)

    def environment(self) -> dict[str, str]:
        """What makes a process see this clock."""
        return {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._path),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # A thread that waits for the interpreter waits until a moment of the monotonic clock.
            # Taken for one of the time of day it is long past, and threads turn in circles.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, (_SLEEP, os.environ.get("PYTHONPATH")))),
        }


def library() -> Path:
    """The library; AssertionError with what to install if it is missing."""
    for folder in _FOLDERS:
        for place in (Path(folder), *Path(folder).glob("*-linux-*")):
            for path in (place / _LIBRARY, place / "faketime" / _LIBRARY):
                if path.exists():
                    return path
    raise AssertionError("libfaketime is missing: `make faketime`, or apt-get install faketime")


def offset_seen(environment: dict[str, str]) -> float:
    """Seconds by which a process of this environment is off the machine's clock."""
    command = [sys.executable, "-S", "-c", "import time; print(time.time())"]
    env = os.environ | environment
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return float(done.stdout) - time.time()
