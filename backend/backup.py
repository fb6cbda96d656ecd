"""`podium backup` and `podium restore`: database, artifacts and keys in one folder with hashes.

Called by the command line. PostgreSQL goes through its own `pg_dump` and `pg_restore`.
"""

import hashlib
import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url

from backend.auth import ADMIN_KEY_FILE
from backend.errors import Conflict, InvalidInput, Unavailable
from backend.launcher import hold_data_dir
from backend.migration import copy_sqlite
from backend.settings import Settings
from backend.store.db import Database
from backend.store.revision import current_revision

MANIFEST = "manifest.json"
SQLITE = "podium.sqlite3"
DUMP = "podium.dump"
ARTIFACTS = "artifacts"


def backup(settings: Settings, folder: Path) -> str:
    """Write a backup into a new folder; a running server goes on.

    The database is copied first: artifacts are written before the rows that name them, so each row
    finds its file. Raises Conflict if the folder exists.
    """
    if folder.exists():
        raise Conflict(f"{folder} exists already", advice="Name a folder that does not exist yet.")
    unfinished = folder.with_name(folder.name + ".unfinished")
    unfinished.mkdir(parents=True)
    if settings.is_embedded_database:
        copy_sqlite(_sqlite_path(settings), unfinished / SQLITE)
    else:
        _run(["pg_dump", "--format=custom", "--file", str(unfinished / DUMP), _libpq(settings)])
    artifacts = Path(settings.resolved_artifact_url)
    if settings.artifact_url is None and artifacts.is_dir():
        shutil.copytree(artifacts, unfinished / ARTIFACTS)
    key = settings.data_dir / ADMIN_KEY_FILE
    if key.exists():
        shutil.copy2(key, unfinished / ADMIN_KEY_FILE)
    files = {name: _sha256(unfinished / name) for name in _files(unfinished)}
    manifest = {
        "made_at": datetime.now(UTC).isoformat(),
        "revision": _revision(settings),
        "files": files,
    }
    (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    unfinished.rename(folder)
    return f"{len(files)} files are in {folder}."


def restore(settings: Settings, folder: Path) -> str:
    """Verify a backup by its hashes and put it where the settings say; nothing is overwritten.

    Raises InvalidInput for a damaged backup, Conflict if there is data already.
    """
    manifest = _verified_manifest(folder)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with hold_data_dir(settings.data_dir):
        if settings.is_embedded_database:
            target = _sqlite_path(settings)
            if target.exists():
                raise Conflict(f"{target} exists", advice="Restore into an empty data directory.")
            shutil.copy2(folder / SQLITE, target)
        else:
            command = ["pg_restore", "--exit-on-error", "--no-owner", "--dbname"]
            _run([*command, _libpq(settings), str(folder / DUMP)])
        if (folder / ARTIFACTS).is_dir():
            shutil.copytree(folder / ARTIFACTS, Path(settings.resolved_artifact_url))
        if (folder / ADMIN_KEY_FILE).exists():
            shutil.copy2(folder / ADMIN_KEY_FILE, settings.data_dir / ADMIN_KEY_FILE)
    return f"Restored {len(manifest['files'])} files at revision {manifest['revision']}."


def _verified_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{folder} holds no readable {MANIFEST}: {error}") from error
    for name, sha256 in manifest["files"].items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InvalidInput(f"the manifest names {name}, which lies outside the backup")
        if not path.is_file() or _sha256(path) != sha256:
            raise InvalidInput(f"{name} is missing or damaged", advice="Use another backup.")
    return manifest


def _files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sqlite_path(settings: Settings) -> Path:
    return Path(settings.sqlalchemy_url.removeprefix("sqlite:///"))


def _revision(settings: Settings) -> str | None:
    database = Database(settings.sqlalchemy_url)
    try:
        return current_revision(database)
    finally:
        database.close()


def _libpq(settings: Settings) -> str:
    url = make_url(settings.sqlalchemy_url).set(drivername="postgresql")
    return url.render_as_string(hide_password=False)


def _run(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed", advice="Install PostgreSQL's client.")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} failed: {done.stderr.strip()}")
