"""Changing how runs are called and filed: names, notes, tags, experiments, the archive.

Called by `backend.api.runs`. What a run does is moved by `backend.store.runs.runs` alone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import BigInteger, String, cast, func, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import Conflict, InvalidInput, NotFound
from backend.schemas.paging import as_spelled
from backend.schemas.run_table.changes import MOST_TAGS, RunChange, RunsChange, RunSeen
from backend.schemas.vocabulary import RunState
from backend.store import dialect, given
from backend.store.runs import experiments, runs
from backend.store.runs.table import facts
from backend.store.tables.runs import Run

_FIELDS = ("name", "tags", "experiment_id", "archived_at")


class _Filed(NamedTuple):
    """All that a change of many looks at: to read whole runs takes longer than to change them."""

    number: int
    id: str
    project_id: str
    state: str
    name: str
    tags: list[str]
    experiment_id: str | None
    archived_at: datetime | None


class Changed(NamedTuple):
    """A run with what was different `before` and is `after`, by field."""

    run_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def change(session: Session, run_id: str, body: RunChange) -> Changed:
    """Change what is given about one run and leave the rest.

    Raises NotFound, InvalidInput for an experiment of another project, and Conflict if the run is
    not what the change was made from.
    """
    run = runs.locked(session, run_id)
    if body.before is not None:
        _must_be(run, body.before)
    before = _fields(run)
    if "experiment_id" in body.model_fields_set:
        experiments.must_be_in(session, body.experiment_id, run.project_id)
        run.experiment_id = body.experiment_id
    if body.notes is not None:
        before["notes"] = run.notes
    fields = body.model_dump(include={"name", "notes", "tags"}, exclude_none=True)
    for name, value in fields.items():
        setattr(run, name, value)
    if body.tags is not None:
        facts.write_tags(session, [(run.number, run.tags)])
    return _changed(run, before)


def _must_be(run: Run, seen: RunSeen) -> None:
    """Raise Conflict, naming the fields, unless the run is still what somebody saw."""
    fields = seen.model_dump(exclude_none=True).items()
    others = [name for name, value in fields if getattr(run, name) != value]
    if others:
        raise Conflict(
            f"the {' and the '.join(others)} of run {run.id} changed since they were read",
            advice="Read the run, then send your change with its newest values in `before`.",
        )


def change_all(
    session: Session, body: RunsChange, caller: Caller, *, at: datetime
) -> list[Changed]:
    """Make the same changes to many runs; returns those that are different now.

    Raises NotFound, Forbidden, Conflict or InvalidInput naming the first run that is refused; then
    the caller must undo the others.
    """
    rows = _locked(session, body.run_ids)
    for one in {one.project_id: one for one in reversed(rows)}.values():
        caller.must_see(one.project_id, f"run {one.id}")
    if "experiment_id" in body.model_fields_set:
        for one in {one.project_id: one for one in reversed(rows)}.values():
            _must_fit(session, one, body.experiment_id)
    pairs = [(one, now) for one in rows if (now := _refiled(one, body, at)) != one]
    _store(session, [now for _, now in pairs], body, at)
    tagged = [(now.number, now.tags) for one, now in pairs if now.tags != one.tags]
    facts.write_tags(session, tagged)
    return [_changed(now, _fields(one)) for one, now in pairs]


def _refiled(one: _Filed, body: RunsChange, at: datetime) -> _Filed:
    """Return what a run will be. Raises Conflict or InvalidInput if that is refused."""
    experiment_id = one.experiment_id
    if "experiment_id" in body.model_fields_set:
        experiment_id = body.experiment_id
    return one._replace(
        experiment_id=experiment_id,
        tags=_tagged(one, body),
        archived_at=_archived_at(one, body.archived, at),
    )


def _locked(session: Session, run_ids: Sequence[str]) -> list[_Filed]:
    """Lock these runs in the order of creation, so that two who lock the same ones never wait for
    each other. Raises NotFound.
    """
    columns = (getattr(Run, name) for name in _Filed._fields)
    named = select(*columns).where(given.is_among(session, Run.id, run_ids))
    wanted = named.order_by(Run.number).with_for_update(of=Run)
    rows = [_Filed(*row) for row in session.connection().execute(wanted).all()]
    missing = set(run_ids) - {one.id for one in rows}
    if missing:
        raise NotFound(f"there is no run {min(missing)}")
    return rows


def _store(session: Session, changed: Sequence[_Filed], body: RunsChange, at: datetime) -> None:
    """Store what these runs are now, in one statement."""
    if not changed:
        return
    rows = [(one.number, orjson.dumps(one.tags).decode()) for one in changed]
    now = given.rows(session, {"number": BigInteger(), "tags": String()}, rows)
    # SQLite keeps JSON as text; as PostgreSQL's it has to be read first.
    tags = now.c.tags if dialect.is_sqlite(session) else cast(now.c.tags, JSONB)
    values: dict[str, Any] = {"tags": tags}
    if "experiment_id" in body.model_fields_set:
        values["experiment_id"] = body.experiment_id
    if body.archived is not None:
        values["archived_at"] = func.coalesce(Run.archived_at, at) if body.archived else None
    session.connection().execute(update(Run).where(Run.number == now.c.number).values(values))


def _tagged(one: _Filed, body: RunsChange) -> list[str]:
    # As they were sent, too: a tag from before tags were held to rules has its own spelling.
    removed = {*body.remove_tags, *map(as_spelled, body.remove_tags)}
    kept = [tag for tag in one.tags if tag not in removed]
    tags = list(dict.fromkeys([*kept, *body.add_tags]))
    if len(tags) > max(MOST_TAGS, len(one.tags)):
        raise InvalidInput(
            f"run {one.id} would have {len(tags)} tags; expected at most {MOST_TAGS}",
            advice="Remove some of its tags first, or leave this run out.",
        )
    return tags


def _must_fit(session: Session, run: _Filed, experiment_id: str | None) -> None:
    try:
        experiments.must_be_in(session, experiment_id, run.project_id)
    except InvalidInput as error:
        raise InvalidInput(f"run {run.id}: {error.detail}", advice=error.advice) from error


def _archived_at(one: _Filed, archived: bool | None, at: datetime) -> datetime | None:
    if archived is None:
        return one.archived_at
    if not archived or one.archived_at is not None:
        return one.archived_at if archived else None
    runs.must_be_archivable(one.id, RunState(one.state))
    return at


def _fields(run: Run | _Filed) -> dict[str, Any]:
    """What every change may touch; notes are read only by whoever changes them."""
    return {name: getattr(run, name) for name in _FIELDS}


def _changed(run: Run | _Filed, before: Mapping[str, Any]) -> Changed:
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
