"""Which files nobody needs any more, and the mark that they are gone.

Called by `backend.ops.prune`, which deletes files after the transaction that marks them. Each
`mark_` looks again, under locks: what has come to life since it was listed is left alone. The store
touches no disk: `look_up` is handed in, and finds out which models were registered from files that
may go.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend.domain import run_config, run_state
from backend.store.runs import needs, outputs, runs
from backend.store.tables.models import Model
from backend.store.tables.runs import Artifact, Checkpoint, Run


@dataclass(frozen=True)
class RunFiles:
    """What a run keeps and what may go: steps that stay; keys that do not, of shared checkpoints
    and of answers."""

    run_id: str
    kept_steps: frozenset[int]
    keys: tuple[str, ...]


class Registered(Protocol):
    """Where the files of models lie that were registered by a path."""

    def in_run(self, run_id: str, keys: Iterable[str]) -> set[str]:
        """The ids of models with a file in a run's directory or under one of these keys."""

    def in_artifact(self, key: str) -> set[str]:
        """The ids of models with a file under a key of the artifact store."""


# Takes the registered paths by the ids of their models.
LookUp = Callable[[Mapping[str, str]], Registered]


def archived_runs(session: Session, look_up: LookUp) -> list[RunFiles]:
    """Archived runs that are over, oldest first."""
    query = select(Run.id).where(Run.archived_at.is_not(None), Run.state.in_(needs.OVER))
    found = session.scalars(query.order_by(Run.number)).all()
    used, registered = needs.model_ids(session), look_up(_paths(session))
    files = [_files_of(session, run_id) for run_id in found]
    return [one for one in files if not registered.in_run(one.run_id, one.keys) & used]


def archived_models(session: Session, look_up: LookUp) -> dict[str, str]:
    """The artifact keys of archived models that nobody needs, by id, oldest first."""
    used, registered = needs.model_ids(session), look_up(_paths(session))
    query = select(Model).where(Model.archived_at.is_not(None)).order_by(Model.number)
    found = [model for model in session.scalars(query) if model.id not in used]
    keys = {one.id: one.source["artifact"] for one in found if "artifact" in one.source}
    return {k: key for k, key in keys.items() if not registered.in_artifact(key) & used}


def mark_run(session: Session, run_id: str, look_up: LookUp, *, at: datetime) -> RunFiles | None:
    """Note that the files of a run are gone, and with them its checkpoints; None if it needs them.

    So do models that were registered from there, which are gone with them.
    """
    # Models before runs, as every request holds them, and both before looking who needs them.
    registered = look_up(_paths(session))
    _hold(session, registered.in_run(run_id, _keys(session, run_id)))
    run = runs.locked(session, run_id)
    files = _files_of(session, run_id)
    below = registered.in_run(run_id, files.keys)
    used = needs.model_ids(session)
    if run.archived_at is None or run.state not in needs.OVER or below & used:
        return None
    _mark_models(session, below, at=at)
    of_run = Checkpoint.run_id == run_id
    session.execute(delete(Checkpoint).where(of_run, Checkpoint.step.not_in(files.kept_steps)))
    outputs.forget_answers(session, run_id)
    run.pruned_at = run.pruned_at or at
    run.checkpoint_step = session.scalar(select(func.max(Checkpoint.step)).where(of_run))
    return files


def mark_model(session: Session, model_id: str, look_up: LookUp, *, at: datetime) -> str | None:
    """Note that the files of a model are gone; their key, or None if somebody needs them.

    Gone with it are the models that were registered from its files.
    """
    source = session.scalars(select(Model.source).where(Model.id == model_id)).one()
    key: str = source["artifact"]
    going = {model_id} | look_up(_paths(session)).in_artifact(key)
    _hold(session, going)
    if going & needs.model_ids(session):
        return None
    _mark_models(session, going, at=at)
    below = Artifact.key.startswith(f"{key}/", autoescape=True)
    session.execute(delete(Artifact).where(below))
    return key


def mark_left(session: Session, key: str, look_up: LookUp, *, at: datetime) -> bool:
    """Note that an artifact without a name is gone; False if it has one, or a model reads it."""
    going = look_up(_paths(session)).in_artifact(key)
    _hold(session, going)
    if not unnamed(session, [key], look_up):
        return False
    _mark_models(session, going, at=at)
    return True


def spare_copies(session: Session, keys: Collection[str], look_up: LookUp) -> dict[str, bool]:
    """Find the artifacts of models, among these keys, whose copy on this machine nobody reads.

    No unfinished run names the model, and none was registered from the copy. True: the model may be
    used again, so that its artifact has to be there. What no model names is another database's.
    """
    live = session.scalars(select(Run.config).where(Run.state.not_in(needs.OVER)))
    named = {one for config in live for one in run_config.ids_in(config)}
    models = _by_artifact(session, keys)
    registered = look_up(_paths(session))
    return {
        key: any(pruned_at is None for pruned_at in of_key.values())
        for key, of_key in models.items()
        if not of_key.keys() & named and not registered.in_artifact(key)
    }


def hold_spare_copy(session: Session, key: str, look_up: LookUp) -> bool:
    """Whether a copy is still spare; no run takes its model into use before this transaction ends.

    A run that does so afterwards fetches the model again.
    """
    _hold(session, _by_artifact(session, [key]).get(key, {}))
    return key in spare_copies(session, [key], look_up)


def unnamed(session: Session, keys: Collection[str], look_up: LookUp) -> list[str]:
    """Find the keys of the artifact store that nobody needs, now or soon.

    No row names them, no run is about to, and no model in use was registered from there.

    A key is `runs/RUN/NAME`. Those of runs that this database does not know are another's.
    """
    live = set(session.scalars(select(Run.id).where(Run.state.in_(run_state.LIVE))))
    known = set(session.scalars(select(Run.id)))
    models = session.execute(select(Model.source, Model.pruned_at)).all()
    named = {source.get("artifact") for source, pruned_at in models if pruned_at is None}
    named |= set(session.scalars(select(Checkpoint.artifact)))
    named |= outputs.folders_of_answers(session)
    free = [key for key in keys if key not in named and key.split("/")[1] in known - live]
    used, registered = needs.model_ids(session), look_up(_paths(session))
    return [key for key in free if not registered.in_artifact(key) & used]


def _by_artifact(session: Session, keys: Collection[str]) -> dict[str, dict[str, datetime | None]]:
    """The models whose files lie under these keys: when they were pruned, by id, by key."""
    found: dict[str, dict[str, datetime | None]] = {}
    for model_id, source, pruned_at in session.execute(
        select(Model.id, Model.source, Model.pruned_at)
    ):
        if source.get("artifact") in keys:
            found.setdefault(source["artifact"], {})[model_id] = pruned_at
    return found


def _paths(session: Session) -> dict[str, str]:
    """The paths by which models were registered, by id."""
    found = session.execute(select(Model.id, Model.source))
    return {model_id: source["path"] for model_id, source in found if "path" in source}


def _files_of(session: Session, run_id: str) -> RunFiles:
    kept = needs.checkpoint_steps(session, run_id)
    return RunFiles(run_id, frozenset(kept), _keys(session, run_id, except_steps=kept))


def _keys(session: Session, run_id: str, *, except_steps: Collection[int] = ()) -> tuple[str, ...]:
    """The keys of a run's shared checkpoints, by step, and of its answers."""
    query = select(Checkpoint.artifact).where(
        Checkpoint.run_id == run_id,
        Checkpoint.artifact.is_not(None),
        Checkpoint.step.not_in(except_steps),
    )
    shared = [str(key) for key in session.scalars(query.order_by(Checkpoint.step))]
    return (*shared, *sorted(outputs.folders_of_answers(session, run_id)))


def _hold(session: Session, model_ids: Collection[str]) -> None:
    """Keep these models from being taken into use until the transaction ends."""
    held = select(Model.id).where(Model.id.in_(model_ids)).order_by(Model.number)
    session.execute(held.with_for_update()).all()


def _mark_models(session: Session, model_ids: Collection[str], *, at: datetime) -> None:
    first = func.coalesce(Model.pruned_at, at)
    session.execute(update(Model).where(Model.id.in_(model_ids)).values(pruned_at=first))
