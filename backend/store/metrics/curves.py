"""Curves: the metrics of runs, any part of them on any axis, in at most so many buckets each.

Where a window lies is looked up in the levels, coarse to fine, by what each bucket has on the axis;
a curve with few points there comes as it is, any other from the level whose buckets fit.
`backend.domain.curves.downsample` says how wide they are.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Float, FromClause, String, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.curves.downsample import EXACT, Columns, bucket_width, scale_of
from backend.errors import InvalidInput
from backend.schemas.metrics.curves import MetricsAnswer, Series, SeriesValues
from backend.store import dialect, given
from backend.store.metrics.buckets import last_of, point_sums
from backend.store.metrics.levels import TOP, WIDTHS, Span, cover
from backend.store.tables.metrics import MetricCurve, MetricLevel, MetricPoint
from backend.store.tables.runs import Run

# Of one answer: a run with 300 curves at the 1,000 points of a screen.
MOST_BUCKETS = 300_000
# A bucket is drawn as two points, its least and its greatest value: so many points need none.
POINTS_PER_BUCKET = 2

Axis = Literal["step", "tokens", "time", "relative"]

_SPAN: given.Types = {
    "curve": BigInteger(),
    "run": String(),
    "name": String(),
    "level": BigInteger(),
    "first": BigInteger(),
    "end": BigInteger(),
    "width": BigInteger(),
    "low": Float(),
    "high": Float(),
}
_OPEN = 1.7e308


@dataclass(frozen=True)
class Window:
    """What part of a curve is wanted, on which axis, in how many buckets at most.

    `from_` and `to` are inclusive, in units of the axis: steps, tokens, seconds since the epoch, or
    seconds since the run's first metric. `beginning`: only so many steps from where each curve
    begins; it needs borders in steps.
    """

    x: Axis = "step"
    from_: float | None = None
    to: float | None = None
    points: int = 1000
    beginning: int | None = None

    @property
    def is_in_steps(self) -> bool:
        """Whether the borders, if there are any, are steps."""
        return self.x == "step" or (self.from_ is None and self.to is None)


class _Columns(NamedTuple):
    """An axis in the tables."""

    point: InstrumentedAttribute[Any]
    least: InstrumentedAttribute[Any]
    most: InstrumentedAttribute[Any]


_TIME = _Columns(MetricPoint.time_s, MetricLevel.time_min, MetricLevel.time_max)
_AXES: dict[Axis, _Columns] = {
    "step": _Columns(MetricPoint.step, MetricLevel.step, MetricLevel.last_step),
    "tokens": _Columns(MetricPoint.tokens, MetricLevel.tokens_min, MetricLevel.tokens_max),
    "time": _TIME,
    "relative": _TIME,
}


@dataclass(frozen=True)
class _Curve:
    """A curve, and what of it is asked: borders on the axis, None if they are steps or open."""

    number: int
    run_id: str
    name: str
    sealed: int
    first: int
    end: int
    origin: float
    low: float
    high: float

    def row(self, span: Span, width: int = 1) -> list[Any]:
        """A row of `_SPAN`."""
        bounds = (self.low, self.high)
        return [self.number, self.run_id, self.name, *span, width, *bounds]


class _Piece(NamedTuple):
    """Some steps of a curve; of an edge, only the points within the borders are in the window."""

    first: int
    end: int
    is_edge: bool


Pieces = Mapping[int, Sequence[_Piece]]
Spans = Mapping[int, Sequence[Span]]
# First step, end, and whether it is an edge; None = outside of the window.
_Part = tuple[int, int, bool | None]


def read(
    session: Session,
    run_ids: Sequence[str],
    names: Sequence[str] | None,
    window: Window,
    *,
    exact: bool = False,
) -> MetricsAnswer:
    """The curves of these runs, `names` None = all; runs and names in the order they were asked.

    Values are told to 1/8192 of the range that a curve's answer has, or exactly. Curves that are to
    be drawn have fewer buckets where all of them would be too many.
    """
    known = _names(session, run_ids)
    wanted = known if names is None else list(dict.fromkeys(names))
    return _Reading(session, window, _curves(session, run_ids, wanted, window)).answer(
        run_ids, wanted, known, exact=exact
    )


def counts(session: Session, run_id: str, names: Sequence[str]) -> dict[str, int]:
    """How many points each of these metrics of a run has, those without any left out."""
    window = Window()
    known = {one.number: one for one in _curves(session, [run_id], names, window)}
    found = _Reading(session, window, [*known.values()]).counts()
    return {known[number].name: n for number, n in found.items() if n}


def _names(session: Session, run_ids: Sequence[str]) -> list[str]:
    # A run's summary has every name; a DISTINCT over its points would read them all.
    summaries = session.scalars(select(Run.summary).where(Run.id.in_(run_ids)))
    return sorted({name for summary in summaries for name in summary})


def _curves(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> list[_Curve]:
    """The curves that there are, with where they begin and end."""
    of_curve = (MetricPoint.run_id == MetricCurve.run_id, MetricPoint.name == MetricCurve.name)
    step = select(MetricPoint.step).where(*of_curve).limit(1).correlate(MetricCurve)
    found = select(
        MetricCurve.number,
        MetricCurve.run_id,
        MetricCurve.name,
        MetricCurve.sealed_step,
        step.order_by(MetricPoint.step).scalar_subquery(),
        step.order_by(MetricPoint.step.desc()).scalar_subquery(),
    ).where(MetricCurve.run_id.in_(run_ids), MetricCurve.name.in_(names))
    began = origins(session, run_ids) if window.x == "relative" else {}
    rows = session.execute(found).all()
    return [
        _bounded(window, began.get(run_id, 0), number, run_id, name, sealed, first, last)
        for number, run_id, name, sealed, first, last in rows
        if first is not None
    ]


def origins(session: Session, run_ids: Sequence[str]) -> dict[str, float]:
    """The time of each run's first metric."""
    of_curve = (MetricPoint.run_id == MetricCurve.run_id, MetricPoint.name == MetricCurve.name)
    time = select(MetricPoint.time_s).where(*of_curve).order_by(MetricPoint.step).limit(1)
    first = time.correlate(MetricCurve).scalar_subquery().label("time_s")
    curves = select(MetricCurve.run_id, first).where(MetricCurve.run_id.in_(run_ids)).subquery()
    found = select(curves.c.run_id, func.min(curves.c.time_s)).group_by(curves.c.run_id)
    return {run_id: time_s for run_id, time_s in session.execute(found) if time_s is not None}


def _bounded(
    window: Window,
    origin: float,
    number: int,
    run_id: str,
    name: str,
    sealed: int,
    first: int,
    last: int,
) -> _Curve:
    low = -math.inf if window.from_ is None else window.from_ + origin
    high = math.inf if window.to is None else window.to + origin
    if window.is_in_steps:
        first = max(first, math.ceil(low)) if low > first else first
        last = min(last, math.floor(high)) if high < last else last
        last = last if window.beginning is None else min(last, first + window.beginning - 1)
        low, high = -_OPEN, _OPEN
    low, high = max(low, -_OPEN), min(high, _OPEN)
    return _Curve(number, run_id, name, sealed, first, last + 1, origin, low, high)


class _Reading:
    """The statements of one answer: each asks for all of its curves."""

    def __init__(self, session: Session, window: Window, curves: Sequence[_Curve]) -> None:
        self._session = session
        self._window = window
        self._axis = _AXES[window.x]
        self._curves = {curve.number: curve for curve in curves}

    def answer(
        self, run_ids: Sequence[str], names: Sequence[str], known: list[str], *, exact: bool
    ) -> MetricsAnswer:
        pieces = self._pieces()
        counts = self._counts(pieces)
        if not exact:
            points = _fitting(counts.values(), self._window.points)
            self._window = replace(self._window, points=points)
        raw = self._raw(counts)
        found = dict(self._points(pieces, raw)) if raw else {}
        long = {number for number, n in counts.items() if n and number not in raw}
        if long:
            found |= dict(self._buckets(pieces, long))
        by_key = {(one.run_id, one.name): one for one in self._curves.values()}
        keys = ((run_id, name) for run_id in run_ids for name in names)
        curves = [by_key[key] for key in keys if key in by_key]
        series = [
            _series(curve, found[curve.number], exact=exact)
            for curve in curves
            if curve.number in found
        ]
        return MetricsAnswer.model_construct(series=series, names=known)

    def counts(self) -> Mapping[int, int]:
        """How many points of each curve are in the window."""
        return self._counts(self._pieces())

    def _raw(self, counts: Mapping[int, int]) -> set[int]:
        """The curves that come as they are. Raises InvalidInput for too large an answer."""
        points = self._window.points
        buckets = sum(min(n, points) for n in counts.values())
        if buckets > MOST_BUCKETS:
            raise InvalidInput(
                f"the answer would have {buckets:,} buckets; at most {MOST_BUCKETS:,} are allowed",
                advice="Ask for fewer points, names or runs.",
            )
        most = POINTS_PER_BUCKET * points
        if sum(min(n, most) for n in counts.values()) > MOST_BUCKETS:
            most = points
        return {number for number, n in counts.items() if 0 < n <= most}

    def _pieces(self) -> Pieces:
        """Where the window lies on each curve, in steps."""
        curves = [curve for curve in self._curves.values() if curve.first < curve.end]
        if self._window.is_in_steps:
            return {curve.number: [_Piece(curve.first, curve.end, False)] for curve in curves}
        found: defaultdict[int, list[_Part]] = defaultdict(list)
        open_spans: dict[int, list[Span]] = {
            curve.number: list(cover(curve.first, curve.end, TOP, curve.sealed)) for curve in curves
        }
        while open_spans:
            for number, spans in open_spans.items():
                found[number] += [(one.first, one.end, True) for one in spans if not one.level]
            open_spans = self._look(open_spans, found)
        return {number: _merged(parts) for number, parts in found.items()}

    def _look(self, spans: Spans, found: Mapping[int, list[_Part]]) -> dict[int, list[Span]]:
        """Sort the buckets of these spans; where to look closer, two levels further down."""
        closer: defaultdict[int, list[Span]] = defaultdict(list)
        columns = (MetricLevel.level, MetricLevel.step, self._axis.least, self._axis.most)
        for number, level, step, least, most in self._level_rows(spans, columns):
            curve, end = self._curves[number], step + WIDTHS[level]
            if most < curve.low or least > curve.high:
                found[number].append((step, end, None))
            elif curve.low <= least and most <= curve.high:
                found[number].append((step, end, False))
            else:
                closer[number].append(Span(max(0, level - 2), step, end))
        return dict(closer)

    def _counts(self, pieces: Pieces) -> dict[int, int]:
        """How many points of each curve are in the window."""
        counts: defaultdict[int, int] = defaultdict(int)
        spans = {number: self._covered(number, parts, TOP) for number, parts in pieces.items()}
        for is_points, total in ((False, func.sum(MetricLevel.n)), (True, func.count())):
            span = self._given(spans, of_points=is_points)
            if span is None:
                continue
            table = MetricPoint if is_points else MetricLevel
            inside = select(total).select_from(table)
            inside = inside.where(*self._inside(span, of_points=is_points))
            each = select(span.c.curve, inside.correlate(span).scalar_subquery())
            for number, count in self._session.execute(each):
                counts[number] += int(count or 0)
        return counts

    def _covered(self, number: int, parts: Iterable[_Piece], level: int) -> list[Span]:
        curve = self._curves[number]
        return [
            span
            for part in parts
            for span in cover(part.first, part.end, 0 if part.is_edge else level, curve.sealed)
        ]

    def _points(self, pieces: Pieces, raw: Iterable[int]) -> Iterator[tuple[int, Columns]]:
        spans = {
            number: [Span(0, part.first, part.end) for part in pieces[number]] for number in raw
        }
        span = self._given(spans, of_points=True)
        if span is None:
            return
        columns = (MetricPoint.step, self._axis.point, MetricPoint.value)
        inside = self._inside(span, of_points=True)
        rows = given.search(self._session, span, [span.c.curve], columns, inside)
        for number, group in _by_curve(rows):
            origin = self._curves[number].origin
            x = [row[2] - origin for row in group] if origin else [row[2] for row in group]
            yield number, Columns.of_points(x, [row[3] for row in group])

    def _buckets(self, pieces: Pieces, numbers: Iterable[int]) -> Iterator[tuple[int, Columns]]:
        spans: dict[int, list[Span]] = {}
        widths: dict[int, int] = {}
        for number in numbers:
            parts = pieces[number]
            first, last = parts[0].first, parts[-1].end - 1
            widths[number] = width = bucket_width(
                first, last, points=self._window.points, widths=(1, 2, 4, *WIDTHS[1:])
            )
            level = max(one for one in range(TOP + 1) if WIDTHS[one] <= width)
            spans[number] = self._covered(number, parts, level)
        kept = MetricLevel
        sums = (kept.n, kept.n_values, kept.min, kept.max, kept.total, kept.last)
        rows = list(self._level_rows(spans, (kept.last_step, self._axis.most, *sums)))
        rows += self._sums_of_points(spans, widths)
        by_curve = dict(_by_curve(rows))
        known = {number: [row[1] for row in of if row[4]] for number, of in by_curve.items()}
        oldest = self._at_end(known, widths, is_newest=False)
        newest = self._at_end(known, widths, is_newest=True)
        for number, group in by_curve.items():
            columns = _bucketed(group, widths[number], self._curves[number].origin)
            columns.first, columns.newest = oldest.get(number), newest.get(number)
            yield number, columns

    def _at_end(
        self, known: Mapping[int, Sequence[int]], widths: Mapping[int, int], *, is_newest: bool
    ) -> dict[int, float]:
        """A finite value of each curve; `known` has the last steps of its buckets with any."""
        spans: dict[int, list[Span]] = {}
        for number, steps in known.items():
            for last in steps[-1:] if is_newest else steps[:1]:
                begin = max(self._curves[number].first, last // widths[number] * widths[number])
                spans[number] = [Span(0, begin, last + 1)]
        span = self._given(spans, of_points=True)
        if span is None:
            return {}
        inside = (*self._inside(span, of_points=True), MetricPoint.value.is_not(None))
        order = MetricPoint.step.desc() if is_newest else MetricPoint.step.asc()
        value = select(MetricPoint.value).where(*inside).order_by(order).limit(1)
        found = value.correlate(span).scalar_subquery()
        return dict(self._session.execute(select(span.c.curve, found)).all())

    def _sums_of_points(self, spans: Spans, widths: Mapping[int, int]) -> Sequence[Any]:
        """Buckets of the points that no level has, in the shape of `_level_rows`."""
        span = self._given(spans, of_points=True, widths=widths)
        if span is None:
            return []
        sqlite = dialect.is_sqlite(self._session)
        sums = point_sums(span, *self._borders(span), sqlite=sqlite).subquery("sums")
        names = ("last_step", self._axis.most.key, "n", "n_values", "min", "max", "total")
        columns = (sums.c[name] for name in names)
        found = select(sums.c.curve, *columns, last_of(sums))
        return list(map(tuple, self._session.connection().execute(found).all()))

    def _level_rows(self, spans: Spans, columns: Sequence[Any]) -> Iterable[Any]:
        """The curve's number and columns of the buckets in these spans, in no order."""
        span = self._given(spans, of_points=False)
        if span is None:
            return ()
        inside = self._inside(span, of_points=False)
        return given.search(self._session, span, [span.c.curve], columns, inside)

    def _given(
        self, spans: Spans, *, of_points: bool, widths: Mapping[int, int] | None = None
    ) -> FromClause | None:
        rows = [
            self._curves[number].row(span, (widths or {}).get(number, 1))
            for number, some in spans.items()
            for span in some
            if (span.level == 0) == of_points
        ]
        return given.rows(self._session, _SPAN, rows) if rows else None

    def _inside(self, span: FromClause, *, of_points: bool) -> list[ColumnElement[bool]]:
        """Return the conditions that points or buckets inside a span fulfil."""
        point, kept = MetricPoint, MetricLevel
        if of_points:
            whose = [point.run_id == span.c.run, point.name == span.c.name, *self._borders(span)]
        else:
            whose = [kept.curve == span.c.curve, kept.level == span.c.level]
        step = point.step if of_points else kept.step
        return [*whose, step >= span.c.first, step < span.c.end]

    def _borders(self, span: FromClause) -> list[ColumnElement[bool]]:
        if self._window.is_in_steps:
            return []
        return [self._axis.point >= span.c.low, self._axis.point <= span.c.high]


def _fitting(counts: Collection[int], points: int) -> int:
    """How many buckets of each curve, one at least, are not too many for an answer."""

    def in_all(most: int) -> int:
        return sum(min(n, most) for n in counts)

    return max(1, bisect_right(range(1, points + 1), MOST_BUCKETS, key=in_all))


def _by_curve(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    """Rows that begin with a curve and a step, in this order."""
    found: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row)
    # One curve has a step once, so nothing behind it is compared.
    return ((number, sorted(group)) for number, group in found.items())


def _merged(parts: Iterable[_Part]) -> list[_Piece]:
    """Pieces in order, whole ones joined where nothing but empty steps lies between them."""
    found: list[_Piece] = []
    is_open = False
    for first, end, is_edge in sorted(parts, key=itemgetter(0)):
        if is_edge is None:
            is_open = False
        elif is_open and not is_edge:
            found[-1] = _Piece(found[-1].first, end, False)
        else:
            found.append(_Piece(first, end, is_edge))
            is_open = not is_edge
    return found


def _bucketed(rows: Iterable[Any], width: int, origin: float) -> Columns:
    """Rows of one curve in order of their last step, those of one bucket joined."""
    columns = Columns()
    bucket = -1
    for _, last_step, x, n, n_values, low, high, total, last in rows:
        at = last_step // width
        columns.add(x - origin, n, n_values, low, high, total, last, joins=at == bucket)
        bucket = at
    return columns


def _series(curve: _Curve, columns: Columns, *, exact: bool) -> Series:
    scale = EXACT if exact else scale_of(chain(columns.min, columns.max))
    mean = columns.mean()
    # The columns of points are one and the same.
    told = {id(one): scale.numbers(one) for one in (columns.min, columns.max, mean, columns.last)}
    values = SeriesValues.model_construct(
        low=scale.low,
        unit=scale.unit,
        min=told[id(columns.min)],
        max=told[id(columns.max)],
        mean=told[id(mean)],
        last=told[id(columns.last)],
    )
    return Series.model_construct(
        run=curve.run_id,
        name=curve.name,
        n=sum(columns.n),
        x=columns.x,
        n_points=columns.n,
        n_nan=columns.n_nan(),
        origin=curve.origin,
        first=columns.first,
        newest=columns.newest,
        y=values,
    )
