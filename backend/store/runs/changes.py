"""Changing how runs are called and filed: names, notes, tags, experiments, the archive.

Called by `backend.api.runs`. What a run does is moved by `backend.store.runs.runs` alone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session, load_only

from backend.errors import InvalidInput, NotFound
from backend.schemas.run_table.changes import MOST_TAGS, RunChange, RunsChange
from backend.store.runs import experiments, runs
from backend.store.runs.table import facts
from backend.store.tables.runs import Run

_FIELDS = ("name", "tags", "experiment_id", "archived_at")
# All that a change of many looks at: to read whole runs takes longer than to change them.
_LOOKED_AT = (
    Run.number, Run.id, Run.project_id, Run.state, Run.name, Run.tags, Run.experiment_id,
    Run.archived_at,
)  # fmt: skip


class Changed(NamedTuple):
    """A run with what was different `before` and is `after`, by field."""

    run_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def change(session: Session, run_id: str, body: RunChange) -> Changed:
    """Change what is given about one run and leave the rest.

    Raises NotFound, and InvalidInput for an experiment of another project.
    """
    run = runs.locked(session, run_id)
    before = _fields(run)
    if "experiment_id" in body.model_fields_set:
        experiments.must_be_in(session, body.experiment_id, run.project_id)
        run.experiment_id = body.experiment_id
    if body.notes is not None:
        before["notes"] = run.notes
    for name, value in body.model_dump(exclude={"experiment_id"}, exclude_none=True).items():
        setattr(run, name, value)
    if body.tags is not None:
        facts.write_tags(session, [run])
    return _changed(run, before)


def change_all(session: Session, body: RunsChange, *, at: datetime) -> list[Changed]:
    """Make the same changes to many runs; returns those that are different now.

    Raises NotFound, Conflict or InvalidInput naming the first run that is refused; then the caller
    must undo the others.
    """
    rows = _locked(session, body.run_ids)
    if "experiment_id" in body.model_fields_set:
        for run in {run.project_id: run for run in reversed(rows)}.values():
            _must_fit(session, run, body.experiment_id)
    found = {run: _change_one(run, body, at) for run in rows}
    facts.write_tags(session, [run for run, one in found.items() if "tags" in one.after])
    return [one for one in found.values() if one.after]


def _change_one(run: Run, body: RunsChange, at: datetime) -> Changed:
    before = _fields(run)
    if "experiment_id" in body.model_fields_set:
        run.experiment_id = body.experiment_id
    _tag(run, body)
    _archive(run, body.archived, at)
    return _changed(run, before)


def _locked(session: Session, run_ids: Sequence[str]) -> list[Run]:
    """Lock these runs in the order of creation, so that two who lock the same ones never wait for
    each other. Raises NotFound.
    """
    wanted = select(Run).where(Run.id.in_(run_ids)).order_by(Run.number).with_for_update()
    wanted = wanted.options(load_only(*_LOOKED_AT, raiseload=True))
    rows = session.scalars(wanted, execution_options={"populate_existing": True}).all()
    missing = set(run_ids) - {run.id for run in rows}
    if missing:
        raise NotFound(f"there is no run {min(missing)}")
    return list(rows)


def _tag(run: Run, body: RunsChange) -> None:
    kept = [tag for tag in run.tags if tag not in body.remove_tags]
    tags = list(dict.fromkeys([*kept, *body.add_tags]))
    if len(tags) > max(MOST_TAGS, len(run.tags)):
        raise InvalidInput(
            f"run {run.id} would have {len(tags)} tags; expected at most {MOST_TAGS}",
            advice="Remove some of its tags first, or leave this run out.",
        )
    if tags != run.tags:
        run.tags = tags


def _must_fit(session: Session, run: Run, experiment_id: str | None) -> None:
    try:
        experiments.must_be_in(session, experiment_id, run.project_id)
    except InvalidInput as error:
        raise InvalidInput(f"run {run.id}: {error.detail}", advice=error.advice) from error


def _archive(run: Run, archived: bool | None, at: datetime) -> None:
    if archived and run.archived_at is None:
        runs.must_be_archivable(run)
        run.archived_at = at
    elif archived is False:
        run.archived_at = None


def _fields(run: Run) -> dict[str, Any]:
    """What every change may touch; notes are read only by whoever changes them."""
    return {name: getattr(run, name) for name in _FIELDS}


def _changed(run: Run, before: Mapping[str, Any]) -> Changed:
    now = {name: getattr(run, name) for name in before}
    names = [name for name in before if now[name] != before[name]]
    return Changed(run.id, _told(before, names), _told(now, names))


def _told(fields: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Fields as the audit log tells of them: of notes how long they are."""
    return {name: _value(name, fields[name]) for name in names}


def _value(name: str, value: Any) -> Any:
    if name == "notes":
        return f"{len(value)} characters"
    return value.isoformat() if isinstance(value, datetime) else value
