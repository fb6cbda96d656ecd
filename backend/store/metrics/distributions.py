"""How values of each step are spread, with levels of buckets of 4, 16, 64, ... steps.

The worker's relay appends and rewinds inside its fenced transaction, `backend.api.metrics` reads.
A bucket is stored when its steps are past. What is asked of a run, at any zoom, is rows of one
level, and behind its last bucket those of finer ones, down to the newest steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import inf
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Integer, String, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.curves import histograms
from backend.schemas.metrics.distributions import DistributionsAnswer, Spread
from backend.schemas.run_directory.events import DistributionLine, Histogram
from backend.store import dialect, given
from backend.store.metrics import curves
from backend.store.metrics.curves import Axis, Window
from backend.store.metrics.points import is_name
from backend.store.tables.metrics import Distribution

# Steps of a bucket by level; level 0 are the steps themselves.
WIDTHS: tuple[int, ...] = tuple(4**level for level in range(10))

_KEY = ("run_id", "level", "name", "step")
_ASKED: given.Types = {"name": String(), "level": Integer(), "step": BigInteger()}
_AXES: Mapping[Axis, InstrumentedAttribute[Any]] = {
    "step": Distribution.last_step,
    "tokens": Distribution.tokens,
    "time": Distribution.time_s,
    "relative": Distribution.time_s,
}


class _Key(NamedTuple):
    """A bucket of a run; those of level 0 are steps."""

    name: str
    level: int
    step: int


class _Bucket(NamedTuple):
    """What is kept of it: its newest step, where that lies, and how values are spread."""

    last_step: int
    time_s: float
    tokens: int
    histogram: bytes


_Buckets = Mapping[_Key, _Bucket]


def append(session: Session, run_id: str, lines: Sequence[DistributionLine]) -> None:
    """Store lines, each step of a name once: the last that is said of it counts.

    A name that no metric may have is left out.
    """
    said = {
        _Key(name, 0, line.step): _of_line(line, histogram)
        for line in lines
        for name, histogram in line.values.items()
        if is_name(name)
    }
    if not said:
        return
    before = _newest(session, run_id, {key.name for key in said})
    _store(session, run_id, said)
    # Steps whose buckets may have changed, or may be past now: each bucket that was not past holds
    # the step that was the newest.
    steps = {(name, step) for name, _, step in said} | set(before.items())
    newest = {name: max(step for other, step in steps if other == name) for name, _ in steps}
    for level, width in enumerate(WIDTHS[1:], start=1):
        keys = {_Key(name, level, step // width * width) for name, step in steps}
        past = [key for key in keys if key.step + width <= newest[key.name] + 1]
        if not past:
            break
        _sum_up(session, run_id, past)


def _of_line(line: DistributionLine, told: Histogram) -> _Bucket:
    counts = dict(zip(told.bins, told.counts, strict=True))
    return _Bucket(line.step, line.time, line.tokens, histograms.packed(counts))


def _newest(session: Session, run_id: str, names: Iterable[str]) -> dict[str, int]:
    """The last step of each of these names; one that has none is left out."""
    of_run = (Distribution.run_id == run_id, Distribution.level == 0)
    step = select(Distribution.step).where(*of_run).order_by(Distribution.step.desc()).limit(1)
    found = {name: session.scalar(step.where(Distribution.name == name)) for name in names}
    return {name: newest for name, newest in found.items() if newest is not None}


def _sum_up(session: Session, run_id: str, keys: Iterable[_Key]) -> None:
    """Work these buckets out anew, from those of the level below."""
    parts = [
        _Key(name, level - 1, step + part * WIDTHS[level - 1])
        for name, level, step in keys
        for part in range(4)
    ]
    below = sorted(_found(session, run_id, parts).items())
    buckets: dict[_Key, _Bucket] = {}
    for key, children in groupby(below, key=lambda item: _above(item[0])):
        of_bucket = [bucket for _, bucket in children]
        counts = histograms.added(histograms.unpacked(one.histogram) for one in of_bucket)
        buckets[key] = of_bucket[-1]._replace(histogram=histograms.packed(counts))
    _store(session, run_id, buckets)


def _above(key: _Key) -> _Key:
    """The bucket of the next level that holds a bucket."""
    width = WIDTHS[key.level + 1]
    return _Key(key.name, key.level + 1, key.step // width * width)


def _found(session: Session, run_id: str, keys: Iterable[_Key]) -> _Buckets:
    asked = given.rows(session, _ASKED, keys)
    kept = Distribution
    inside = (
        kept.run_id == run_id,
        kept.name == asked.c.name,
        kept.level == asked.c.level,
        kept.step == asked.c.step,
    )
    whose = (asked.c.name, asked.c.level, asked.c.step)
    columns = [getattr(kept, name) for name in _Bucket._fields]
    rows = given.search(session, asked, whose, columns, inside)
    return {_Key(*row[:3]): _Bucket(*row[3:]) for row in rows}


def _store(session: Session, run_id: str, buckets: _Buckets) -> None:
    rows = [
        {"run_id": run_id, **key._asdict(), **bucket._asdict()} for key, bucket in buckets.items()
    ]
    statement = (sqlite if dialect.is_sqlite(session) else postgresql).insert(Distribution)
    anew = {name: statement.excluded[name] for name in _Bucket._fields}
    upsert = statement.on_conflict_do_update(index_elements=list(_KEY), set_=anew)
    session.connection().execute(upsert, rows)


def rewind(session: Session, run_id: str, after_step: int) -> None:
    """Forget what lies beyond a step, and each bucket that is no longer past."""
    names = _names(session, run_id)
    of_run = delete(Distribution).where(Distribution.run_id == run_id)
    session.execute(of_run.where(Distribution.level == 0, Distribution.step > after_step))
    newest = _newest(session, run_id, names)
    for level, width in enumerate(WIDTHS[1:], start=1):
        of_level = of_run.where(Distribution.level == level)
        for name in names:
            is_past = Distribution.step + width <= newest.get(name, -1) + 1
            session.execute(of_level.where(Distribution.name == name, ~is_past))


def _names(session: Session, run_id: str) -> list[str]:
    """What is logged of a run; found by its index without a look at every step."""
    names: list[str] = []
    of_run = (Distribution.run_id == run_id, Distribution.level == 0)
    first = select(Distribution.name).where(*of_run).order_by(Distribution.name).limit(1)
    while name := session.scalar(first.where(Distribution.name > (names[-1] if names else ""))):
        names.append(name)
    return names


def read(session: Session, run_id: str, window: Window) -> DistributionsAnswer:
    """How each name's values are spread in the window, in about `window.points` columns at most."""
    origin = curves.origins(session, [run_id]).get(run_id, 0.0) if window.x == "relative" else 0.0
    spreads = [
        _Reading(session, run_id, name, window, origin).spread() for name in _names(session, run_id)
    ]
    return DistributionsAnswer.model_construct(
        origin=origin, items=[spread for spread in spreads if spread.x]
    )


class _Reading:
    """One name in a window: the finest level whose buckets there are few enough."""

    def __init__(
        self, session: Session, run_id: str, name: str, window: Window, origin: float
    ) -> None:
        self._session, self._run_id, self._name = session, run_id, name
        self._origin, self._most = origin, window.points
        self._x = _AXES[window.x]
        self._low = -inf if window.from_ is None else window.from_ + origin
        self._high = inf if window.to is None else window.to + origin

    def spread(self) -> Spread:
        """Read the columns of the finest level that has few enough of them."""
        newest = _newest(self._session, self._run_id, [self._name])[self._name]
        level = next((one for one, width in enumerate(WIDTHS) if width > newest), len(WIDTHS) - 1)
        keys = self._keys(level, 0)
        while level > 0 and keys:
            closer = self._keys(level - 1, keys[0].step)
            if len(closer) > self._most:
                break
            level, keys = level - 1, closer
        return self._columns(keys)

    def _keys(self, level: int, first: int) -> list[_Key]:
        """The buckets of a level in the window from a step on, and what is finer behind them."""
        found: list[_Key] = []
        for finer in range(level, -1, -1):
            for step, x in self._places(finer, first):
                if x >= self._low:
                    found.append(_Key(self._name, finer, step))
                first = step + WIDTHS[finer]
                # The window ends in the first that is not before its end.
                if x >= self._high or len(found) > self._most:
                    return found
        return found

    def _places(self, level: int, first: int) -> Iterable[tuple[int, float]]:
        """First step and last x of the buckets of a level from a step on."""
        kept = Distribution
        inside = (
            kept.run_id == self._run_id,
            kept.name == self._name,
            kept.level == level,
            kept.step >= first,
        )
        found = select(kept.step, self._x).where(*inside).order_by(kept.step)
        return map(tuple, self._session.execute(found.limit(self._most + 5)))

    def _columns(self, keys: Sequence[_Key]) -> Spread:
        spread = Spread.model_construct(name=self._name, x=[], bins=[], counts=[])
        found = _found(self._session, self._run_id, keys) if keys else {}
        for key in keys:
            counts = histograms.unpacked(found[key].histogram)
            spread.x.append(getattr(found[key], self._x.key) - self._origin)
            spread.bins.append(list(counts))
            spread.counts.append(list(counts.values()))
        return spread
