"""`podium backup` and `podium restore`: database, artifacts and keys in one folder with hashes.

Called by the command line. PostgreSQL goes through its own `pg_dump` and `pg_restore`.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
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
    """Write a backup into a new folder, which appears whole or not at all; a server may go on.

    The database is copied first: artifacts are written before the rows that name them, so each row
    finds its file. Raises Conflict if the folder exists.
    """
    if folder.exists():
        raise Conflict(f"{folder} exists already", advice="Name a folder that does not exist yet.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        _copy_out(settings, unfinished)
        files = {name: _sha256(unfinished / name) for name in _files(unfinished)}
        manifest = {
            "made_at": datetime.now(UTC).isoformat(),
            "revision": _revision(settings),
            "files": files,
        }
        (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return f"{len(files)} files are in {folder}."


def restore(settings: Settings, folder: Path) -> str:
    """Verify a backup by its hashes and put it where the settings say; nothing is overwritten.

    Raises InvalidInput for a damaged backup, Conflict if there is data already.
    """
    manifest = _verified_manifest(folder)
    kept = folder / (SQLITE if settings.is_embedded_database else DUMP)
    if not kept.is_file():
        raise InvalidInput(
            f"the backup has no {kept.name}",
            advice="It was made from the other kind of database; set PODIUM_DATABASE_URL to fit.",
        )
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with hold_data_dir(settings.data_dir):
        _refuse_to_overwrite(settings)
        # The database last: until it is there, nothing refers to the files.
        if (folder / ARTIFACTS).is_dir():
            shutil.copytree(folder / ARTIFACTS, _artifacts(settings), dirs_exist_ok=True)
        if (folder / ADMIN_KEY_FILE).exists():
            shutil.copy2(folder / ADMIN_KEY_FILE, settings.data_dir / ADMIN_KEY_FILE)
        _restore_database(settings, kept)
    return f"Restored {len(manifest['files'])} files at revision {manifest['revision']}."


def _copy_out(settings: Settings, target: Path) -> None:
    if settings.is_embedded_database:
        if not _sqlite_path(settings).is_file():
            raise InvalidInput(
                f"there is no database at {_sqlite_path(settings)}",
                advice="Set PODIUM_DATA_DIR to the data directory that the server uses.",
            )
        copy_sqlite(_sqlite_path(settings), target / SQLITE)
    else:
        _run("pg_dump", ["--format=custom", "--file", str(target / DUMP)], settings)
    if settings.artifact_url is None and _artifacts(settings).is_dir():
        shutil.copytree(_artifacts(settings), target / ARTIFACTS)
    key = settings.data_dir / ADMIN_KEY_FILE
    if key.exists():
        shutil.copy2(key, target / ADMIN_KEY_FILE)


def _refuse_to_overwrite(settings: Settings) -> None:
    advice = "Restore into an empty data directory and an empty database."
    for path in (_artifacts(settings), settings.data_dir / ADMIN_KEY_FILE):
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise Conflict(f"{path} is there already", advice=advice)
    if settings.is_embedded_database and _sqlite_path(settings).exists():
        raise Conflict(f"{_sqlite_path(settings)} is there already", advice=advice)
    if not settings.is_embedded_database and _revision(settings) is not None:
        raise Conflict("the database has tables already", advice=advice)


def _restore_database(settings: Settings, kept: Path) -> None:
    if settings.is_embedded_database:
        shutil.copy2(kept, _sqlite_path(settings))
    else:
        _run("pg_restore", ["--single-transaction", "--no-owner", str(kept)], settings)


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


def _artifacts(settings: Settings) -> Path:
    return Path(settings.resolved_artifact_url)


def _run(program: str, arguments: list[str], settings: Settings) -> None:
    """Run one of PostgreSQL's programs on the database of the settings."""
    if shutil.which(program) is None:
        raise Unavailable(f"{program} is not installed", advice="Install PostgreSQL's client.")
    url = make_url(settings.sqlalchemy_url).set(drivername="postgresql")
    # A password on the command line could be read by every user of the machine.
    bare = url.set(password=None).render_as_string(hide_password=False)
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    done = subprocess.run(
        [program, "--dbname", bare, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode != 0:
        raise Unavailable(f"{program} failed: {done.stderr.strip()}")
