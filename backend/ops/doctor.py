"""`podium doctor`: is this machine and installation fit to run, and what to do where not.

Called by the command line. It creates the data directory if needed and changes nothing else.
"""

import importlib.util
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from backend import broker
from backend.artifacts import ArtifactStore
from backend.errors import ServiceError, Unavailable
from backend.machine import disk_space
from backend.ops.launcher import read_server
from backend.ops.migration import is_missing, sqlite_path
from backend.schemas.numbers import gb
from backend.settings import Settings
from backend.store.db import Database
from backend.store.revision import current_revision, head_revision, require_known

ENOUGH_FREE_BYTES = 5_000_000_000


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    is_fine: bool
    sentence: str


def examine(settings: Settings) -> list[Finding]:
    """Look at Python, data directory, database, broker, artifacts, trainer and what it may use."""
    return [
        _python(),
        _data_dir(settings),
        *_modes(settings),
        _database(settings),
        _broker(settings),
        *_artifacts(settings),
        _trainer(settings),
        *map(_reward_function, settings.allowed_functions),
        *_vllm(settings),
        _server(settings),
    ]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        "python", sys.version_info >= (3, 11), f"version {version}; Podium needs 3.11 or newer"
    )


def _data_dir(settings: Settings) -> Finding:
    folder = settings.data_dir
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            space = disk_space.look_at(folder, settings.min_free_bytes)
    except OSError as error:
        return Finding(
            "data directory",
            False,
            f"{folder} is not writable: {error.strerror}; set PODIUM_DATA_DIR to a folder that "
            "this user may write to",
        )
    sentence = f"{folder} is writable, {gb(space.free_bytes)} free"
    if space.is_low:
        needed = f"{settings.min_free_gb:g} GB (PODIUM_MIN_FREE_GB)"
        return Finding(
            "data directory",
            False,
            f"{sentence}; workers take no new run below {needed}: free space, or lower the setting",
        )
    if space.free_bytes < ENOUGH_FREE_BYTES:
        return Finding("data directory", False, f"{sentence}; a run needs about 5 GB: free space")
    return Finding("data directory", True, sentence)


def _modes(settings: Settings) -> list[Finding]:
    """Report what others of this machine can open: folders of Podium, and the database outside."""
    return [*_open_folders(settings), *_open_database(settings)]


def _open_database(settings: Settings) -> list[Finding]:
    """The file of a database that stands in a folder of its own, which others can enter."""
    if not settings.is_embedded_database:
        return []
    file = sqlite_path(settings).absolute()
    if file.is_relative_to(settings.data_dir.absolute()) or not file.is_file():
        return []
    if not (file.parent.stat().st_mode & 0o011 and file.stat().st_mode & 0o077):
        return []
    return [
        Finding(
            "file modes",
            False,
            f"other users of this machine can open the database {file} (mode "
            f"{file.stat().st_mode & 0o777:o}): run `chmod go= {file}*`",
        )
    ]


def _open_folders(settings: Settings) -> list[Finding]:
    folders = [settings.data_dir, Path(settings.resolved_artifact_url)]
    open_ = [folder for folder in folders if folder.is_dir() and folder.stat().st_mode & 0o077]
    if settings.data_dir not in open_:
        open_ = [folder for folder in open_ if not folder.is_relative_to(settings.data_dir)]
    return [
        Finding(
            "file modes",
            False,
            f"other users of this machine can open {folder} (mode {folder.stat().st_mode & 0o777:o}"
            f"): run `chmod -R go= {folder}`",
        )
        for folder in open_
    ]


def _database(settings: Settings) -> Finding:
    if is_missing(settings):
        return Finding(
            "database",
            False,
            f"there is none in {settings.data_dir}: run `podium up` or `podium migrate` to create "
            "it, or correct PODIUM_DATA_DIR",
        )
    database = Database(settings.sqlalchemy_url)
    try:
        current, head = current_revision(database), head_revision()
        require_known(current)
    except ServiceError as error:
        return Finding("database", False, f"{error.detail}. {error.advice or ''}".strip())
    finally:
        database.close()
    if current == head:
        return Finding("database", True, f"schema revision {head}")
    advice = "run `podium migrate`"
    return Finding(
        "database",
        False,
        f"its schema revision is {current or 'none'}, this release needs {head}: {advice}",
    )


def _broker(settings: Settings) -> Finding:
    try:
        broker.require_broker(settings)
    except Unavailable as error:
        return Finding("broker", False, f"{error.detail}. {error.advice}")
    kind = "files in the data directory" if settings.broker_url is None else "answers"
    return Finding("broker", True, kind)


def _artifacts(settings: Settings) -> list[Finding]:
    """Check that files can be stored in the place that is set, if one is."""
    if settings.artifact_url is None:
        return []
    try:
        ArtifactStore(settings.artifact_url).check()
    except FileNotFoundError:
        missing = (
            f"{settings.artifact_url} does not exist; create it, or correct PODIUM_ARTIFACT_URL"
        )
        return [Finding("artifact store", False, missing)]
    except ServiceError as error:
        return [Finding("artifact store", False, f"{error.detail}. {error.advice}")]
    return [Finding("artifact store", True, f"{settings.artifact_url} can be written and read")]


def _trainer(settings: Settings) -> Finding:
    if settings.trainer_command:
        return _own_trainer(settings.trainer_command)
    if importlib.util.find_spec("torch") is None:
        return Finding(
            "trainer",
            False,
            "torch is not installed, so no run can train here: run `.venv/bin/pip install "
            "--constraint constraints.txt --editable '.[worker]'` in Podium's source folder (a "
            "machine with the API alone needs no torch)",
        )
    return Finding("trainer", True, "torch is installed")


def _own_trainer(command: str) -> Finding:
    program = shlex.split(command)[0]
    # A trainer starts in the directory of its run: what is relative to this one is not found there.
    is_found = "/" not in program or Path(program).is_absolute()
    if is_found and shutil.which(program) is not None:
        return Finding("trainer", True, f"PODIUM_TRAINER_COMMAND starts {program}")
    return Finding(
        "trainer",
        False,
        f"PODIUM_TRAINER_COMMAND starts {program}, which is not a program on PATH or an absolute "
        "path to one, so no run can train here: correct the setting, or unset it",
    )


_CALLABLE = (
    "import importlib, sys; module, _, name = sys.argv[1].partition(':'); "
    "assert callable(getattr(importlib.import_module(module), name)), f'{name} is not a function'"
)


def _reward_function(function: str) -> Finding:
    """Import it, in a process of its own, as a trainer does."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _CALLABLE, function],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        wrong = done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
    except subprocess.TimeoutExpired:
        wrong = "it was still being imported after 120 s"
    if not wrong:
        return Finding("reward function", True, f"{function} can be imported")
    return Finding(
        "reward function",
        False,
        f"{function} cannot be used: {wrong}; correct PODIUM_REWARD_FUNCTIONS, or add the folder "
        "of its module to PYTHONPATH",
    )


def _vllm(settings: Settings) -> list[Finding]:
    """Check that the python of vllm runs, where one is set."""
    if settings.vllm_python is None:
        return []
    python = settings.vllm_python
    ask = "import vllm; print(vllm.__version__)"
    try:
        found = subprocess.run(
            [str(python), "-c", ask], capture_output=True, text=True, check=False, timeout=120
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [
            Finding(
                "vllm",
                False,
                f"PODIUM_VLLM_PYTHON is {python}, which does not run: {error}; set it to the "
                "python of an environment with vllm, or unset it",
            )
        ]
    if found.returncode:
        last = found.stderr.strip().rpartition("\n")[2]
        return [
            Finding(
                "vllm",
                False,
                f"{python} cannot import vllm: {last}; install vllm there, or unset "
                "PODIUM_VLLM_PYTHON",
            )
        ]
    return [Finding("vllm", True, f"version {found.stdout.split()[-1]} in {python}")]


def _server(settings: Settings) -> Finding:
    server = read_server(settings.data_dir)
    sentence = f"running at {server['url']}" if server else "not running"
    return Finding("server", True, sentence)
