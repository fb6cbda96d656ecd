"""`podium backup`, `restore` and `migrate` that meet a full disk or a signal: nothing is left."""

import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests import processes
from tests.backend.commanded_site import Site, migrated_site
from tests.conftest import migrate_back

# The largest file in blocks of 512 bytes; the database is larger.
ROOM = 2000
PADDING_BYTES = 3_000_000
SLOW = "touch {started}; exec sleep 1000"
QUICK = 'for last; do :; done; echo a dump > "$last"'


@pytest.fixture
def site(tmp_path: Path, sqlite_template: Path) -> Site:
    """A site on SQLite with some data."""
    found = migrated_site(tmp_path / "data", sqlite_template)
    with closing(sqlite3.connect(found.data_dir / "podium.sqlite3")) as connection, connection:
        connection.execute(f"CREATE TABLE padding AS SELECT randomblob({PADDING_BYTES}) AS bytes")
    return found


def with_little_room(site: Site, *arguments: str) -> tuple[int, str]:
    """Exit code and everything said where a large file cannot be written, as on a full disk."""
    limited = f'ulimit -f {ROOM} && exec podium "$@"'
    env = processes.environment(site.data_dir, **site.settings)
    done = processes.run(["sh", "-c", limited, "sh", *arguments], env)
    return done.returncode, done.stdout + done.stderr


def test_a_backup_onto_a_full_disk_says_so_and_leaves_nothing(site: Site, tmp_path: Path) -> None:
    parent = tmp_path / "backups"

    code, said = with_little_room(site, "backup", str(parent / "monday"))

    assert code == 1
    assert said.startswith("podium: the backup cannot be written: "), said
    assert "Traceback" not in said
    assert f"Free as much space in {parent}" in said
    assert list(parent.iterdir()) == []


def test_an_upgrade_on_a_full_disk_says_so_and_changes_nothing(site: Site) -> None:
    migrate_back(site.url, "0030")
    before = sorted(path.name for path in site.data_dir.iterdir())

    code, said = with_little_room(site, "migrate")

    assert code == 1
    assert said.startswith("podium: the database cannot be migrated: "), said
    assert "Nothing was changed. Free at least " in said
    assert "Traceback" not in said
    assert sorted(path.name for path in site.data_dir.iterdir()) == before
    assert site.podium("migrate")[0] == 0


@pytest.fixture
def on_postgres(create_postgres_database: Callable[[], str], tmp_path: Path) -> Site:
    """A site whose backups are made by PostgreSQL's programs."""
    url = create_postgres_database()
    return Site(tmp_path / "data", url, {"PODIUM_DATABASE_URL": url})


def replaced(folder: Path, program: str, script: str) -> str:
    """A PATH on which a program is this script."""
    stub = folder / "bin" / program
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(f"#!/bin/sh\n{script.format(started=folder / 'started')}\n")
    stub.chmod(0o755)
    return str(stub.parent)


def end_in_the_middle(site: Site, path: str, arguments: list[str], number: signal.Signals) -> int:
    """Send a signal to a command while its PostgreSQL program works; the exit code."""
    env = processes.environment(site.data_dir, **site.settings)
    env["PATH"] = f"{path}:{env['PATH']}"
    started = Path(path).parent / "started"
    log = Path(path).parent / "command.log"
    with processes.running(["podium", *arguments], env, log) as process:
        processes.wait_until(started.exists, "it works", process=process, log=log)
        process.send_signal(number)
        return process.wait(processes.PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_backup_that_is_ended_leaves_nothing(
    on_postgres: Site, tmp_path: Path, number: signal.Signals
) -> None:
    on_postgres.podium("migrate")
    path = replaced(tmp_path, "pg_dump", SLOW)
    parent = tmp_path / "backups"

    code = end_in_the_middle(on_postgres, path, ["backup", str(parent / "monday")], number)

    assert code == 130
    assert list(parent.iterdir()) == []


def test_a_restore_that_is_ended_leaves_an_empty_place(
    create_postgres_database: Callable[[], str], on_postgres: Site, tmp_path: Path
) -> None:
    on_postgres.podium("migrate")
    (on_postgres.data_dir / "admin.key").write_text("a key")
    env = processes.environment(on_postgres.data_dir, **on_postgres.settings)
    env["PATH"] = f"{replaced(tmp_path, 'pg_dump', QUICK)}:{env['PATH']}"
    assert processes.run(["podium", "backup", str(tmp_path / "backup")], env).returncode == 0
    url = create_postgres_database()
    other = Site(tmp_path / "other", url, {"PODIUM_DATABASE_URL": url})
    path = replaced(tmp_path, "pg_restore", SLOW)

    code = end_in_the_middle(other, path, ["restore", str(tmp_path / "backup")], signal.SIGTERM)

    assert code == 130
    assert not (other.data_dir / "admin.key").exists()
