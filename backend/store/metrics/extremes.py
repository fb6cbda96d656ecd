"""The newest, the least and the greatest value of each metric: what lists of runs are found by.

`backend.store.metrics.points` calls `append` for what it has written behind a curve's end, and
`renew` where something else has changed; the worker's sweeper calls `fill` for runs that are older
than `run_facts`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Float,
    Select,
    String,
    delete,
    func,
    select,
    union_all,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from backend.store import built, dialect, given
from backend.store.metrics import levels
from backend.store.metrics.levels import Curve
from backend.store.runs import runs
from backend.store.runs.table import facts
from backend.store.tables.metrics import MetricLevel, MetricPoint
from backend.store.tables.runs import Run, RunFact

Values = Sequence[float | None]

_TYPES: given.Types = {
    "key": String(),
    "run": BigInteger(),
    "number": Float(),
    "least": Float(),
    "greatest": Float(),
}


_SPAN: given.Types = {
    "curve": BigInteger(),
    "run": String(),
    "name": String(),
    "level": BigInteger(),
    "first": BigInteger(),
    "end": BigInteger(),
}


def append(session: Session, run: Run, values: Mapping[str, Values]) -> None:
    """Take in values that were stored behind the end of each curve, in order of their steps."""
    _store(session, [_row(run, name, said[-1], said) for name, said in values.items()])


def renew(session: Session, run: Run, curves: Collection[Curve]) -> None:
    """Work these metrics out anew, from the levels of their curves and the run's summary."""
    if not curves:
        return
    keys = [_key(curve.name) for curve in curves]
    old = delete(RunFact).where(RunFact.run == run.number, RunFact.key.in_(keys))
    session.connection().execute(old)
    left = [one for one in curves if one.newest is not None and one.name in run.summary]
    found = _ends(session, left)
    _store(session, [_row(run, one.name, _newest(run, one.name), found[one]) for one in left])


def fill(session: Session, run_id: str) -> None:
    """Store what a run is found by that is older than `run_facts`."""
    run = runs.locked(session, run_id)
    session.execute(delete(RunFact).where(RunFact.run == run.number))
    facts.write(session, run)
    renew(session, run, list(levels.of_run(session, run_id, run.summary).values()))


def _ends(session: Session, curves: Iterable[Curve]) -> Mapping[Curve, Values]:
    """Values of each of these curves, the least and the greatest among them."""
    of_number = {curve.number: curve for curve in curves}
    spans = [
        (curve.number, curve.run_id, curve.name, *span)
        for curve in of_number.values()
        for span in levels.cover(0, (curve.newest or 0) + 1, levels.TOP, curve.sealed)
    ]
    found: defaultdict[Curve, list[float | None]] = defaultdict(list)
    if spans:
        passed = {"given": given.json_of(_SPAN, spans)}
        asked = _ends_of_spans(sqlite=dialect.is_sqlite(session))
        for number, *ends in built.rows(session, asked, passed):
            found[of_number[number]] += ends
    return found


@built.once
def _ends_of_spans(*, sqlite: bool) -> CompoundSelect[Any]:
    """The least and the greatest value in each span of buckets, and in each of points."""
    span, bucket, point = given.table(_SPAN, sqlite=sqlite), MetricLevel, MetricPoint

    def of(
        table: type[MetricLevel] | type[MetricPoint],
        ends: Sequence[ColumnElement[Any]],
        *whose: ColumnElement[bool],
    ) -> Select[Any]:
        inside = (*whose, table.step >= span.c.first, table.step < span.c.end)
        each = (select(one).where(*inside).correlate(span).scalar_subquery() for one in ends)
        return select(span.c.curve, *each)

    of_buckets = of(
        bucket,
        (func.min(bucket.min), func.max(bucket.max)),
        bucket.curve == span.c.curve,
        bucket.level == span.c.level,
    )
    of_points = of(
        point,
        (func.min(point.value), func.max(point.value)),
        point.run_id == span.c.run,
        point.name == span.c.name,
    )
    return union_all(of_buckets.where(span.c.level > 0), of_points.where(span.c.level == 0))


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
