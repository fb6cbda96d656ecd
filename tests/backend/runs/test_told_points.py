"""What a run's history tells of its points, joined when it is read: in the end what is there."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from backend.schemas.metrics.curves import OutsidePoint
from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import outside, points
from backend.store.runs import events
from backend.store.runs.events import KeptEvent, NewEvent
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import RunEvent
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.test_outside_points import add_run

Values = dict[tuple[str, int], float | None]


def line(step: int, **values: float | None) -> MetricLine:
    """A line of the trainer; its time and tokens follow from its step."""
    return MetricLine(step=step, time=time_of(step), tokens=step * 10, values=values)


def time_of(step: int) -> float:
    """Seconds since the epoch with as many digits as a clock gives."""
    return 1_790_000_000 + step / 7


def say(database: Database, run_id: str, *lines: MetricLine, attempt: int = 1) -> None:
    """One batch of the relay."""
    with database.write() as session:
        points.append(session, run_id, attempt, lines, at=AT)


def measure(database: Database, run_id: str, *measured: OutsidePoint) -> None:
    """One request with results from outside."""
    with database.write() as session:
        lines = outside.lines_of(session, run_id, measured, at=AT)
        outside.append(session, run_id, lines, at=AT)


def resume(database: Database, run_id: str, after_step: int) -> None:
    """The next attempt goes on after this step."""
    with database.write() as session:
        points.rewind(session, run_id, after_step, at=AT)


def told(database: Database, run_id: str, after: int = 0, limit: int = 500) -> list[KeptEvent]:
    """What a reader is told next."""
    with database.read() as session:
        return points.told_after(session, {run_id: after}, limit=limit)


def metrics(database: Database, run_id: str) -> list[dict[str, Any]]:
    """The data of all that is told of metrics."""
    return [event.data for event in told(database, run_id) if event.type == "metric"]


def rows(database: Database, run_id: str) -> list[dict[str, Any]]:
    """The same as it is kept."""
    wanted = select(RunEvent.data).where(RunEvent.run_id == run_id, RunEvent.type == "metric")
    with database.read() as session:
        return list(session.scalars(wanted.order_by(RunEvent.seq)))


class Reader:
    """Draws what it is told and takes back what a rewind voids, as the documentation says."""

    def __init__(self, database: Database, run_id: str) -> None:
        self._database = database
        self._run_id = run_id
        self._seq = 0
        self._drawn: dict[tuple[str, int], tuple[float | None, int]] = {}

    @property
    def values(self) -> Values:
        """What is drawn."""
        return {key: value for key, (value, _) in self._drawn.items()}

    def read(self, limit: int) -> bool:
        """Come back with the last number; whether there was anything."""
        page = told(self._database, self._run_id, self._seq, limit)
        for event in page:
            assert event.seq == self._seq + 1, "each number once and in order"
            self._seq = event.seq
            self._take(event.type, event.data)
        return bool(page)

    def _take(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "rewind":
            self._drawn = {
                key: drawn
                for key, drawn in self._drawn.items()
                if key[1] <= data["step"] or drawn[1] == 0
            }
        elif kind == "metric":
            for point in data["points"]:
                assert point["values"], "a point has a value"
                for name, value in point["values"].items():
                    self._drawn[name, point["step"]] = (value, data["attempt"])


def stored(database: Database, run_id: str) -> Values:
    """Every point that is there."""
    with database.read() as session:
        found = session.scalars(select(MetricPoint).where(MetricPoint.run_id == run_id))
        return {(point.name, point.step): point.value for point in found}


STEPS = st.integers(0, 12) | st.sampled_from([20, 30, 40, 10**6, 2**53])
NAMES = st.sampled_from(["loss", "reward/mean", "kl"])
NUMBERS = st.sampled_from([None, 0.25, -3.0, 1e300])
LINES = st.lists(
    st.builds(
        lambda step, later_s, values: MetricLine(
            step=step, time=time_of(step) + later_s, tokens=step * 10, values=values
        ),
        STEPS,
        st.integers(0, 2),
        st.dictionaries(NAMES, NUMBERS, max_size=3),
    ),
    max_size=8,
)
DEEDS = st.one_of(
    st.tuples(st.just("say"), LINES),
    st.tuples(st.just("say"), LINES),
    st.tuples(st.just("measure"), st.lists(STEPS, min_size=1, max_size=3)),
    st.tuples(st.just("resume"), st.integers(-1, 40)),
    st.tuples(st.just("read"), st.tuples(st.integers(0, 2), st.integers(1, 4))),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(DEEDS, max_size=14), size=st.sampled_from([1, 4, 2000]))
def test_readers_who_come_back_at_any_place_draw_what_is_there(
    database: Database, seed: Seed, deeds: list[tuple[str, Any]], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "LARGEST_EVENT", size)
        patch.setattr(points, "MOST_TOLD", 2 * size)
        run_id = add_run(database, seed)
        readers = [Reader(database, run_id) for _ in range(3)]
        attempt = 1
        for verb, what in deeds:
            if verb == "say":
                say(database, run_id, *what, attempt=attempt)
            elif verb == "measure":
                value = {"gold/score": what[0] / 7}
                measured = [OutsidePoint(step=step, values=value) for step in what]
                measure(database, run_id, *measured)
            elif verb == "resume":
                resume(database, run_id, what)
                attempt += 1
            else:
                readers[what[0]].read(limit=what[1])

        for reader in (*readers, Reader(database, run_id)):
            while reader.read(limit=5):
                pass
            assert reader.values == stored(database, run_id)


def test_an_event_keeps_steps_and_no_value(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)

    say(database, run_id, *(line(step, loss=step / 3, kl=0.1) for step in range(1, 401)))
    say(database, run_id, *(line(step, loss=0.5) for step in range(1000, 5000, 10)))

    assert rows(database, run_id) == [
        {"attempt": 1, "steps": [[1, 400, 1]], "times": [time_of(1), time_of(400)], "n": 800},
        {
            "attempt": 1,
            "steps": [[1000, 4990, 10]],
            "times": [time_of(1000), time_of(4990)],
            "n": 400,
        },
    ]
    dense, sparse = metrics(database, run_id)
    assert len(dense["points"]) == len(sparse["points"]) == 400
    assert sparse["points"][1] == {
        "step": 1010, "time": time_of(1010), "tokens": 10100, "values": {"loss": 0.5},
    }  # fmt: skip


def test_steps_in_any_order_are_told_in_theirs(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)

    say(database, run_id, *(line(step, loss=1.0) for step in (7, 1, 2, 3, 100, 50)))

    assert rows(database, run_id)[0]["steps"] == [[1, 3, 1], [7, 7, 1], [50, 50, 1], [100, 100, 1]]
    (data,) = metrics(database, run_id)
    assert [point["step"] for point in data["points"]] == [1, 2, 3, 7, 50, 100]


def test_two_lines_of_one_step_are_told_as_they_were_said(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    later = MetricLine(
        step=1, time=time_of(9), tokens=11, values={"eval/loss": float("nan"), "kl": 2.0}
    )

    say(database, run_id, line(1, loss=1.0, kl=1.0), later)

    (data,) = metrics(database, run_id)
    assert data["points"] == [
        {"step": 1, "time": time_of(1), "tokens": 10, "values": {"loss": 1.0}},
        {"step": 1, "time": time_of(9), "tokens": 11, "values": {"eval/loss": None, "kl": 2.0}},
    ]


def test_two_batches_about_one_step_are_told_apart(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)

    say(database, run_id, line(1, loss=1.0), line(2, loss=2.0))
    say(database, run_id, MetricLine(step=2, time=time_of(7), tokens=20, values={"eval/loss": 5.0}))

    values = [[point["values"] for point in data["points"]] for data in metrics(database, run_id)]
    assert values == [[{"loss": 1.0}, {"loss": 2.0}], [{"eval/loss": 5.0}]]


def test_results_attached_in_two_requests_are_told_apart(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    say(database, run_id, *(line(step, loss=1.0) for step in range(1, 4)))

    for name in ("gold/score", "gold/win_rate"):
        measure(database, run_id, *(OutsidePoint(step=s, values={name: 0.5}) for s in (1, 3)))

    _, first, second = (
        [point["values"] for point in data["points"]] for data in metrics(database, run_id)
    )
    assert (first, second) == ([{"gold/score": 0.5}] * 2, [{"gold/win_rate": 0.5}] * 2)


def test_a_void_point_is_not_told_again(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    say(database, run_id, *(line(step, loss=float(step)) for step in range(1, 6)))
    measure(database, run_id, OutsidePoint(step=4, values={"gold/score": 0.5}))
    resume(database, run_id, 2)
    say(database, run_id, line(3, loss=30.0), attempt=2)

    def steps(data: dict[str, Any]) -> list[int]:
        return [point["step"] for point in data["points"]]

    of_first, from_outside, of_second = metrics(database, run_id)
    assert (of_first["attempt"], steps(of_first)) == (1, [1, 2])
    assert (from_outside["attempt"], steps(from_outside)) == (0, [4])
    assert (of_second["attempt"], steps(of_second)) == (2, [3])

    resume(database, run_id, -1)
    assert [steps(data) for data in metrics(database, run_id)] == [[], [4], []]
    assert [event.seq for event in told(database, run_id)] == [1, 2, 3, 4, 5, 6]


def test_a_refused_name_is_told_in_an_alert_alone(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)

    say(database, run_id, line(1, **{"no name": 1.0}), line(2, loss=1.0))

    (data,) = metrics(database, run_id)
    assert [point["values"] for point in data["points"]] == [{"loss": 1.0}]
    assert [event.type for event in told(database, run_id)] == ["state", "metric", "alert"]


def test_a_long_batch_is_many_events_and_a_page_has_an_end(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    wide = {f"m/{number}": 1.0 for number in range(10)}
    # What has one name per line is counted as if it had all ten: later lines may fill it up.
    narrow = (line(step, loss=1.0) for step in range(10_000, 10_400))

    say(database, run_id, *(line(step, **wide) for step in range(10_000)))
    say(database, run_id, *narrow)

    kept = rows(database, run_id)
    assert [data["n"] for data in kept] == [2000] * 50 + [181, 181, 38]
    first = told(database, run_id)
    assert len(first) == 1 + 1  # as many as have two thousand values, and the run's beginning
    reader = Reader(database, run_id)
    while reader.read(limit=500):
        pass
    assert reader.values == stored(database, run_id)
    assert len(json.dumps(first[1].data)) < 500_000


def test_several_runs_are_told_at_once(database: Database, seed: Seed) -> None:
    one, other, quiet = (add_run(database, seed) for _ in range(3))
    for run_id, value in ((one, 1.0), (other, 2.0)):
        say(database, run_id, *(line(step, loss=value) for step in (1, 2)))
    say(database, other, line(3, loss=3.0))

    with database.read() as session:
        found = points.told_after(session, {one: 0, other: 2, quiet: 1}, limit=500)

    assert [(event.run_id, event.seq, event.type) for event in found] == [
        (one, 1, "state"), (one, 2, "metric"), (other, 3, "metric"),
    ]  # fmt: skip
    values = [[point["values"]["loss"] for point in event.data["points"]] for event in found[1:]]
    assert values == [[1.0, 1.0], [3.0]]


def test_what_was_written_with_its_values_is_told_as_it_was(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    said = {"step": 3, "time": 1.0, "tokens": 30, "values": {"loss": 0.5, "kl": None}}
    with database.write() as session:
        events.append(session, run_id, [NewEvent("metric", {**said, "attempt": 1})], at=AT)
    say(database, run_id, line(4, loss=0.25))

    again = {"step": 4, "time": time_of(4), "tokens": 40, "values": {"loss": 0.25}}
    assert metrics(database, run_id) == [
        {"attempt": 1, "points": [said]},
        {"attempt": 1, "points": [again]},
    ]


def test_a_page_of_the_history_goes_on_where_it_was_cut(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(points, "MOST_TOLD", 3)
    run_id = add_run(database, seed)
    for step in range(1, 8):
        say(database, run_id, line(step, loss=1.0))
    resume(database, run_id, 7)

    pages: list[list[int]] = []
    after: str | None = "0"
    while after is not None:
        with database.read() as session:
            page = points.history(session, run_id, after=int(after), limit=500, types=())
        pages.append([event.seq for event in page.items])
        after = page.next_cursor

    assert pages == [[1, 2, 3, 4], [5, 6, 7], [8, 9]]
