"""Metrics: one value per run, name and step, appended by the relay.

The worker's relay calls `append` and `rewind` inside its fenced transaction, intake and the metric
route add evaluations. `backend.store.metrics.buckets` keeps sums of the points,
`backend.store.metrics.tokens` where on the axis of tokens a step lies, and
`backend.store.metrics.curves` reads points and buckets.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ScalarSelect, String, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.errors import InvalidInput
from backend.schemas.events import MetricLine
from backend.schemas.runs import METRIC_NAME, OutsidePoint
from backend.store.metrics import buckets, given, tokens
from backend.store.runs import events as run_events
from backend.store.runs import runs
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import MetricPoint

T = TypeVar("T")

OUTSIDE_ATTEMPT = 0
OUTSIDE_PREFIXES = ("gold/", "outside/")

_NAME = re.compile(METRIC_NAME)
_LONGEST_NAME = 100


def append(
    session: Session, run_id: str, attempt: int, lines: Sequence[MetricLine], *, at: datetime
) -> int:
    """Store the values of these lines, one `metric` event per line, and the run's summary.

    A value stored before for the same name and step is replaced, so a replay changes nothing.
    Names outside METRIC_NAME are left out, with an alert.
    Returns how many values were stored; raises NotFound if there is no such run.
    """
    if not lines:
        return 0
    kept = [line.model_copy(update={"values": _named(line.values)}) for line in lines]
    rows = _rows(run_id, attempt, kept)
    if rows:
        _upsert(session, list(rows.values()))
        tokens.note(session, run_id, {(row["step"], row["tokens"]) for row in rows.values()})
        _sum_up(session, run_id, rows)
    events = [_event(line, attempt) for line in kept]
    refused = {name for line in lines for name in line.values if not _is_name(name)}
    if refused:
        events.append(_refusal(refused))
    run_events.append(session, run_id, events, at=at)
    return len(rows)


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


def _named(values: dict[str, float | None]) -> dict[str, float | None]:
    return {name: value for name, value in values.items() if _is_name(name)}


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
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    statement = (sqlite if is_sqlite else postgresql).insert(MetricPoint)
    anew = {name: statement.excluded[name] for name in ("value", "time_s", "tokens", "attempt")}
    keys = [MetricPoint.run_id, MetricPoint.name, MetricPoint.step]
    session.execute(statement.on_conflict_do_update(index_elements=keys, set_=anew), rows)


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


def _sum_up(
    session: Session, run_id: str, rows: Mapping[tuple[str, int], Mapping[str, Any]]
) -> None:
    """Bring the buckets and the run's summary up to what was just stored."""
    buckets.refresh(session, run_id, rows)
    newest = _newest_values(session, run_id, {name for name, _ in rows})
    run = runs.locked(session, run_id)
    run.summary = {**run.summary, **newest}
    session.flush()


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
    buckets.rewind(session, run_id, names, after_step)
    kept = {name: value for name, value in run.summary.items() if name not in names}
    run.summary = kept | _newest_values(session, run_id, names)
    session.flush()
    run_events.append(session, run_id, [NewEvent("rewind", {"step": after_step})], at=at)
