"""What runs have under the keys that a list shows as columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.filters.fields import METRICS, Key
from backend.store.runs.table.conditions import fact_of, number_of
from backend.store.tables.runs import Run, RunFact

Value = float | int | str | bool | None
# Of a text in a column so much is answered.
_LONGEST = 200


def of_runs(
    session: Session, runs: Sequence[Run], columns: Sequence[Key]
) -> dict[str, dict[str, Value]]:
    """The values of each run by column; None where it has none."""
    measured = _measured(session, runs, [key for key in columns if key.field in METRICS])
    return {
        run.id: {
            str(key): measured.get((run.number, key))
            if key.field in METRICS
            else _leaf(run.config, key.name)
            for key in columns
        }
        for run in runs
    }


def _measured(
    session: Session, runs: Sequence[Run], keys: Sequence[Key]
) -> dict[tuple[int, Key], float | None]:
    if not keys:
        return {}
    wanted = select(RunFact).where(
        RunFact.key.in_({fact_of(key) for key in keys}),
        RunFact.run.in_([run.number for run in runs]),
    )
    rows = {(fact.run, fact.key): fact for fact in session.scalars(wanted)}
    return {
        (run.number, key): getattr(fact, number_of(key).key)
        for run in runs
        for key in keys
        if (fact := rows.get((run.number, fact_of(key)))) is not None
    }


def _leaf(config: Mapping[str, Any], path: str) -> Value:
    value: Any = config
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    if isinstance(value, str):
        return value[:_LONGEST]
    return value if isinstance(value, bool | int | float) else None
