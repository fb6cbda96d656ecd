"""Which seed each run is of: a run that continues others has the seed of the first of them."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from backend.domain.seeds.draws import Draw
from backend.schemas.vocabulary import RunState
from backend.store.tables.runs import Run

_WANTED = (Run.id, Run.config, Run.state, Run.steps, Run.parent_id, Run.parent_step)


def of_runs(session: Session, run_ids: Iterable[str]) -> dict[str, Draw]:
    """Read which seed each run is of, by run in the order asked for."""
    asked = list(run_ids)
    known = _read(session, asked)
    while missing := {up for row in known.values() if (up := _continued(row))} - known.keys():
        known |= _read(session, missing)
    return {run_id: _draw(run_id, known) for run_id in asked}


def _read(session: Session, run_ids: Iterable[str]) -> dict[str, Row[Any]]:
    return {row.id: row for row in session.execute(select(*_WANTED).where(Run.id.in_(run_ids)))}


def _continued(row: Row[Any]) -> str | None:
    """The run whose checkpoint it began with."""
    return row.parent_id if row.parent_step is not None else None


def _draw(run_id: str, known: dict[str, Row[Any]]) -> Draw:
    row = root = known[run_id]
    while up := _continued(root):
        root = known[up]
    return Draw(
        run=run_id,
        seed=root.config.get("seed"),
        state=RunState(row.state),
        steps=row.steps,
        is_continued=root is not row,
    )
