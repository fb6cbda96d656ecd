"""Which files nobody needs any more, and the mark that they are gone.

Called by `backend.prune`, which deletes files after the transaction that marks them. Each `mark_`
looks again, under locks: what has come to life since it was listed is left alone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend.domain import run_state
from backend.store import needs, runs
from backend.store.tables import Artifact, Checkpoint, Model, Run


@dataclass(frozen=True)
class RunFiles:
    """What a run keeps and what may go: steps that stay, keys of shared checkpoints that do not."""

    run_id: str
    kept_steps: frozenset[int]
    keys: tuple[str, ...]


def archived_runs(session: Session, runs_dir: Path) -> list[RunFiles]:
    """Archived runs that are over, oldest first."""
    query = select(Run).where(Run.archived_at.is_not(None), Run.state.in_(needs.OVER))
    found = session.scalars(query.order_by(Run.number)).all()
    used = needs.model_ids(session)
    paths = [path for model_id, path in _model_paths(session).items() if model_id in used]
    free = [run.id for run in found if not _any_below(paths, runs_dir / run.id)]
    return [_files_of(session, run_id) for run_id in free]


def archived_models(session: Session) -> dict[str, str]:
    """The artifact keys of archived models that nobody needs, by id, oldest first."""
    used = needs.model_ids(session)
    query = select(Model).where(Model.archived_at.is_not(None)).order_by(Model.number)
    found = [model for model in session.scalars(query) if model.id not in used]
    return {one.id: one.source["artifact"] for one in found if "artifact" in one.source}


def mark_run(session: Session, run_id: str, folder: Path, *, at: datetime) -> RunFiles | None:
    """Note that the files of a run are gone, and with them its checkpoints; None if it needs them.

    `folder` is its run directory: a model may be registered by a path in it.
    """
    run = runs.locked(session, run_id)
    used = needs.model_ids(session)
    below = {one for one, path in _model_paths(session).items() if path.is_relative_to(folder)}
    if run.archived_at is None or run.state not in needs.OVER or below & used:
        return None
    session.execute(update(Model).where(Model.id.in_(below)).values(pruned_at=at))
    files = _files_of(session, run_id)
    of_run = Checkpoint.run_id == run_id
    session.execute(delete(Checkpoint).where(of_run, Checkpoint.step.not_in(files.kept_steps)))
    run.pruned_at = run.pruned_at or at
    run.checkpoint_step = session.scalar(select(func.max(Checkpoint.step)).where(of_run))
    return files


def mark_model(session: Session, model_id: str, *, at: datetime) -> str | None:
    """Note that the files of a model are gone; their key, or None if somebody needs them."""
    query = select(Model).where(Model.id == model_id).with_for_update()
    model = session.scalars(query, execution_options={"populate_existing": True}).one()
    if model.archived_at is None or model.id in needs.model_ids(session):
        return None
    key: str = model.source["artifact"]
    model.pruned_at = model.pruned_at or at
    below = Artifact.key.startswith(f"{key}/", autoescape=True)
    session.execute(delete(Artifact).where(below))
    return key


def unnamed(session: Session, keys: Collection[str]) -> list[str]:
    """Those of these keys of the artifact store that no row names and no run is about to name.

    A key is `runs/RUN/NAME`. Those of runs that this database does not know are another's.
    """
    live = set(session.scalars(select(Run.id).where(Run.state.in_(run_state.LIVE))))
    known = set(session.scalars(select(Run.id)))
    models = session.execute(select(Model.source, Model.pruned_at)).all()
    named = {source.get("artifact") for source, pruned_at in models if pruned_at is None}
    named |= set(session.scalars(select(Checkpoint.artifact)))
    return [key for key in keys if key not in named and key.split("/")[1] in known - live]


def _files_of(session: Session, run_id: str) -> RunFiles:
    kept = needs.checkpoint_steps(session, run_id)
    query = select(Checkpoint.artifact).where(
        Checkpoint.run_id == run_id,
        Checkpoint.artifact.is_not(None),
        Checkpoint.step.not_in(kept),
    )
    keys = [key for key in session.scalars(query.order_by(Checkpoint.step)) if key is not None]
    return RunFiles(run_id, frozenset(kept), tuple(keys))


def _model_paths(session: Session) -> dict[str, Path]:
    """Where the models lie that were registered by a path, by id."""
    rows = session.execute(select(Model.id, Model.source).order_by(Model.number))
    return {model_id: Path(source["path"]) for model_id, source in rows if "path" in source}


def _any_below(paths: Collection[Path], folder: Path) -> bool:
    return any(path.is_relative_to(folder) for path in paths)
