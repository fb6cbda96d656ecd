"""`podium prune`: frees the disk of what was archived; rows and curves stay.

Called by the command line, which asks first. A model that a living model or run descends from keeps
its files.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from backend.settings import Settings
from backend.store import pruning
from backend.store.db import Database


@dataclass(frozen=True)
class Plan:
    """Folders whose files may go, with their sizes in bytes."""

    folders: dict[Path, int]

    def describe(self) -> str:
        """What would be deleted, a folder a line."""
        if not self.folders:
            return "Nothing that is archived has files."
        lines = [f"{size / 1e6:10.1f} MB  {folder}" for folder, size in self.folders.items()]
        return "\n".join([*lines, f"{sum(self.folders.values()) / 1e6:10.1f} MB  in all"])


def plan(settings: Settings) -> Plan:
    """Find run directories of archived runs and local artifacts of archived models."""
    database = Database(settings.sqlalchemy_url)
    with database.read() as session:
        runs = pruning.archived_run_ids(session)
        keys = pruning.archived_artifact_keys(session)
    database.close()
    folders = [settings.runs_dir / run_id for run_id in runs]
    if settings.artifact_url is None:
        folders += [Path(settings.resolved_artifact_url) / key for key in keys]
    return Plan({folder: _size(folder) for folder in folders if folder.is_dir()})


def carry_out(plan: Plan) -> str:
    """Delete the plan's folders."""
    for folder in plan.folders:
        shutil.rmtree(folder)
    return f"Freed {sum(plan.folders.values()) / 1e6:.1f} MB."


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
