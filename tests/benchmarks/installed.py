"""Libraries and programs that are measured beside ours, by pip, and no part of our environment.

What cannot be installed fails the benchmark: a comparison that was not made is not passed over.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def programs(folder: Path, *requirements: str) -> Path:
    """The folder of the programs of an environment that has these; one is `python`."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    _install(folder / "bin" / "python", *requirements)
    return folder / "bin"


def libraries(folder: Path, *requirements: str) -> Path:
    """A folder with these for `sys.path`; what our environment has, too, is of its version."""
    _install(
        Path(sys.executable),
        "--target", str(folder), "--constraint", str(ROOT / "constraints.txt"), *requirements,
    )  # fmt: skip
    return folder


def _install(python: Path, *arguments: str) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *arguments], check=True)
