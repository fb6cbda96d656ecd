"""Metrics: one value per run, name and step, appended by the relay.

The worker's relay calls `store` and `rewind` inside its fenced transaction, intake and the metric
route add evaluations. `backend.store.metrics.levels` keeps sums of the points,
`backend.store.metrics.tokens` where on the axis of tokens a step lies, and
`backend.store.metrics.curves` reads points and levels.
"""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BigInteger, Float, Integer, ScalarSelect, String, delete, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.errors import InvalidInput
from backend.schemas.events import MetricLine
from backend.schemas.runs import METRIC_NAME, OutsidePoint
from backend.store.metrics import given, levels, tokens
from backend.store.runs import events as run_events
from backend.store.runs import runs
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import MetricPoint, Run

T = TypeVar("T")

OUTSIDE_ATTEMPT = 0
OUTSIDE_PREFIXES = ("gold/", "outside/")

_TYPES: given.Types = {
    "run_id": String(),
    "name": String(),
    "step": BigInteger(),
    "value": Float(),
    "time_s": Float(),
    "tokens": BigInteger(),
    "attempt": Integer(),
}
_ANEW = ("value", "time_s", "tokens", "attempt")
_SQLITE_UPSERT = (
    f"INSERT INTO metric_points ({', '.join(_TYPES)}) VALUES ({', '.join('?' * len(_TYPES))}) "
    f"ON CONFLICT (run_id, name, step) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _ANEW)
)
_NAME = re.compile(METRIC_NAME)
_LONGEST_NAME = 100


class Stored(NamedTuple):
    """How many values were stored, and what the run's history has to say of them."""

    values: int
    events: list[NewEvent]


def append(
    session: Session, run_id: str, attempt: int, lines: Sequence[MetricLine], *, at: datetime
) -> int:
    """Store these lines and their events, see `store`; returns how many values.

    Raises NotFound if there is no such run.
    """
    if not lines:
        return 0
    stored = store(session, runs.locked(session, run_id), attempt, lines)
    run_events.append(session, run_id, stored.events, at=at)
    return stored.values


def store(session: Session, run: Run, attempt: int, lines: Sequence[MetricLine]) -> Stored:
    """Store the values of these lines and the summary of the run, which the caller holds.

    The caller appends the events: one `metric` per line. A value stored before for the same name
    and step is replaced, so a replay changes nothing. Names outside METRIC_NAME are left out, with
    an alert.
    """
    if not lines:
        return Stored(0, [])
    names = {name for line in lines for name in line.values}
    refused = {name for name in names if not _is_name(name)}
    kept = [_without(line, refused) for line in lines] if refused else lines
    rows = _rows(run.id, attempt, kept)
    if rows:
        steps: dict[str, list[int]] = {}
        for name, step in rows:
            steps.setdefault(name, []).append(step)
        curves = levels.of_run(session, run.id, steps)
        _upsert(session, list(rows.values()))
        tokens.note(session, run.id, {(row["step"], row["tokens"]) for row in rows.values()})
        levels.grow(session, curves, steps)
        # Ascending steps: the last row of a name is its newest of this batch.
        newest = {
            name: row["value"]
            for (name, step), row in rows.items()
            if step >= (curves[name].newest or 0)
        }
        run.summary = {**run.summary, **newest}
    events = [_event(line, attempt) for line in kept]
    if refused:
        events.append(_refusal(refused))
    return Stored(len(rows), events)


def append_outside(
    session: Session, run_id: str, points: Sequence[OutsidePoint], *, at: datetime
) -> int:
    """Store results of evaluations made elsewhere; returns how many values.

    Raises InvalidInput for a name that does not start with gold/ or outside/.
    """
    names = sorted({name for point in points for name in point.values})
    wrong = [name for name in names if not (_is_name(name) and name.startswith(OUTSIDE_PREFIXES))]
    if wrong:
        raise InvalidInput(
            f"the metric name {wrong[0][:100]!r} is not allowed here",
            advice="Use at most 100 characters: 2 to 5 words of letters, digits and _ @ . + - "
            "joined by /, the first of them gold or outside.",
        )
    runs.locked(session, run_id)
    # Tokens that the trainer had processed, so that a point finds its place on that axis.
    processed = tokens.at_steps(session, run_id, [point.step for point in points])
    lines = [
        MetricLine(
            step=point.step,
            time=at.timestamp(),
            tokens=processed[point.step],
            values=point.values,
        )
        for point in points
    ]
    return append(session, run_id, OUTSIDE_ATTEMPT, lines, at=at)


def _is_name(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def _without(line: MetricLine, refused: Collection[str]) -> MetricLine:
    values = {name: value for name, value in line.values.items() if name not in refused}
    return line.model_copy(update={"values": values})


def _rows(
    run_id: str, attempt: int, lines: Sequence[MetricLine]
) -> dict[tuple[str, int], dict[str, Any]]:
    # Keyed, because one statement may not touch a row twice; ascending steps, so that the newest
    # step of a name comes last.
    return {
        (name, line.step): {
            "run_id": run_id,
            "name": name,
            "step": line.step,
            "value": value,
            "time_s": line.time,
            "tokens": line.tokens,
            "attempt": attempt,
        }
        for line in sorted(lines, key=lambda line: line.step)
        for name, value in line.values.items()
    }


def _upsert(session: Session, rows: list[dict[str, Any]]) -> None:
    if session.get_bind().dialect.name == "sqlite":
        # By the driver: SQLAlchemy takes longer to look at a row than SQLite to store it.
        values = [tuple(row.values()) for row in rows]
        session.connection().exec_driver_sql(_SQLITE_UPSERT, values)
        return
    # One statement instead of one for each row, which costs PostgreSQL five times as much.
    passed = given.rows(session, _TYPES, ([row[name] for name in _TYPES] for row in rows))
    all_rows = select(*(passed.c[name] for name in _TYPES))
    statement = postgresql.insert(MetricPoint).from_select(list(_TYPES), all_rows)
    anew = {name: statement.excluded[name] for name in _ANEW}
    keys = ["run_id", "name", "step"]
    session.execute(statement.on_conflict_do_update(index_elements=keys, set_=anew))


def _event(line: MetricLine, attempt: int) -> NewEvent:
    said = line.model_dump(include={"step", "time", "tokens", "values"})
    return NewEvent("metric", {**said, "attempt": attempt})


def _refusal(names: set[str]) -> NewEvent:
    shown = ", ".join(sorted(name[:_LONGEST_NAME].replace("\0", "") for name in names)[:5])
    message = (
        f"{len(names)} metrics were not stored because their names are not valid: {shown}. A name "
        "has at most 100 characters: 1 to 5 words of letters, digits and _ @ . + - joined by /."
    )
    data = {"level": "warning", "rule": "metric_name", "message": message, "step": None}
    return NewEvent("alert", data)


def _newest_values(
    session: Session, run_id: str, names: Collection[str]
) -> dict[str, float | None]:
    """The value at the last step of each of these curves; a name without points is left out."""
    wanted = given.rows(session, {"name": String()}, [[name] for name in sorted(names)])

    def at_the_end(column: InstrumentedAttribute[T]) -> ScalarSelect[T]:
        of_name = (MetricPoint.run_id == run_id, MetricPoint.name == wanted.c.name)
        newest_first = select(column).where(*of_name).order_by(MetricPoint.step.desc())
        return newest_first.limit(1).correlate(wanted).scalar_subquery()

    # Not a join: SQLite would begin it with all points of the run.
    last = at_the_end(MetricPoint.step).label("step")
    found = select(wanted.c.name, at_the_end(MetricPoint.value), last)
    return {name: value for name, value, step in session.execute(found) if step is not None}


def rewind(session: Session, run_id: str, after_step: int, *, at: datetime) -> None:
    """Delete the trainer's values beyond a step, append `rewind`, and take the summary back.

    Values from outside stay: they were measured on something that was kept.
    """
    run = runs.locked(session, run_id)
    # A run's summary has every name; without names the whole run would be searched.
    beyond = (
        MetricPoint.run_id == run_id,
        MetricPoint.name.in_(list(run.summary)),
        MetricPoint.step > after_step,
        MetricPoint.attempt != OUTSIDE_ATTEMPT,
    )
    names = set(session.scalars(select(MetricPoint.name).where(*beyond).distinct()))
    session.execute(delete(MetricPoint).where(*beyond))
    outside = {name for name in run.summary if name.startswith(OUTSIDE_PREFIXES)}
    tokens.rewind(session, run_id, after_step, outside)
    levels.rewind(session, run_id, names, after_step)
    kept = {name: value for name, value in run.summary.items() if name not in names}
    run.summary = kept | _newest_values(session, run_id, names)
    session.flush()
    run_events.append(session, run_id, [NewEvent("rewind", {"step": after_step})], at=at)
