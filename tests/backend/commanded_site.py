"""A data directory and a database, as the tests of the command line use them."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backend.schemas.projects.project import ProjectBody
from backend.store.data import projects
from backend.store.db import Database
from backend.store.tables.data import Project
from tests import processes
from tests.servers import postgres_programs
from tests.warm.process import WarmProcess

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _podium(arguments: Sequence[str]) -> int:
    from backend.cli import main

    sys.argv = [str(processes.BIN / "podium"), *arguments]
    return main()


@dataclass(frozen=True)
class Site:
    """A data directory and a database, and the command line over them."""

    data_dir: Path
    url: str
    settings: dict[str, str]

    def podium(self, *arguments: str, stdin: str = "") -> tuple[int, str]:
        """Exit code and everything said.

        The program begins with its libraries loaded; see `podium_by_command`.
        """
        with tempfile.NamedTemporaryFile() as said:
            log = Path(said.name)
            program = WarmProcess(_podium, arguments, self._environment(), log, stdin=stdin)
            with processes.ending(program):
                processes.wait_until(
                    lambda: program.poll() is not None, f"podium {arguments} has ended", log=log
                )
            return program.wait(), log.read_text()

    def podium_by_command(self, *arguments: str, stdin: str = "") -> tuple[int, str]:
        """The same as its users start it; each verb once, and whoever brings modules of its own."""
        done = processes.run(["podium", *arguments], self._environment(), stdin=stdin)
        return done.returncode, done.stdout + done.stderr

    def _environment(self) -> dict[str, str]:
        env = processes.environment(self.data_dir, **self.settings)
        return env | {"PATH": f"{postgres_programs()}:{env['PATH']}"}

    def add_project(self, name: str) -> str:
        """A row to find again."""
        database = Database(self.url)
        with database.write() as session:
            found = projects.create(session, ProjectBody(name=name), at=NOW)
        database.close()
        return found.id

    def project_names(self) -> list[str]:
        """The names of all projects."""
        database = Database(self.url)
        with database.read() as session:
            names = [project.name for project in session.query(Project)]
        database.close()
        return names


def sqlite_site(data_dir: Path) -> Site:
    return Site(data_dir, f"sqlite:///{data_dir / 'podium.sqlite3'}", {})


def migrated_site(data_dir: Path, template: Path) -> Site:
    """A site on SQLite with a copy of a migrated database."""
    found = sqlite_site(data_dir)
    found.data_dir.mkdir()
    shutil.copyfile(template, found.data_dir / "podium.sqlite3")
    return found
