"""Which code trains: its release, its commit if it is a checkout, and a hash of its files."""

import hashlib
import subprocess
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# What the numbers of a run come from: graders of puzzles and intervals are outside of the trainer.
_FOLDERS = ("worker/trainer", "backend/schemas", "problems", "intervals")
_GIT_S = 5


def describe_source() -> dict[str, str | None]:
    """Version, commit and SHA-256 of the trainer's code; the hash alone sees uncommitted edits."""
    return {"version": version("podium"), "commit": _commit(_ROOT), "sha256": _sha256(_ROOT)}


def _commit(root: Path) -> str | None:
    # Without a look, git would find a repository that an installation happens to lie in.
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _sha256(root: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(path for folder in _FOLDERS for path in (root / folder).rglob("*.py")):
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()
