"""Bringing the database to this code's revision: the only thing that changes the schema.

Called by `podium migrate`, by `podium up` on the embedded database, and by `backup` for its copy.
An SQLite file is copied before it is migrated. An upgrade is one transaction: what interrupts it
leaves the database as it was.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from backend.errors import InvalidInput, Unavailable
from backend.settings import Settings
from backend.store.db import Database
from backend.store.revision import current_revision, head_revision, require_known

# A database and what a killed process leaves beside it: SQLite reads that into the next of its
# name.
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
_DISK_ERRORS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_READONLY: errno.EROFS,
}
# More than a database without rows.
_LEAST_BYTES = 10_000_000
ROOT = Path(__file__).resolve().parents[2]


def migrate(settings: Settings) -> str:
    """Run what is missing and return the revision reached; the embedded file is copied first.

    Raises Unavailable if a newer release has migrated the database, or a disk is full.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    current = revision_of(settings)
    head = head_revision()
    require_known(current)
    if current == head:
        return head
    try:
        if current is not None and settings.is_embedded_database:
            source = sqlite_path(settings)
            _keep_copy(source, source.with_suffix(f".before-{head}.sqlite3"))
        _upgrade(settings)
    except OSError as error:
        if not settings.is_embedded_database:
            raise
        raise _not_migrated(settings, error) from error
    return head


def _upgrade(settings: Settings) -> None:
    # Most that ask for the revision find the newest, and do without.
    from alembic import command
    from alembic.config import Config

    config = Config(str(ROOT / "alembic.ini"))
    config.set_main_option("sqlalchemy.url", settings.sqlalchemy_url.replace("%", "%%"))
    with _as_os_error(settings.data_dir):
        command.upgrade(config, "head")


def _not_migrated(settings: Settings, error: OSError) -> Unavailable:
    size_bytes = 0 if is_missing(settings) else sqlite_path(settings).stat().st_size
    # The copy, and what the migrations write before they are committed.
    needed = max(2 * size_bytes, _LEAST_BYTES)
    return Unavailable(
        f"the database cannot be migrated: {error}",
        advice=f"Nothing was changed. Free at least {needed / 1e6:.0f} MB on the disk of "
        f"{settings.data_dir}, or make it writable, then start again.",
    )


def is_missing(settings: Settings) -> bool:
    """Whether the embedded database is yet to be created; connecting would create an empty file."""
    return settings.is_embedded_database and not sqlite_path(settings).is_file()


def sqlite_path(settings: Settings) -> Path:
    """The file of the embedded database."""
    return Path(make_url(settings.sqlalchemy_url).database or "")


def require_database(settings: Settings) -> str:
    """The revision of a database with Podium's tables; nothing is created.

    Raises InvalidInput if there is no database or an empty one, Unavailable if it does not answer.
    """
    where = str(sqlite_path(settings)) if settings.is_embedded_database else "PODIUM_DATABASE_URL"
    if is_missing(settings):
        raise InvalidInput(
            f"there is no database at {where}",
            advice="Run `podium up` first, or set PODIUM_DATA_DIR to the data directory that the "
            "server uses.",
        )
    revision = revision_of(settings)
    if revision is None:
        raise InvalidInput(
            f"the database at {where} is empty: it has no tables of Podium",
            advice="Run `podium migrate` first, or correct PODIUM_DATA_DIR or PODIUM_DATABASE_URL.",
        )
    return revision


def revision_of(settings: Settings) -> str | None:
    """The revision of the database, None for an empty one. Raises Unavailable."""
    database = Database(settings.sqlalchemy_url)
    try:
        return current_revision(database)
    finally:
        database.close()


def _keep_copy(source: Path, target: Path) -> None:
    """Copy a database; `target` has the old copy or the whole new one, whatever interrupts this."""
    unfinished = target.with_suffix(".part")
    try:
        # What a killed copy has left beside it would be read into this one.
        _remove(unfinished)
        copy_sqlite(source, unfinished)
        unfinished.replace(target)
    finally:
        _remove(unfinished)


def _remove(database: Path) -> None:
    for suffix in SQLITE_SUFFIXES:
        Path(f"{database}{suffix}").unlink(missing_ok=True)


def copy_sqlite(source: Path, target: Path) -> None:
    """A consistent copy of a database that may be in use. Raises OSError of whichever fails."""
    with _as_os_error(source), closing(sqlite3.connect(source)) as old:
        # Read before: what keeps it from being read is not said of the target.
        old.execute("PRAGMA schema_version").fetchone()
        with _as_os_error(target), closing(sqlite3.connect(target)) as new:
            old.backup(new)


@contextmanager
def _as_os_error(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a disk into the error of any other file."""
    try:
        yield
    except (sqlite3.Error, OperationalError) as error:
        said = error.orig if isinstance(error, OperationalError) else error
        # The upper bytes tell which operation failed.
        number = _DISK_ERRORS.get(getattr(said, "sqlite_errorcode", 0) & 0xFF)
        if number is None:
            raise
        raise OSError(number, str(said), str(path)) from error
