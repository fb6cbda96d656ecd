"""Which code trains: its release, its commit if it is a checkout, and hashes of its files.

Beside it the functions of the operator that a run calls: which, and hashes of theirs.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterable
from importlib.machinery import PathFinder
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# What the numbers of a run come from: graders of puzzles and intervals are outside of the trainer.
_FOLDERS = ("worker/trainer", "backend/schemas", "problems", "intervals")
_GIT_S = 5
_MOST_EDITED = 50

ALLOWED = "PODIUM_REWARD_FUNCTIONS"


def describe_source() -> dict[str, object]:
    """Version, commit and SHA-256 of the trainer's code; the hash alone sees every edit.

    `edited`: the files that are not as the commit has them, some at most; None without any.
    """
    return {
        "version": version("podium"),
        "commit": _git(_ROOT, "rev-parse", "HEAD"),
        "edited": _edited(_ROOT),
        "sha256": _sha256(_ROOT),
    }


def _edited(root: Path) -> list[str] | None:
    said = _git(root, "status", "--porcelain", "--no-renames", "-uall", "-z", "--", *_FOLDERS)
    # Two letters say what has become of it.
    names = [entry[3:] for entry in (said or "").split("\0")]
    return sorted(name for name in names if name.endswith(".py"))[:_MOST_EDITED] or None


def _git(root: Path, *asked: str) -> str | None:
    """What git says of a checkout; None if it is none."""
    # Without a look, git would find a repository that an installation happens to lie in.
    if not (root / ".git").exists():
        return None
    command = ["git", "--no-optional-locks", "-C", str(root), *asked]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S, check=True)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.removesuffix("\n")


def _sha256(root: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(path for folder in _FOLDERS for path in (root / folder).rglob("*.py")):
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def allowed_functions() -> list[str]:
    """The functions that runs may name as reward terms, as `module:function`."""
    return [one.strip() for one in os.environ.get(ALLOWED, "").split(",") if one.strip()]


def describe_functions(named: Iterable[str]) -> dict[str, str | None]:
    """By function that is named and allowed the SHA-256 of its file; None if it is not found.

    What this file imports from others is not seen.
    """
    allowed = allowed_functions()
    return {name: _hash_of(name.partition(":")[0]) for name in named if name in allowed}


def _hash_of(module: str) -> str | None:
    try:
        file = _file_of(module)
        return hashlib.sha256(file.read_bytes()).hexdigest() if file is not None else None
    # KeyError: a folder without `__init__.py` in a package that is not imported.
    except (KeyError, ImportError, ValueError, OSError):
        return None


def _file_of(module: str) -> Path | None:
    """Find the file of a module without running it or the packages around it."""
    parts = module.split(".")
    places, origin = None, None
    for n in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: n + 1]), places)
        if spec is None:
            return None
        places, origin = spec.submodule_search_locations or [], spec.origin
    return Path(origin) if origin is not None and Path(origin).is_file() else None
