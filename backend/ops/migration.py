"""Bringing the database to this code's revision: the only thing that changes the schema.

Called by `podium migrate`, by `podium up` on the embedded database, and by `backup` for its copy.
An SQLite file is copied before it is migrated.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config

from backend.settings import Settings
from backend.store.db import Database
from backend.store.revision import current_revision, head_revision

ROOT = Path(__file__).resolve().parents[2]


def migrate(settings: Settings) -> str:
    """Run what is missing and return the revision reached; the embedded file is copied first."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    database = Database(settings.sqlalchemy_url)
    current = current_revision(database)
    database.close()
    head = head_revision()
    if current == head:
        return head
    if current is not None and settings.is_embedded_database:
        source = Path(settings.sqlalchemy_url.removeprefix("sqlite:///"))
        copy_sqlite(source, source.with_suffix(f".before-{head}.sqlite3"))
    config = Config(str(ROOT / "alembic.ini"))
    config.set_main_option("sqlalchemy.url", settings.sqlalchemy_url.replace("%", "%%"))
    command.upgrade(config, "head")
    return head


def copy_sqlite(source: Path, target: Path) -> None:
    """A consistent copy of a database that may be in use."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
