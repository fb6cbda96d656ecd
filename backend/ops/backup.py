"""`podium backup` and `podium restore`: database, artifacts, key and hashes of the audit log.

Called by the command line. PostgreSQL goes through its own `pg_dump` and `pg_restore`.
"""

import os
import shutil
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError
from sqlalchemy.engine import make_url

from backend import digest
from backend.artifacts import ARRIVING
from backend.auth import ADMIN_KEY_FILE
from backend.errors import Conflict, InvalidInput, Unavailable
from backend.machine.wall_clock import now
from backend.ops.launcher import hold_data_dir
from backend.ops.migration import (
    SQLITE_SUFFIXES,
    copy_sqlite,
    require_database,
    revision_of,
    sqlite_path,
)
from backend.plural import plural
from backend.settings import Settings
from backend.store.revision import is_known
from backend.traces.heads import FILE as HEADS

MANIFEST = "manifest.json"
SQLITE = "podium.sqlite3"
DUMP = "podium.dump"
ARTIFACTS = "artifacts"
# Files of the data directory that a backup has under the same names.
_BESIDE = (ADMIN_KEY_FILE, HEADS)


class _Manifest(BaseModel):
    """What a backup holds: the sha256 of each file by its path in the folder."""

    made_at: datetime
    revision: str | None
    files: dict[str, str]


def backup(settings: Settings, folder: Path) -> str:
    """Write a backup into a new folder, which appears whole or not at all; a server may go on.

    First the kept hashes of the audit log are copied, then the database, which has a line for each
    hash, then the artifacts, which are written before the rows that name them. Raises Conflict if
    the folder exists, InvalidInput if there is no database or an empty one, Unavailable if the
    backup cannot be written.
    """
    if folder.exists():
        raise Conflict(f"{folder} exists already", advice="Name a folder that does not exist yet.")
    require_database(settings)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    except OSError as error:
        raise Unavailable(
            f"the backup cannot be written: {error}",
            advice="Name a folder below one that this user may write to.",
        ) from error
    try:
        _copy_out(settings, unfinished)
        files = {name: digest.of_file(unfinished / name).hex() for name in _files(unfinished)}
        made = _Manifest(made_at=now(), revision=revision_of(settings), files=files)
        (unfinished / MANIFEST).write_text(made.model_dump_json(indent=1), encoding="utf-8")
        unfinished.rename(folder)
    except OSError as error:
        raise Unavailable(
            f"the backup cannot be written: {error}",
            advice=f"Free as much space in {folder.parent} as the data directory takes without "
            "its runs, or name a folder on another disk.",
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    said = f"Backed up {plural(len(files), 'file')} to {folder}."
    if settings.artifact_url is not None:
        said += (
            f" Models, answers and shared checkpoints are in {settings.artifact_url} and are not "
            "part of this backup: back them up there."
        )
    return said


def restore(settings: Settings, folder: Path) -> str:
    """Verify a backup by its hashes and put it where the settings say; nothing is overwritten.

    All of it or nothing. Raises InvalidInput for a damaged backup or one of a newer release,
    Conflict if there is data already, Unavailable if it cannot be written.
    """
    manifest = _verified_manifest(folder)
    if not is_known(manifest.revision):
        raise InvalidInput(
            f"the backup {folder} has schema revision {manifest.revision}, which this release does "
            "not know: a newer release made it",
            advice="Restore it with that release, or use a backup that was made before the "
            "upgrade.",
        )
    kept = folder / (SQLITE if settings.is_embedded_database else DUMP)
    if not kept.is_file():
        raise InvalidInput(
            f"the backup {folder} has no {kept.name}, which the database in PODIUM_DATABASE_URL "
            "needs",
            advice="The backup was made from the other kind of database. Leave "
            "PODIUM_DATABASE_URL unset for a SQLite backup, or set it to an empty PostgreSQL "
            "database for a PostgreSQL backup.",
        )
    if settings.artifact_url is not None and (folder / ARTIFACTS).is_dir():
        raise InvalidInput(
            "the backup holds artifacts, but PODIUM_ARTIFACT_URL is set to "
            f"{settings.artifact_url}",
            advice="Unset PODIUM_ARTIFACT_URL and restore. Then copy the restored folder "
            "`artifacts` to that address and set PODIUM_ARTIFACT_URL again.",
        )
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with hold_data_dir(settings.data_dir):
        _refuse_to_overwrite(settings)
        try:
            _copy_in(settings, folder, kept)
        except OSError as error:
            raise Unavailable(
                f"the backup cannot be restored: {error}",
                advice=f"Nothing was restored. Free space on the disk of {settings.data_dir}, or "
                "set PODIUM_DATA_DIR to a folder that this user may write to, then restore again.",
            ) from error
    return f"Restored {plural(len(manifest.files), 'file')} at revision {manifest.revision}."


def _copy_out(settings: Settings, target: Path) -> None:
    heads = settings.data_dir / HEADS
    if heads.exists():
        # A server may be adding a line.
        whole, end, _ = heads.read_bytes().rpartition(b"\n")
        (target / HEADS).write_bytes(whole + end)
    if settings.is_embedded_database:
        copy_sqlite(sqlite_path(settings), target / SQLITE)
    else:
        _run("pg_dump", ["--format=custom", "--file", str(target / DUMP)], settings)
    if settings.artifact_url is None and _artifacts(settings).is_dir():
        # What is still arriving is named by no row, and may be gone the next moment.
        arriving = shutil.ignore_patterns(f"{ARRIVING}*")
        shutil.copytree(_artifacts(settings), target / ARTIFACTS, ignore=arriving)
    key = settings.data_dir / ADMIN_KEY_FILE
    if key.exists():
        shutil.copy2(key, target / ADMIN_KEY_FILE)


def _copy_in(settings: Settings, folder: Path, kept: Path) -> None:
    artifacts = _artifacts(settings)
    try:
        if (folder / ARTIFACTS).is_dir():
            shutil.copytree(folder / ARTIFACTS, artifacts, dirs_exist_ok=True)
        for name in _BESIDE:
            if (folder / name).exists():
                shutil.copy2(folder / name, settings.data_dir / name)
        # The database last: until it is there, nothing refers to the files.
        _restore_database(settings, kept)
    except BaseException:
        # Nothing was here before, so that a second try finds an empty place again.
        if (folder / ARTIFACTS).is_dir():
            shutil.rmtree(artifacts, ignore_errors=True)
        for name in _BESIDE:
            (settings.data_dir / name).unlink(missing_ok=True)
        raise


def _refuse_to_overwrite(settings: Settings) -> None:
    advice = "Restore into an empty data directory and an empty database."
    # Artifacts that lie elsewhere are not touched.
    own = [_artifacts(settings)] if settings.artifact_url is None else []
    for path in (*own, *(settings.data_dir / name for name in _BESIDE)):
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise Conflict(f"{path} exists already", advice=advice)
    if settings.is_embedded_database:
        for suffix in SQLITE_SUFFIXES:
            left = Path(f"{sqlite_path(settings)}{suffix}")
            if left.exists():
                raise Conflict(f"{left} exists already", advice=advice)
    elif revision_of(settings) is not None:
        raise Conflict("the database has tables already", advice=advice)


def _restore_database(settings: Settings, kept: Path) -> None:
    if settings.is_embedded_database:
        unfinished = sqlite_path(settings).with_suffix(".restoring")
        try:
            shutil.copyfile(kept, unfinished)
            unfinished.rename(sqlite_path(settings))
        finally:
            unfinished.unlink(missing_ok=True)
    else:
        _run("pg_restore", ["--single-transaction", "--no-owner", str(kept)], settings)


def _verified_manifest(folder: Path) -> _Manifest:
    try:
        manifest = _Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise InvalidInput(
            f"{folder}/{MANIFEST} is missing or is not a valid manifest",
            advice="Use another backup.",
        ) from error
    there = set(_files(folder)) - {MANIFEST}
    for name in sorted(there | manifest.files.keys()):
        if name not in manifest.files:
            raise InvalidInput(
                f"the backup folder has the file {name}, which its manifest does not list",
                advice="Remove the file from the backup folder, then restore again.",
            )
        # What the manifest names and the folder has not, links and other folders too, is missing.
        if name not in there or digest.of_file(folder / name).hex() != manifest.files[name]:
            raise InvalidInput(
                f"{name} is missing, or its sha256 is not the one in the manifest",
                advice="Use another backup.",
            )
    return manifest


def _files(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(folder)) for path in found)


def _artifacts(settings: Settings) -> Path:
    return Path(settings.resolved_artifact_url)


def _run(program: str, arguments: list[str], settings: Settings) -> None:
    """Run one of PostgreSQL's programs on the database of the settings."""
    if shutil.which(program) is None:
        raise Unavailable(
            f"{program} was not found on PATH",
            advice="Install the PostgreSQL client of the server's version, or a newer one.",
        )
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
        raise Unavailable(f"{program} failed: {done.stderr.strip()}", advice=_advice(done.stderr))


def _advice(said: str) -> str | None:
    """What to do about what pg_dump or pg_restore said, None if that says it all."""
    if "version mismatch" in said or "unsupported version" in said:
        return (
            "Install the PostgreSQL client of the server's version, or a newer one, and put it on "
            "PATH."
        )
    return None
