"""An installation with the files of runs and models, as the tests of `podium prune` lay it out."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

from backend.artifacts import ArtifactStore
from backend.ops.prune import Prune
from backend.settings import Settings
from backend.store.db import Database
from backend.store.tables.data import Project
from backend.store.tables.models import Model
from backend.store.tables.people import User
from backend.store.tables.runs import Checkpoint, Run
from tests.backend.runs.conftest import AT
from worker.run_directory.layout import RunDirectory

# Every run of such a site has checkpoints of these.
STEPS = (1, 2, 3)


@dataclass
class Site:
    """An installation with files, in a folder or with a bucket."""

    settings: Settings
    database: Database
    store: ArtifactStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = ArtifactStore(self.settings.resolved_artifact_url)
        with self.database.write() as session:
            session.add(User(id="user_seed", created_at=AT, name="seed", role="admin"))
            session.add(Project(id="project_seed", created_at=AT, name="seed"))

    def model(self, name: str, *, archived: bool = True, parent: str | None = None) -> str:
        """A model with files in the store; its key lies under a run of its name."""
        key = f"runs/{name}/model-1"
        with self.database.write() as session:
            made = Model(id=name, created_at=AT, name=name, kind="causal_lm", parent_id=parent)
            made.source, made.facts = {"artifact": key}, {}
            made.archived_at = AT if archived else None
            session.add(made)
        self.put(key)
        return name

    def run(self, name: str, *, state: str, archived: bool = True, **given: Any) -> str:
        """A run with a run directory and checkpoints of three steps, of which one has files."""
        pinned, shared = given.pop("pinned", set()), given.pop("shared", set())
        with self.database.write() as session:
            made = Run(id=name, created_at=AT, project_id="project_seed", user_id="user_seed")
            made.name, made.method, made.schema_version, made.tags = name, "sft", 1, []
            made.config, made.environment, made.summary = given.pop("config", {}), {}, {}
            made.state, made.archived_at = state, AT if archived else None
            for column, value in given.items():
                setattr(made, column, value)
            session.add(made)
            session.flush()
            for step in STEPS:
                row = Checkpoint(run_id=name, step=step, attempt=1, path="x", created_at=AT)
                row.is_pinned = step in pinned
                row.artifact = f"runs/{name}/checkpoint-1-{step}" if step in shared else None
                session.add(row)
        directory = self.directory(name)
        for step in STEPS:
            directory.checkpoint(step).mkdir(parents=True)
            (directory.checkpoint(step) / "state.json").write_text(str(step))
        (directory.path / "events.jsonl").write_text("{}\n")
        (directory.path / "lock").touch()
        for step in shared:
            self.put(f"runs/{name}/checkpoint-1-{step}")
        return name

    def directory(self, run_id: str) -> RunDirectory:
        return RunDirectory(self.settings.runs_dir, run_id)

    def put(self, key: str) -> None:
        folder = self.settings.data_dir / "upload"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.safetensors").write_bytes(b"x" * 1000)
        self.store.put_folder(folder, key)

    def prune(self, *, meanwhile: Callable[[], object] = lambda: None) -> str:
        """Plan, let something happen, delete."""
        prune = Prune(self.settings)
        plan = prune.plan()
        meanwhile()
        said = plan.carry_out()
        prune.close()
        return said

    def age(self, by: timedelta) -> None:
        """Whatever lies in the store was put there so long ago, and a minute more."""
        if self.settings.artifact_url is None:
            for path in (self.settings.data_dir / "artifacts").glob("runs/*/*"):
                then = time.time() - by.total_seconds() - 60
                os.utime(path, (then, then))
            return
        for entry in self.store._remote().store.values():
            entry.modified -= by

    def row(self, table: type[Any], key: object) -> Any:
        with self.database.read() as session:
            return session.query(table).filter_by(id=key).one()

    def listed(self, run_id: str) -> list[int]:
        with self.database.read() as session:
            rows = session.query(Checkpoint).filter_by(run_id=run_id).order_by(Checkpoint.step)
            return [row.step for row in rows]


def open_site(folder: Path, database_url: str, *, is_bucket: bool) -> Site:
    """An empty installation on a migrated database."""
    url = f"memory://{folder.parent.name}-{folder.name}" if is_bucket else None
    made = Settings(data_dir=folder / "data", database_url=database_url)
    made = made.model_copy(update={"artifact_url": url})
    return Site(made, Database(made.sqlalchemy_url))


def pruned_while(
    site: Site, take: Callable[[], None], has_taken: Event, may_go_on: Event
) -> tuple[bool, str]:
    """Carry out a plan while `take` holds something: whether that waited for it, and what it said.

    `take` sets `has_taken` and waits for `may_go_on`; it runs in a thread of its own.
    """
    prune = Prune(site.settings)
    plan = prune.plan()
    taking = Thread(target=take, daemon=True)
    taking.start()
    assert has_taken.wait(120)
    said: list[str] = []
    deleting = Thread(target=lambda: said.append(plan.carry_out()), daemon=True)
    deleting.start()
    deleting.join(0.5)
    waited = deleting.is_alive()
    may_go_on.set()
    taking.join(120)
    deleting.join(120)
    prune.close()
    assert said, "the plan was carried out to its end"
    return waited, said[0]
