"""The newest, the least and the greatest value of each metric: what lists of runs are found by.

`backend.store.metrics.points` calls `append` for what it has written behind a curve's end, and
`renew` where something else has changed; the worker's sweeper calls `fill` for runs that are older
than `run_facts`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Float, String, delete, func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from backend.store import dialect, given
from backend.store.metrics import curves
from backend.store.runs import runs
from backend.store.runs.table import facts
from backend.store.tables.runs import Run, RunFact

Values = Sequence[float | None]

_TYPES: given.Types = {
    "key": String(),
    "run": BigInteger(),
    "number": Float(),
    "least": Float(),
    "greatest": Float(),
}


def append(session: Session, run: Run, values: Mapping[str, Values]) -> None:
    """Take in values that were stored behind the end of each curve, in order of their steps."""
    _store(session, [_row(run, name, said[-1], said) for name, said in values.items()])


def renew(session: Session, run: Run, names: Collection[str]) -> None:
    """Work these metrics out anew, from the levels of their curves and the run's summary."""
    keys = [_key(name) for name in names]
    session.execute(delete(RunFact).where(RunFact.run == run.number, RunFact.key.in_(keys)))
    left = sorted(name for name in names if name in run.summary)
    if left:
        found = curves.ends(session, run.id, left)
        _store(session, [_row(run, name, _newest(run, name), of) for name, of in found.items()])


def fill(session: Session, run_id: str) -> None:
    """Store what a run is found by that is older than `run_facts`."""
    run = runs.locked(session, run_id)
    session.execute(delete(RunFact).where(RunFact.run == run.number))
    facts.write(session, run)
    renew(session, run, list(run.summary))


def _newest(run: Run, name: str) -> float | None:
    """Return the newest value as a float: PostgreSQL gives a large one back as an integer."""
    value = run.summary[name]
    return None if value is None else float(value)


def _key(name: str) -> str:
    return f"metric.{name}"


def _row(run: Run, name: str, newest: float | None, values: Values) -> list[Any]:
    finite = [value for value in values if value is not None]
    ends = (min(finite), max(finite)) if finite else (None, None)
    return [_key(name), run.number, newest, *ends]


def _store(session: Session, rows: Iterable[Sequence[Any]]) -> None:
    """Keep what is less or greater than before; the newest value replaces that of before."""
    # Always in one order: two writers of PostgreSQL never wait for each other.
    ordered = sorted(rows, key=lambda row: str(row[0]))
    if not ordered:
        return
    connection = session.connection()
    if dialect.is_sqlite(session):
        connection.exec_driver_sql(_SQLITE_UPSERT, [tuple(row) for row in ordered])
    else:
        connection.execute(_postgres_upsert(), {"given": given.json_of(_TYPES, ordered)})


# Of two values of SQLite one may be NULL, of which `min` and `max` would make NULL.
_SQLITE_UPSERT = (
    f"INSERT INTO run_facts ({', '.join(_TYPES)}) VALUES ({', '.join('?' * len(_TYPES))}) "
    "ON CONFLICT (key, run) DO UPDATE SET number = excluded.number, "
    "least = min(coalesce(least, excluded.least), coalesce(excluded.least, least)), "
    "greatest = max(coalesce(greatest, excluded.greatest), coalesce(excluded.greatest, greatest))"
)


@cache
def _postgres_upsert() -> postgresql.Insert:
    passed = given.table(_TYPES, sqlite=False)
    statement = postgresql.insert(RunFact).from_select(
        list(_TYPES), select(*(passed.c[name] for name in _TYPES))
    )
    said = statement.excluded
    anew = {
        "number": said["number"],
        "least": func.least(RunFact.least, said["least"]),
        "greatest": func.greatest(RunFact.greatest, said["greatest"]),
    }
    return statement.on_conflict_do_update(index_elements=["key", "run"], set_=anew)
