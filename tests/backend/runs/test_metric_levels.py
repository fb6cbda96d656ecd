"""Levels and windows of curves: on any axis, after any story, what a scan of the points finds."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from backend.errors import InvalidInput
from backend.schemas.metrics.curves import Series
from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import curves, levels, points
from backend.store.metrics.curves import Axis, Window
from backend.store.tables.metrics import MetricPoint
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.scanned_levels import check_levels
from tests.backend.runs.test_outside_points import add_run

AXES: tuple[Axis, ...] = ("step", "tokens", "time", "relative")


class Point(NamedTuple):
    """A point of a curve as a test knows it."""

    step: int
    tokens: int
    time: float
    value: float | None

    def x(self, axis: Axis, origin: float) -> float:
        """Where the point lies on an axis."""
        if axis == "relative":
            return self.time - origin
        return {"step": self.step, "tokens": self.tokens, "time": self.time}[axis]


def store(database: Database, run_id: str, told: Sequence[Point], *, size: int = 700) -> None:
    """The relay's batches."""
    for first in range(0, len(told), size):
        lines = [
            MetricLine(step=one.step, time=one.time, tokens=one.tokens, values={"loss": one.value})
            for one in told[first : first + size]
        ]
        with database.write() as session:
            points.append(session, run_id, 1, lines, at=AT)


def answer(database: Database, run_id: str, window: Window, *, exact: bool) -> Series | None:
    """The curve in a window."""
    with database.read() as session:
        found = curves.read(session, [run_id], ["loss"], window, exact=exact).series
    return found[0] if found else None


def values(series: Series, name: str) -> list[float | None]:
    """A column of the answer as values."""
    y = series.y
    return [None if one is None else y.low + y.unit * one for one in getattr(y, name)]


def check_window(database: Database, run_id: str, told: Sequence[Point], window: Window) -> None:
    """The answer is that of a scan: exactly, and within the stated precision."""
    origin = min(told, key=lambda one: one.step).time if told else 0
    low = -math.inf if window.from_ is None else window.from_
    high = math.inf if window.to is None else window.to
    inside = [one for one in told if low <= one.x(window.x, origin) <= high]
    series = answer(database, run_id, window, exact=True)
    if not inside:
        assert series is None
        return
    assert series is not None
    finite = [one.value for one in inside if one.value is not None]
    assert series.n == len(inside)
    assert sum(series.n_nan) == len(inside) - len(finite)
    assert sum(series.n_points) == len(inside)
    assert len(series.n_points) == len(series.x)
    ends = (finite[0], finite[-1]) if finite else (None, None)
    assert (series.first, series.newest) == ends
    assert all(a < b for a, b in zip(series.x, series.x[1:], strict=False))
    assert len(series.x) <= max(window.points, min(len(inside), 2 * window.points))
    assert series.x[-1] == max(one.x(window.x, origin) for one in inside)
    assert {*series.x} <= {one.x(window.x, origin) for one in inside}
    assert series.y.last[-1] == inside[-1].value
    lows = [one for one in series.y.min if one is not None]
    highs = [one for one in series.y.max if one is not None]
    assert (min(lows, default=None), max(highs, default=None)) == (
        min(finite, default=None),
        max(finite, default=None),
    )
    coarse = answer(database, run_id, window, exact=False)
    assert coarse is not None
    assert (coarse.x, coarse.n, coarse.n_nan) == (series.x, series.n, series.n_nan)
    assert (coarse.first, coarse.newest) == ends, "exact, whatever the numbers are rounded to"
    span = max(finite) - min(finite) if finite else 0.0
    for name in ("min", "max", "mean", "last"):
        for one, other in zip(getattr(series.y, name), values(coarse, name), strict=True):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert abs(one - other) <= span / 8192 + 1e-12 * abs(one)


def a_story(rng: random.Random, n: int) -> list[Point]:
    """Points of a run whose tokens stand still at times and whose clock has gone back once."""
    step, tokens, time = 0, 0, 1_700_000_000.0
    told = []
    for number in range(n):
        step += rng.choice([1, 1, 1, 2, 9])
        tokens += rng.choice([0, 100, 1000])
        time += rng.random() - (500.0 if number == n // 3 else 0.0)
        value = None if rng.random() < 0.05 else rng.gauss(0, 1)
        told.append(Point(step, tokens, time, value))
    return told


@pytest.mark.parametrize("seed_number", range(2))
def test_any_window_on_any_axis_is_that_of_a_scan(
    database: Database, seed: Seed, seed_number: int
) -> None:
    rng = random.Random(seed_number)
    told = a_story(rng, 3000)
    run_id = add_run(database, seed)
    store(database, run_id, told)
    cut = told[2500].step
    with database.write() as session:
        points.rewind(session, run_id, cut, at=AT)
    again = [one._replace(value=rng.gauss(5, 1)) for one in told[2501:2900]]
    store(database, run_id, again, size=90)
    # Late, and where others are already.
    late = [one._replace(value=9.0) for one in rng.sample(told[:2500], 20)]
    store(database, run_id, late)
    kept = {one.step: one for one in [*told[:2501], *again, *late]}
    points_now = [kept[step] for step in sorted(kept)]

    with database.read() as session:
        assert check_levels(session, run_id) > 500
    for axis in AXES:
        origin = points_now[0].time
        for _ in range(10):
            ends = sorted(one.x(axis, origin) for one in rng.sample(points_now, 2))
            low, high = rng.choice([ends, ends, [None, ends[1]], [ends[0], None], [None, None]])
            count = rng.choice([1, 7, 60, 1000])
            check_window(database, run_id, points_now, Window(axis, low, high, count))


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.integers(0, 5000), min_size=1, max_size=15),
    cuts=st.lists(st.integers(-1, 5000), max_size=3),
)
def test_levels_follow_appends_replays_and_rewinds_in_any_order(
    database: Database, seed: Seed, steps: list[int], cuts: list[int]
) -> None:
    run_id = add_run(database, seed)
    kept: dict[int, Point] = {}
    for number, step in enumerate(steps):
        batch = [Point(one, one, float(one), number + one / 7) for one in range(step, step + 150)]
        store(database, run_id, batch)
        kept |= {one.step: one for one in batch}
        if number < len(cuts):
            with database.write() as session:
                points.rewind(session, run_id, cuts[number], at=AT)
            kept = {at: one for at, one in kept.items() if at <= cuts[number]}
        with database.read() as session:
            check_levels(session, run_id)
    told = [kept[at] for at in sorted(kept)]
    check_window(database, run_id, told, Window("time", 100.5, 3000.0, 20))


def test_one_missing_value_among_thousands_is_seen(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    told = [Point(step, step, float(step), 1.0) for step in range(20_000)]
    told[12_345] = told[12_345]._replace(value=None)
    store(database, run_id, told, size=5000)

    series = answer(database, run_id, Window(points=200), exact=False)

    assert series is not None
    assert sum(series.n_nan) == 1
    place = series.n_nan.index(1)
    assert series.x[place - 1] < 12_345 <= series.x[place]


def test_curves_that_are_older_than_the_levels_are_caught_up_with(
    database: Database, seed: Seed
) -> None:
    run_id = add_run(database, seed)
    told = [Point(step, step, float(step), step / 7) for step in range(6000)]
    store(database, run_id, told, size=5000)
    with database.write() as session:
        levels.rewind(session, run_id, ["loss"], -1)
        assert check_levels(session, run_id) == 0
    check_window(database, run_id, told, Window("tokens", 17, 5500, 100))

    turns = 0
    with database.read() as session:
        (curve,) = levels.behind(session, 0, limit=10)
        assert levels.behind(session, curve.number, limit=10) == []
    while levels.is_behind(curve):
        with database.write() as session:
            curve = levels.catch_up(session, curve)
        turns += 1

    assert turns > 1
    with database.read() as session:
        assert check_levels(session, run_id) > 900
    check_window(database, run_id, told, Window("tokens", 17, 5500, 100))


def test_many_long_curves_are_drawn_with_fewer_buckets_each(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With three long curves and a short one, (300 - 2) / 3 buckets are left for each long one."""
    run_id = add_run(database, seed)
    lines = [
        MetricLine(
            step=step,
            time=float(step),
            tokens=step,
            values={name: float(step) for name in ["a", "b", "c", *["short"] * (step < 2)]},
        )
        for step in range(400)
    ]
    with database.write() as session:
        points.append(session, run_id, 1, lines, at=AT)
    monkeypatch.setattr(curves, "MOST_BUCKETS", 300)

    with database.read() as session:
        found = curves.read(session, [run_id], None, Window(points=200)).series
        assert [one.name for one in found] == ["a", "b", "c", "short"]
        assert [sum(one.n_points) for one in found] == [400, 400, 400, 2]
        assert all(40 < len(one.x) <= 99 for one in found[:3])
        assert len(found[3].x) == 2
        # Whoever saves values is told that they are too many.
        with pytest.raises(InvalidInput, match="602 buckets; at most 300"):
            curves.read(session, [run_id], None, Window(points=200), exact=True)
        monkeypatch.setattr(curves, "MOST_BUCKETS", 3)
        with pytest.raises(InvalidInput, match="4 buckets; at most 3"):
            curves.read(session, [run_id], None, Window(points=200))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e290, 1.7e308])
def test_values_of_any_size_are_told(database: Database, seed: Seed, scale: float) -> None:
    run_id = add_run(database, seed)
    told = [Point(step, step, float(step), scale * (-1) ** step) for step in range(300)]
    store(database, run_id, told)

    for count in (10, 200):
        series = answer(database, run_id, Window(points=count), exact=False)
        assert series is not None
        found = [one for one in values(series, "min") if one is not None]
        assert min(found) == pytest.approx(-scale)


def test_points_new_and_again_are_kept_to_the_last_bit(database: Database, seed: Seed) -> None:
    """A batch of new points, and one of which a curve, or a step of it, is there already."""
    numbers = [0.1, -0.0, 5e-324, 1.7976931348623157e308, -1e290, 1e16, None, 2 / 3, 7.0]
    most = 2**53
    run_id = add_run(database, seed)
    batches: list[dict[int, dict[str, float | None]]] = [
        {step: {"loss": one, "lr": step / 7} for step, one in enumerate(numbers)},
        {8: {"loss": 0.3, "kl": None}, most: {"loss": None, "kl": 0.7}},
    ]
    for batch in batches:
        lines = [
            MetricLine(step=step, time=1.7e9 + step / 3, tokens=most - 1, values=told)
            for step, told in batch.items()
        ]
        with database.write() as session:
            points.append(session, run_id, 1, lines, at=AT)

    expected = {
        (name, step): (value, 1.7e9 + step / 3, most - 1, 1)
        for batch in batches
        for step, told in batch.items()
        for name, value in told.items()
    }
    with database.read() as session:
        point = MetricPoint
        columns = (point.name, point.step, point.value, point.time_s, point.tokens, point.attempt)
        rows = session.execute(select(*columns).where(point.run_id == run_id)).all()
    assert {(name, step): tuple(rest) for name, step, *rest in rows} == expected
