"""Which revision the database has and which one this code wants.

Called when API and worker start; it only compares, `podium migrate` alone changes the schema.
"""

import re
from functools import cache
from pathlib import Path

from sqlalchemy import inspect, text

from backend.errors import Unavailable
from backend.store.db import AWAY, Database

VERSIONS = Path(__file__).resolve().parents[2] / "alembic" / "versions"
# Read as text: importing Alembic would cost more than the rest of the start.
_ASSIGNMENT = re.compile(
    r"^(revision|down_revision)(?:\s*:[^=]+)?\s*=\s*[\"']([\w-]+)[\"']", re.MULTILINE
)


def head_revision(folder: Path = VERSIONS) -> str:
    """The newest revision in the migrations folder.

    Raises Unavailable if there is not exactly one.
    """
    revisions, parents = _revisions_and_parents(folder)
    heads = revisions - parents
    if len(heads) != 1:
        raise Unavailable(
            f"found {len(heads)} newest migrations in {folder}; expected one",
            advice="Install Podium with its alembic/ folder.",
        )
    (head,) = heads
    return head


def is_known(revision: str | None, folder: Path = VERSIONS) -> bool:
    """Whether this release can bring a database of this revision to its own."""
    return revision is None or revision in _revisions_and_parents(folder)[0]


def require_known(revision: str | None, folder: Path = VERSIONS) -> None:
    """Raise Unavailable for a database that a newer release has migrated."""
    if not is_known(revision, folder):
        raise Unavailable(
            f"the database has schema revision {revision}, which this release does not know: a "
            "newer release has migrated it",
            advice="Start that release again, or restore a backup that was made before the "
            "upgrade.",
        )


def current_revision(database: Database) -> str | None:
    """The revision that the database says it has, None for an empty one.

    Raises Unavailable if the database does not answer.
    """
    try:
        with database.engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            found = connection.execute(text("SELECT version_num FROM alembic_version"))
            return found.scalar_one_or_none()
    except AWAY as error:
        raise Unavailable(
            "the database does not answer",
            advice="Check PODIUM_DATABASE_URL and that the database runs.",
        ) from error


def require_current(database: Database, folder: Path = VERSIONS) -> None:
    """Raise Unavailable, saying what to do, unless the database fits this code."""
    head, current = head_revision(folder), current_revision(database)
    if head != current:
        require_known(current, folder)
        raise Unavailable(
            f"the database has schema revision {current or 'none'}, but this release needs {head}",
            advice="Run `podium migrate` and start again.",
        )


@cache
def _revisions_and_parents(folder: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Every revision in the migrations folder, and those that another one follows.

    Read once: files that an update brings later are not those of the code that runs.
    """
    revisions: set[str] = set()
    parents: set[str] = set()
    for file in folder.rglob("*.py"):
        for name, value in _ASSIGNMENT.findall(file.read_text(encoding="utf-8")):
            (revisions if name == "revision" else parents).add(value)
    return frozenset(revisions), frozenset(parents)
