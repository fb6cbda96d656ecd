"""Imports without a server: a project, files, and the work function called directly."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backend.domain.records.formats import read_row
from backend.jobs.import_file import ImportArguments, import_file
from backend.jobs.withdrawal import settle
from backend.schemas.data import ImportAnswer, ImportKind
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.data import imports, projects, prompts
from backend.store.data.import_rows import IMPORT_OUTCOME, ImportOutcome, NewImport
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.paging import Page
from backend.store.people import users

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@dataclass
class Order:
    """What an import is given to work with; `on_progress` sees how far it is."""

    database: Database
    settings: Settings
    arguments: dict[str, Any]
    on_progress: Callable[[int, int | None], None] = field(default=lambda done, total: None)
    job_id: str = "job_1"

    def progress(self, done: int, total: int | None) -> None:
        """Called by the work."""
        self.on_progress(done, total)

    def check(self) -> None:
        """Nobody cancels; `on_progress` may raise instead."""


class Place:
    """A database with a project, and a folder for uploads."""

    def __init__(
        self, database: Database, folder: Path, *, user: str = "", project: str = ""
    ) -> None:
        """`user` and `project` are made unless they are given."""
        self.database, self.folder = database, folder / "uploads"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(data_dir=folder, database_url=database.url, min_free_gb=0)
        with database.write() as session:
            self.user = user or users.create(session, name="a", role=Role.ADMIN, at=AT).id
        self.project = project or self.new_project()

    def new_project(self) -> str:
        """Another project."""
        with self.database.write() as session:
            return projects.create(session, ProjectBody(name="P"), at=AT).id

    def order(self, content: bytes, kind: str = "prompts", **more: Any) -> Order:
        """An upload on disk and the order to import it."""
        path = self.folder / new_id("file")
        path.write_bytes(content)
        on_progress = more.pop("on_progress", lambda done, total: None)
        arguments = {
            "import_id": new_id("import"),
            "path": str(path),
            "content_type": "",
            "project_id": self.project,
            "user_id": self.user,
            "kind": kind,
            "format": "auto",
            "strict": False,
        }
        return Order(self.database, self.settings, arguments | more, on_progress)

    def take(self, content: bytes, kind: str = "prompts", **more: Any) -> ImportAnswer:
        """Import a file here and now."""
        return self.do(self.order(content, kind, **more))

    def do(self, order: Order) -> ImportAnswer:
        """What the route and its child do."""
        outcome = IMPORT_OUTCOME.validate_python(import_file(order))
        new = ImportArguments.model_validate(order.arguments).new_import()
        with self.database.write() as session:
            answer = imports.complete(session, new, outcome)
        settle(self.database, new.id)
        return answer

    def seen(self, project: str | None = None) -> list[str]:
        """The prompts that everybody sees, oldest first."""
        with self.database.read() as session:
            page = Page(limit=500, oldest_first=True)
            found = prompts.listing(session, project or self.project, page).items
        return [one.messages[0].content for one in found]

    def rows(self) -> dict[str, int]:
        """How many rows each table has that an import may fill, seen or not."""
        names = ("judgments", "assignments", "comparisons", "responses", "solutions",
                 "demonstrations", "prompts", "users", "memberships", "imports")  # fmt: skip
        with self.database.engine.connect() as connection:
            return {
                name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
                for name in names
            }


def texts(*words: object) -> bytes:
    """A file of prompts."""
    return b"".join(json.dumps({"prompt": str(word)}).encode() + b"\n" for word in words)


class Stop(Exception):
    """What a test stops an import with."""


def stop_after(count: int) -> Callable[[int, int | None], None]:
    """A progress that stops the import when so many records are written."""

    def look(done: int, total: int | None) -> None:
        if total is not None and done >= count:
            raise Stop

    return look


def begin(place: Place, kind: ImportKind, *rows: object, project: str | None = None) -> NewImport:
    """An import that has begun and written some rows, and goes no further."""
    new = NewImport(new_id("import"), project or place.project, place.user, kind, "auto")
    with place.database.write() as session:
        assert imports.begin(session, new, at=AT)
    keep(place, new, *rows)
    return new


def keep(place: Place, new: NewImport, *rows: object) -> ImportOutcome:
    """A batch of an import."""
    records = [(line, read_row(new.kind, "auto", row)) for line, row in enumerate(rows, start=1)]
    with place.database.write() as session:
        return imports.keep(session, new, records, at=AT)
