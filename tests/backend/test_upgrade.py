"""An upgrade on SQLite: whole or not at all, with a copy from before; and the way back."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.store.revision import head_revision
from tests.backend.commanded_site import Site, migrated_site, sqlite_site
from tests.conftest import migrate_back

OLD = "0030"
# What no release of today knows.
NEWER = "9999"


@pytest.fixture
def site(tmp_path: Path, sqlite_template: Path) -> Site:
    """A migrated site on SQLite."""
    return migrated_site(tmp_path / "data", sqlite_template)


@pytest.fixture
def old_site(site: Site) -> Site:
    """A site of a release with an older schema."""
    migrate_back(site.url, OLD)
    return site


def database_of(site: Site) -> Path:
    return site.data_dir / "podium.sqlite3"


def copy_of(site: Site) -> Path:
    return database_of(site).with_suffix(f".before-{head_revision()}.sqlite3")


def execute(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


def revision_in(path: Path) -> str:
    return str(execute(path, "SELECT version_num FROM alembic_version")[0][0])


def say_revision(site: Site, revision: str) -> None:
    execute(database_of(site), f"UPDATE alembic_version SET version_num = '{revision}'")


def test_an_older_database_is_copied_before_it_is_migrated(old_site: Site) -> None:
    code, said = old_site.podium("migrate")

    assert (code, said) == (0, f"The schema is at revision {head_revision()}.\n")
    assert revision_in(copy_of(old_site)) == OLD
    assert revision_in(database_of(old_site)) == head_revision()


def test_an_upgrade_that_is_interrupted_changes_nothing_and_keeps_its_copy(old_site: Site) -> None:
    # Migration 0035 adds this column, so that it fails after four others have run.
    execute(database_of(old_site), "ALTER TABLE projects ADD COLUMN revision INTEGER")
    schema = "SELECT name, sql FROM sqlite_master ORDER BY name"
    before = execute(database_of(old_site), schema)

    codes = [old_site.podium("migrate")[0] for _ in range(2)]

    assert 0 not in codes
    assert revision_in(copy_of(old_site)) == OLD
    assert revision_in(database_of(old_site)) == OLD
    assert execute(database_of(old_site), schema) == before

    execute(database_of(old_site), "ALTER TABLE projects DROP COLUMN revision")
    assert old_site.podium("migrate")[0] == 0
    assert revision_in(copy_of(old_site)) == OLD


def test_a_copy_that_was_interrupted_is_made_again_and_never_taken_for_whole(
    old_site: Site,
) -> None:
    unfinished = copy_of(old_site).with_suffix(".part")
    unfinished.write_bytes(b"half of a database")
    Path(f"{unfinished}-journal").write_bytes(b"half of a journal")

    assert old_site.podium("migrate")[0] == 0

    assert revision_in(copy_of(old_site)) == OLD
    assert [path.name for path in old_site.data_dir.glob("*.part*")] == []


@pytest.mark.parametrize("verb", ["migrate", "up", "sign-in", "doctor"])
def test_an_older_release_says_that_a_newer_one_has_migrated_the_database(
    site: Site, verb: str
) -> None:
    say_revision(site, NEWER)

    code, said = Site(site.data_dir, site.url, {"PODIUM_PORT": "0"}).podium(verb)

    assert code == 1
    assert f"the database has schema revision {NEWER}, which this release does not know" in said
    assert "Start that release again, or restore a backup that was made before the upgrade." in said
    assert "podium migrate" not in said
    assert "Traceback" not in said
    assert not copy_of(site).exists()


def test_a_backup_of_a_newer_release_is_not_restored(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    assert site.podium("backup", str(folder))[0] == 0
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"revision": NEWER}))
    other = sqlite_site(tmp_path / "other")

    code, said = other.podium("restore", str(folder))

    assert code == 1
    assert f"the backup {folder} has schema revision {NEWER}, which this release does" in said
    assert not other.data_dir.exists()
