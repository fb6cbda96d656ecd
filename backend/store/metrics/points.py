"""Metrics: one value per run, name and step, and what the history of a run tells of them.

The worker's relay calls `store` and `rewind` inside its fenced transaction, intake and
`backend.store.metrics.outside` add evaluations; `backend.stream` tells. A `metric` event has the
steps and times of what was stored, for results from outside their names, and no value: the points
that are there by then are joined to it. `backend.store.metrics.levels` keeps sums of the points,
`backend.store.metrics.tokens` where on the axis of tokens a step lies, and
`backend.store.metrics.curves` reads points and levels.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby, product
from typing import Any, NamedTuple, TypeVar

import orjson
from sqlalchemy import BigInteger, Float, Integer, ScalarSelect, String, and_, delete, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.plural import plural
from backend.schemas.metrics.curves import METRIC_NAME
from backend.schemas.paging import Listing
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.runs import EventAnswer
from backend.store import dialect, given
from backend.store.metrics import extremes, levels, tokens
from backend.store.runs import events as run_events
from backend.store.runs import runs
from backend.store.runs.events import KeptEvent, NewEvent
from backend.store.tables.metrics import MetricCurve, MetricPoint
from backend.store.tables.runs import Run

T = TypeVar("T")

# Values of one event at most, if every metric of the run has one at each of its steps.
LARGEST_EVENT = 2000
# Values of one run that are told in one go; the event that goes beyond is the last. Larger pages
# would stop other threads for longer.
MOST_TOLD = 2_000
# Of a span of steps: all points within it are looked at.
_WIDEST_STRIDE = 16
# SQLite may read a number from JSON one digit off.
_ONE_DIGIT = 1e-12

# The summary of a run has every name, is written with each batch and is part of lists of runs.
MOST_NAMES = 5_000

OUTSIDE_ATTEMPT = 0
OUTSIDE_PREFIXES = ("gold/", "outside/")

_COLUMNS = ("run_id", "name", "step", "value", "time_s", "tokens", "attempt")
_INTO = f"INSERT INTO metric_points ({', '.join(_COLUMNS)})"
_OR_REPLACE = "ON CONFLICT (run_id, name, step) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in _COLUMNS[3:]
)
_SQLITE_UPSERT = f"{_INTO} VALUES ({', '.join('?' * len(_COLUMNS))}) {_OR_REPLACE}"
# One statement instead of one for each row, which costs PostgreSQL five times as much; columns,
# and a name by its number among all: it reads a row of JSON in twice the time.
_POSTGRES_INSERT = (
    f"{_INTO} SELECT %s, (%s::text[])[name], step, value, time_s, tokens, %s FROM unnest("
    "%s::int[], %s::bigint[], %s::double precision[], %s::double precision[], %s::bigint[]"
    ") AS given (name, step, value, time_s, tokens)"
)
_POSTGRES_UPSERT = f"{_POSTGRES_INSERT} {_OR_REPLACE}"
_SPAN: given.Types = {
    "run": String(),
    "name": String(),
    "attempt": Integer(),
    "seq": BigInteger(),
    "first": BigInteger(),
    "last": BigInteger(),
    "stride": BigInteger(),
    "earliest": Float(),
    "latest": Float(),
}
_Event = tuple[str, int]  # run and number
_LONGEST_NAME = 100


class _Row(NamedTuple):
    run_id: str
    name: str
    step: int
    value: float | None
    time_s: float
    tokens: int
    attempt: int


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

    The caller appends the events. A value stored before for the same name and step is replaced, so
    a replay changes nothing. Names outside METRIC_NAME and beyond MOST_NAMES are left out, with an
    alert.
    """
    if not lines:
        return Stored(0, [])
    names = list(dict.fromkeys(name for line in lines for name in line.values))
    invalid = {name for name in names if not is_name(name)}
    surplus = set(without_room(run, [name for name in names if name not in invalid]))
    refused = invalid | surplus
    kept = [_without(line, refused) for line in lines] if refused else lines
    said = sorted((line for line in kept if line.values), key=lambda line: line.step)
    rows = _rows(run.id, attempt, said)
    if rows:
        steps: dict[str, list[int]] = {}
        for name, step in rows:
            steps.setdefault(name, []).append(step)
        curves = levels.of_run(session, run.id, steps)
        behind = {name for name, of_name in steps.items() if _is_behind(curves[name], of_name)}
        _keep(session, list(rows.values()), are_new=len(behind) == len(steps))
        if attempt != OUTSIDE_ATTEMPT:  # These stand at the tokens that are noted already.
            tokens.note(session, run.id, {(row.step, row.tokens) for row in rows.values()})
        grown = levels.grow(session, curves, steps)
        newest = {
            name: rows[name, of_name[-1]].value
            for name, of_name in steps.items()
            if of_name[-1] >= (curves[name].newest or 0)
        }
        run.summary = {**run.summary, **newest}
        extremes.append(session, run, _values(rows, steps, behind))
        within = [curve for name, curve in grown.items() if name not in behind]
        extremes.renew(session, run, within)
    events = _events(said, attempt, n_names=len(run.summary))
    if invalid:
        events.append(_invalid(invalid))
    if surplus:
        events.append(_surplus(surplus))
    return Stored(len(rows), events)


def without_room(run: Run, names: Sequence[str]) -> list[str]:
    """Which of these names, in this order, are more than MOST_NAMES of the run."""
    new = [name for name in names if name not in run.summary]
    return new[max(0, MOST_NAMES - len(run.summary)) :]


def _is_behind(curve: levels.Curve, steps: Sequence[int]) -> bool:
    """Whether all of these steps, which ascend, lie behind the end that the curve had."""
    return curve.newest is None or steps[0] > curve.newest


def _values(
    rows: Mapping[tuple[str, int], _Row],
    steps: Mapping[str, Sequence[int]],
    names: Collection[str],
) -> dict[str, list[float | None]]:
    """The values of these curves that are stored, in order of their steps."""
    return {name: [rows[name, step].value for step in steps[name]] for name in names}


def is_name(name: str) -> bool:
    """Whether a metric may have this name."""
    return len(name) <= _LONGEST_NAME and METRIC_NAME.fullmatch(name) is not None


def _without(line: MetricLine, refused: Collection[str]) -> MetricLine:
    values = {name: value for name, value in line.values.items() if name not in refused}
    return line.model_copy(update={"values": values})


def _rows(run_id: str, attempt: int, lines: Iterable[MetricLine]) -> dict[tuple[str, int], _Row]:
    """The points of lines that ascend in step, each once: one statement may not touch it twice."""
    return {
        (name, line.step): _Row(run_id, name, line.step, value, line.time, line.tokens, attempt)
        for line in lines
        for name, value in line.values.items()
    }


def _keep(session: Session, rows: Sequence[_Row], *, are_new: bool) -> None:
    """Store points; `are_new`: none of them can be there, so nothing looks for it."""
    connection = session.connection()
    if dialect.is_sqlite(session):
        # By the driver: SQLAlchemy takes longer to look at a row than SQLite to store it.
        connection.exec_driver_sql(_SQLITE_UPSERT, list(rows))
    else:
        statement = _POSTGRES_INSERT if are_new else _POSTGRES_UPSERT
        connection.exec_driver_sql(statement, _passed(rows))


def _passed(rows: Sequence[_Row]) -> tuple[Any, ...]:
    """Return the arguments of `_POSTGRES_INSERT` for points of one run and attempt."""
    number_of: dict[str, int] = {}
    names = [number_of.setdefault(row.name, len(number_of) + 1) for row in rows]
    columns = (
        names,
        [row.step for row in rows],
        [row.value for row in rows],
        [row.time_s for row in rows],
        [row.tokens for row in rows],
    )
    arrays = (f"{{{orjson.dumps(column).decode()[1:-1]}}}" for column in columns)
    return (rows[0].run_id, list(number_of), rows[0].attempt, *arrays)


def _events(lines: Iterable[MetricLine], attempt: int, *, n_names: int) -> list[NewEvent]:
    """Make events of these lines, which ascend in step, of a run with `n_names` metrics."""
    by_step = [list(of_step) for _, of_step in groupby(lines, lambda line: line.step)]
    size = max(1, LARGEST_EVENT // max(1, n_names))
    parts = (by_step[first : first + size] for first in range(0, len(by_step), size))
    return [_event([line for of_step in part for line in of_step], attempt) for part in parts]


def _event(lines: Sequence[MetricLine], attempt: int) -> NewEvent:
    times = [line.time for line in lines]
    where: dict[str, Any] = {
        "steps": _spans(line.step for line in lines),
        "times": [min(times), max(times)],
    }
    if attempt == OUTSIDE_ATTEMPT:
        # Each stands at the time of the trainer, so time does not tell two requests apart.
        where["names"] = sorted({name for line in lines for name in line.values})
    n_values = sum(len(line.values) for line in lines)
    return NewEvent("metric", {"attempt": attempt, **where, "n": n_values})


def _spans(steps: Iterable[int]) -> list[list[int]]:
    """Ascending steps as `[first, last, stride]`: a trainer logs every step, or every tenth."""
    spans: list[list[int]] = []
    for step in steps:
        if spans and step - spans[-1][1] in (0, spans[-1][2]):
            spans[-1][1] = step
        elif spans and spans[-1][0] == spans[-1][1] >= step - _WIDEST_STRIDE:
            spans[-1][1:] = [step, step - spans[-1][0]]
        else:
            spans.append([step, step, 1])
    return spans


def _invalid(names: Collection[str]) -> NewEvent:
    message = (
        f"Did not store {plural(len(names), 'metric')} with an invalid name: {_some(names)}. A "
        "name has at most 100 characters: 1 to 5 words of letters, digits and _ @ . + - joined by "
        "/."
    )
    return _alert("metric_name", message)


def _surplus(names: Collection[str]) -> NewEvent:
    message = (
        f"A run may have {MOST_NAMES:,} metrics. {len(names):,} more "
        f"{'was' if len(names) == 1 else 'were'} left out: {_some(names)}. Report fewer names, "
        "such as a mean instead of a number for each item."
    )
    return _alert("metric_count", message)


def _some(names: Collection[str]) -> str:
    return ", ".join(sorted(name[:_LONGEST_NAME].replace("\0", "") for name in names)[:5])


def _alert(rule: str, message: str) -> NewEvent:
    return NewEvent("alert", {"level": "warning", "rule": rule, "message": message, "step": None})


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
    curves = levels.rewind(session, run_id, names, after_step)
    kept = {name: value for name, value in run.summary.items() if name not in names}
    run.summary = kept | _newest_values(session, run_id, names)
    extremes.renew(session, run, curves)
    run_events.append(session, run_id, [NewEvent("rewind", {"step": after_step})], at=at)


def told_after(session: Session, seqs: Mapping[str, int], *, limit: int) -> list[KeptEvent]:
    """What is told of these runs beyond a number of each: their events, `metric` with its points.

    Each run's come in order, at most `limit`, and fewer where they have many values; none only if
    there is none.
    """
    kept = [
        event
        for run_id, seq in seqs.items()
        for event in _bounded(run_events.after(session, run_id, seq, limit=limit))
    ]
    return _with_points(session, kept)


def history(
    session: Session, run_id: str, *, after: int, limit: int, types: Sequence[str]
) -> Listing[EventAnswer]:
    """A page of what is told of one run beyond a number; no types = all types."""
    found = run_events.after(session, run_id, after, limit=limit, types=types)
    kept = _bounded(found)
    is_last = len(kept) == len(found) < limit
    items = [EventAnswer.model_validate(event) for event in _with_points(session, kept)]
    return Listing(items=items, next_cursor=None if is_last else str(kept[-1].seq))


def _bounded(events: list[KeptEvent]) -> list[KeptEvent]:
    """Take as many of these events as are sent at once."""
    n_values = 0
    for number, (_, _, kind, data, _) in enumerate(events, start=1):
        n_values += data.get("n", len(data.get("values", ()))) if kind == "metric" else 0
        if n_values >= MOST_TOLD:
            return events[:number]
    return events


def _with_points(session: Session, events: Sequence[KeptEvent]) -> list[KeptEvent]:
    metrics = [event for event in events if event.type == "metric"]
    points = _points(session, [event for event in metrics if "steps" in event.data])
    for event in metrics:
        if "values" in event.data:
            # An event of before: one line with its values.
            line = {name: value for name, value in event.data.items() if name != "attempt"}
            points[event.run_id, event.seq] = [line]
    return [event._replace(data=_told(event, points)) for event in events]


def _told(event: KeptEvent, points: Mapping[_Event, list[dict[str, Any]]]) -> dict[str, Any]:
    if event.type != "metric":
        return event.data
    of_event = points.get((event.run_id, event.seq), [])
    return {"attempt": event.data.get("attempt"), "points": of_event}


def _points(session: Session, events: Sequence[KeptEvent]) -> dict[_Event, list[dict[str, Any]]]:
    """Read the points of each event's steps and attempt, in the form of a trainer's lines."""
    spans = [row for event in events for row in _asked(event)]
    if not spans:
        return {}
    found: defaultdict[_Event, list[dict[str, Any]]] = defaultdict(list)
    span, curve, point = given.rows(session, _SPAN, spans), MetricCurve, MetricPoint
    # The offset (none) has the names of a run found before its points, which would all be read.
    is_said = or_(span.c.name.is_(None), span.c.name == curve.name)
    spans_of_names = [one for one in span.c if one.name != "name"]
    of_run = select(*spans_of_names, curve.name)
    of_run = of_run.join(curve, and_(curve.run_id == span.c.run, is_said)).offset(0)
    asked = of_run.subquery("asked")
    rows = given.search(
        session,
        asked,
        (asked.c.run, asked.c.seq),
        (point.step, point.time_s, point.tokens, point.name, point.value),
        (
            point.run_id == asked.c.run,
            point.name == asked.c.name,
            point.step >= asked.c.first,
            point.step <= asked.c.last,
            (point.step - asked.c.first) % asked.c.stride == 0,
            point.attempt == asked.c.attempt,
            # What another line said of the same step is another event's.
            point.time_s >= asked.c.earliest,
            point.time_s <= asked.c.latest,
        ),
    )
    # Not by sorting all rows, which would stop every other thread until it is done.
    lines: defaultdict[tuple[Any, ...], dict[str, Any]] = defaultdict(dict)
    for *line, name, value in rows:
        lines[tuple(line)][name] = value
    for run_id, seq, step, time_s, count in sorted(lines):
        values = dict(sorted(lines[run_id, seq, step, time_s, count].items()))
        said = {"step": step, "time": time_s, "tokens": count, "values": values}
        found[run_id, seq].append(said)
    return dict(found)


def _asked(event: KeptEvent) -> Iterable[list[Any]]:
    """Yield the rows of `_SPAN` that ask for the points of an event."""
    low, high = event.data["times"]
    times = (low - abs(low) * _ONE_DIGIT, high + abs(high) * _ONE_DIGIT)
    for span, name in product(event.data["steps"], event.data.get("names", [None])):
        yield [event.run_id, name, event.data["attempt"], event.seq, *span, *times]
