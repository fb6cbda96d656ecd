"""How values of steps are spread: whatever is appended and rewound, each level tells of it all."""

from collections import Counter
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from backend.domain.curves import histograms
from backend.schemas.run_directory.events import FIRST_BIN, LAST_BIN, DistributionLine, Histogram
from backend.store.db import Database
from backend.store.metrics import distributions
from backend.store.metrics.curves import Axis, Window
from backend.store.metrics.distributions import WIDTHS
from backend.store.tables.metrics import Distribution
from tests.backend.runs.conftest import Seed
from tests.backend.runs.test_metrics_api import append as append_metrics
from tests.backend.runs.test_metrics_api import line as metric
from tests.backend.runs.test_outside_points import add_run

ONE = 4064  # the bin of 1.0
Counts = dict[int, int]
counts = st.dictionaries(st.integers(ONE, ONE + 9), st.integers(1, 5), max_size=4)
steps = st.one_of(st.integers(0, 20), st.integers(0, 3000))


def line(step: int, **values: Counts) -> DistributionLine:
    """A line of the trainer; its time and tokens follow from its step."""
    told = {
        name: Histogram(bins=sorted(of_name), counts=[of_name[one] for one in sorted(of_name)])
        for name, of_name in values.items()
    }
    return DistributionLine(step=step, time=1000.0 + step, tokens=10 * step, values=told)


def say(database: Database, run_id: str, *lines: DistributionLine) -> None:
    """One batch of the relay."""
    with database.write() as session:
        distributions.append(session, run_id, lines)


def resume(database: Database, run_id: str, after_step: int) -> None:
    """The next attempt goes on after this step."""
    with database.write() as session:
        distributions.rewind(session, run_id, after_step)


def kept(database: Database, run_id: str) -> dict[tuple[int, str, int], tuple[int, Counts]]:
    """Last step and counts of every row, by level, name and first step."""
    with database.read() as session:
        rows = session.query(Distribution).filter_by(run_id=run_id).all()
    return {
        (row.level, row.name, row.step): (row.last_step, histograms.unpacked(row.histogram))
        for row in rows
    }


def by_hand(said: dict[tuple[str, int], Counts]) -> dict[tuple[int, str, int], tuple[int, Counts]]:
    """What is to be kept of these steps: each bucket that is past, added up from its steps."""
    newest = {name: max(step for other, step in said if other == name) for name, _ in said}
    found: dict[tuple[int, str, int], tuple[int, Counter[int]]] = {}
    for (name, step), of_step in said.items():
        for level, width in enumerate(WIDTHS):
            first = step // width * width
            if level == 0 or first + width <= newest[name] + 1:
                last, sums = found.get((level, name, first), (0, Counter()))
                found[level, name, first] = (max(last, step), sums + Counter(of_step))
    return {key: (last, dict(sorted(sums.items()))) for key, (last, sums) in found.items()}


batches = st.lists(st.tuples(steps, st.sampled_from(["reward", "length"]), counts), max_size=6)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.one_of(batches, st.integers(-1, 40)), max_size=8))
def test_every_level_is_the_sum_of_its_steps(
    database: Database, seed: Seed, orders: list[list[tuple[int, str, Counts]] | int]
) -> None:
    run_id = add_run(database, seed)
    said: dict[tuple[str, int], Counts] = {}
    for order in orders:
        if isinstance(order, int):
            resume(database, run_id, order)
            said = {key: value for key, value in said.items() if key[1] <= order}
        else:
            say(database, run_id, *(line(step, **{name: of}) for step, name, of in order))
            said |= {(name, step): of for step, name, of in order}

    assert kept(database, run_id) == by_hand(said)


def columns(database: Database, run_id: str, **window: Any) -> tuple[list[float], list[Counts]]:
    """The one spread of a run in a window."""
    with database.read() as session:
        (spread,) = distributions.read(session, run_id, Window(**window)).items
    found = [
        dict(zip(bins, of, strict=True))
        for bins, of in zip(spread.bins, spread.counts, strict=True)
    ]
    return spread.x, found


@pytest.mark.parametrize(
    ("axis", "scale", "origin"), [("step", 1, 0), ("tokens", 10, 0), ("time", 1, 1000)]
)
def test_a_window_comes_from_the_finest_level_that_fits_on_every_axis(
    database: Database, seed: Seed, axis: Axis, scale: int, origin: int
) -> None:
    run_id = add_run(database, seed)
    say(database, run_id, *(line(step, reward={ONE + step % 3: 1}) for step in range(1, 101)))

    def look(points: int, first: int | None = None, last: int | None = None) -> Any:
        ends = [None if end is None else origin + scale * end for end in (first, last)]
        found = columns(database, run_id, x=axis, from_=ends[0], to=ends[1], points=points)
        return [(x - origin) / scale for x in found[0]], found[1]

    assert look(100) == ([*range(1, 101)], [{ONE + step % 3: 1} for step in range(1, 101)])
    whole, sums = look(30)
    # Step 100 is in no bucket yet.
    assert whole == [*range(3, 100, 4), 100]
    assert sum(map(Counter, sums), Counter()) == Counter({ONE: 33, ONE + 1: 34, ONE + 2: 33})
    assert look(30, 20, 40)[0] == [*range(20, 41)]
    # A bucket that the window ends in is told, so that what is drawn reaches that end.
    assert look(10, 18, 37)[0] == [19, 23, 27, 31, 35, 39]
    assert look(5, 18, 37)[0] == [31, 47]
    # What is finer stands behind the last bucket.
    assert look(10)[0] == [15, 31, 47, 63, 79, 95, 99, 100]


def test_relative_time_begins_with_the_first_metric(
    api: TestClient, database: Database, seed: Seed
) -> None:
    run_id = add_run(database, seed)
    append_metrics(database, run_id, [metric(1, loss=1.0)])
    say(database, run_id, line(3, reward={ONE: 2}))

    answer = api.get(f"/runs/{run_id}/distributions", params={"x": "relative"}).json()

    assert answer == {
        "origin": 1001.0,
        "items": [{"name": "reward", "x": [2.0], "bins": [[ONE]], "counts": [[2]]}],
    }


def test_a_run_without_any_has_an_empty_answer(api: TestClient, seed: Seed) -> None:
    run_id = api.post("/runs", json=seed.body(seed.sft())).json()["id"]

    assert api.get(f"/runs/{run_id}/distributions").json() == {"origin": 0.0, "items": []}


def test_a_name_that_no_metric_may_have_is_left_out(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)

    say(database, run_id, line(1, **{"a//x": {ONE: 1}, "ok": {ONE: 1}}))

    assert {name for _, name, _ in kept(database, run_id)} == {"ok"}


@pytest.mark.parametrize(
    ("bins", "counted", "why"),
    [
        ([1], [1], "bin 1; expected 0, or"),
        ([LAST_BIN + 1], [1], "expected 0, or"),
        ([ONE, ONE], [1, 1], "do not ascend"),
        ([ONE], [1, 2], "1 bins and 2 counts"),
        ([ONE], [0], "greater than or equal to 1"),
        ([*range(FIRST_BIN, LAST_BIN)] * 3, [1], "at most"),
    ],
)
def test_what_is_no_histogram_is_refused(bins: list[int], counted: list[int], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Histogram(bins=bins, counts=counted)


@given(st.dictionaries(st.integers(-LAST_BIN, LAST_BIN), st.integers(1, 2**50)))
def test_what_is_packed_comes_back_in_order(given_counts: Counts) -> None:
    assert list(histograms.unpacked(histograms.packed(given_counts)).items()) == sorted(
        given_counts.items()
    )
