"""From the run directory into the store: offsets, rewinds, and trainers that write rubbish."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from backend.store.metrics import prompt_scores
from backend.store.metrics.prompt_scores import Asked
from backend.store.runs import pins, supervision
from backend.store.runs.supervision import Claim, GivenAway
from backend.store.tables.metrics import Distribution, MetricPoint
from backend.store.tables.runs import Checkpoint, LogLine, Run, Sample
from tests.worker.floor import Floor
from tests.worker.stepped import SteppedDatabase
from worker.run_directory.layout import RunDirectory
from worker.run_directory.log_reading import MOST_LINES, LogReading, shorten, tail
from worker.run_directory.relay import (
    LARGEST_BATCH_VALUES,
    LONGEST_LINE_BYTES,
    Relay,
    parse,
    read_batch,
)


def claimed(floor: Floor, method: str = "sft") -> tuple[Claim, RunDirectory, Relay]:
    run_id = floor.new_run(method)
    with floor.database.write() as session:
        run = supervision.claim(session, run_id, "worker_me", at=datetime.now(UTC))
        assert run is not None
        claim = Claim(run.id, "worker_me", run.attempt)
    directory = RunDirectory(floor.settings.runs_dir, run_id)
    directory.begin_attempt(claim.attempt, None, 0)
    return claim, directory, Relay(floor.database, claim, directory)


def metric(step: int, **values: float | None) -> dict[str, object]:
    return {"type": "metric", "step": step, "time": 1.0, "tokens": step, "values": values}


def append(directory: RunDirectory, *lines: object) -> None:
    with directory.events.open("ab") as file:
        for line in lines:
            file.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")


def carry_all(relay: Relay) -> None:
    while relay.carry():
        pass


def points(floor: Floor, name: str = "loss") -> dict[int, float | None]:
    rows = floor.rows(select(MetricPoint).where(MetricPoint.name == name))
    return {row.step: row.value for row in rows}


def test_a_torn_line_waits_for_its_end_and_the_offset_is_stored_with_the_batch(
    floor: Floor,
) -> None:
    claim, directory, relay = claimed(floor)
    whole = json.dumps(metric(2, loss=0.5)).encode()
    append(directory, metric(1, loss=1.0), whole[:20])

    carry_all(relay)
    offset = floor.run(claim.run_id).relayed_bytes
    append(directory, whole[20:] + b"\n")
    carry_all(relay)

    assert offset == directory.events.stat().st_size - len(whole) - 1
    assert points(floor) == {1: 1.0, 2: 0.5}


def test_a_new_relay_goes_on_at_the_stored_offset(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    append(directory, metric(1, loss=1.0), {"type": "sample", "step": 1, "prompt": "p",
                                            "response": "r"})  # fmt: skip
    carry_all(relay)

    append(directory, metric(2, loss=2.0))
    carry_all(Relay(floor.database, claim, directory))

    assert points(floor) == {1: 1.0, 2: 2.0}
    assert len(floor.rows(select(Sample))) == 1


def test_a_batch_whose_commit_was_done_but_not_answered_is_stored_once(floor: Floor) -> None:
    claim, directory, _ = claimed(floor)
    database = SteppedDatabase(floor.database)
    relay = Relay(database, claim, directory)
    log = directory.attempt(1) / "stdout.log"
    sample = {"type": "sample", "step": 1, "prompt": "p", "response": "r"}
    append(directory, metric(1, loss=1.0), sample)
    log.write_text("one\ntwo\nthr")

    database.loses_answer = True
    with pytest.raises(OperationalError):
        relay.carry()
    append(directory, metric(2, loss=2.0))
    log.write_text("one\ntwo\nthree\n")
    carry_all(relay)

    assert points(floor) == {1: 1.0, 2: 2.0}
    assert len(floor.rows(select(Sample))) == 1
    lines = floor.rows(select(LogLine).order_by(LogLine.number))
    assert [line.text for line in lines] == ["one", "two", "three"]
    assert floor.told_steps(claim.run_id) == [1, 2]
    told = {kind: len(floor.events(claim.run_id, kind)) for kind in ("sample", "log")}
    assert told == {"sample": 1, "log": 3}


def test_a_batch_that_did_not_reach_the_store_is_stored_with_the_next(floor: Floor) -> None:
    claim, directory, _ = claimed(floor)
    database = SteppedDatabase(floor.database)
    relay = Relay(database, claim, directory)
    log = directory.attempt(1) / "stdout.log"
    append(directory, metric(1, loss=1.0))
    log.write_text("one\n")
    relay.carry()
    append(directory, metric(2, loss=2.0))
    log.write_text("one\ntwo\n")

    database.is_cut = True
    with pytest.raises(OperationalError):
        relay.carry()
    database.is_cut = False
    carry_all(relay)

    assert points(floor) == {1: 1.0, 2: 2.0}
    lines = floor.rows(select(LogLine).order_by(LogLine.number))
    assert [line.text for line in lines] == ["one", "two"]


def test_a_run_that_was_given_away_takes_no_line_any_more(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    append(directory, metric(1, loss=1.0))
    carry_all(relay)
    with floor.database.write() as session:
        session.execute(update(Run).where(Run.id == claim.run_id).values(attempt=2))

    append(directory, metric(2, loss=2.0))
    with pytest.raises(GivenAway):
        relay.carry()

    assert points(floor) == {1: 1.0}


def test_a_later_attempt_takes_back_what_lies_beyond_its_checkpoint(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    sample = {"type": "sample", "step": 3, "prompt": "p", "response": "r"}
    directory.checkpoint(2).mkdir(parents=True)
    append(
        directory,
        {"type": "start", "attempt": 1, "step": 0},
        *(metric(step, loss=float(step), early=1.0) for step in (1, 2, 3)),
        {"type": "checkpoint", "step": 2, "path": "checkpoints/step-2"},
        {"type": "checkpoint", "step": 3, "path": "checkpoints/step-3"},
        sample,
        metric(4, late=1.0),
    )
    carry_all(relay)

    append(directory, {"type": "start", "attempt": 2, "step": 2}, metric(3, loss=30.0))
    carry_all(relay)

    assert points(floor) == {1: 1.0, 2: 2.0, 3: 30.0}
    assert floor.rows(select(Sample)) == []
    assert [one.step for one in floor.rows(select(Checkpoint))] == [2]
    run = floor.run(claim.run_id)
    assert (run.checkpoint_step, run.step) == (2, 2)
    assert run.summary == {"loss": 30.0, "early": 1.0}
    assert [event.data for event in floor.events(claim.run_id, "rewind")] == [{"step": 2}]


def test_how_values_are_spread_is_stored_and_taken_back(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    one = {"bins": [4064], "counts": [3]}

    def spread(step: int, **values: object) -> dict[str, object]:
        return metric(step) | {"type": "distribution", "values": values}

    append(
        directory,
        {"type": "start", "attempt": 1, "step": 0},
        *(spread(step, reward=one) for step in range(1, 5)),
        spread(5, reward={"bins": [4064], "counts": []}),
        {"type": "start", "attempt": 2, "step": 2},
    )
    carry_all(relay)

    rows = floor.rows(select(Distribution))
    assert sorted((row.level, row.step) for row in rows) == [(0, 1), (0, 2)]
    (alert,) = floor.events(claim.run_id, "alert")
    assert "1 bins and 0 counts" in alert.data["message"]


def test_scores_of_prompts_are_stored_and_taken_back(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)

    def told(step: int, *scores: float | None) -> dict[str, object]:
        ids = ["prompt_0", "prompt_1"]
        columns = {"responses": [4, 4], "scored": [4, 4], "score": list(scores), "passed": [1, 2]}
        return {"type": "prompt_scores", "step": step, "prompt_ids": ids, **columns}

    append(
        directory,
        {"type": "start", "attempt": 1, "step": 0},
        *(told(step, step / 8, None) for step in range(1, 5)),
        told(5, 0.5),
        {"type": "start", "attempt": 2, "step": 2},
        told(3, 1.0, 1.0),
    )
    carry_all(relay)

    with floor.database.read() as session:
        answer = prompt_scores.read(session, claim.run_id, Asked())
    assert [(one.prompt_id, one.x, one.score) for one in answer.items] == [
        ("prompt_0", [1, 2, 3], [0.125, 0.25, 1.0]),
        ("prompt_1", [1, 2, 3], [None, None, 1.0]),
    ]
    assert [one.text for one in answer.items] == ["Question 0?", "Question 1?"]
    (alert,) = floor.events(claim.run_id, "alert")
    assert "expected one for each of the 2 prompts" in alert.data["message"]


def test_an_attempt_from_the_beginning_takes_back_step_zero_too(floor: Floor) -> None:
    _, directory, relay = claimed(floor)
    sample = {"type": "sample", "step": 0, "prompt": "p", "response": "r"}

    append(directory, {"type": "start", "attempt": 1, "step": 0}, sample, metric(0, loss=1.0))
    append(directory, {"type": "start", "attempt": 2, "step": 0}, sample, metric(0, loss=2.0))
    carry_all(relay)

    assert points(floor) == {0: 2.0}
    assert len(floor.rows(select(Sample))) == 1


def test_a_checkpoint_sets_the_count_of_crashes_back(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    with floor.database.write() as session:
        session.execute(update(Run).where(Run.id == claim.run_id).values(crashes=2))

    append(directory, {"type": "checkpoint", "step": 2, "path": "x", "best": True})
    carry_all(relay)

    assert floor.run(claim.run_id).crashes == 0
    assert floor.events(claim.run_id, "checkpoint")[0].data == {"step": 2, "is_best": True}


def checkpoints_of(floor: Floor) -> list[tuple[int, bool]]:
    rows = floor.rows(select(Checkpoint).order_by(Checkpoint.step))
    return [(row.step, row.is_pinned) for row in rows]


def test_checkpoints_that_came_and_went_within_one_batch_are_not_listed(floor: Floor) -> None:
    _, directory, relay = claimed(floor)
    directory.checkpoint(2).mkdir(parents=True)
    lines = [{"type": "checkpoint", "step": step, "path": "x"} for step in (1, 2, 3)]

    append(directory, *lines)
    carry_all(relay)

    # The newest is listed even before it is looked for on the disk.
    assert checkpoints_of(floor) == [(2, False), (3, False)]


def test_a_pin_that_came_too_late_is_said_so(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    directory.checkpoint(1).mkdir(parents=True)
    append(directory, {"type": "checkpoint", "step": 1, "path": "x"})
    carry_all(relay)
    with floor.database.write() as session:
        pins.pin(session, claim.run_id, 1, at=datetime.now(UTC))

    directory.checkpoint(1).rmdir()
    append(directory, {"type": "checkpoint", "step": 2, "path": "x"})
    carry_all(relay)

    assert checkpoints_of(floor) == [(2, False)]
    (alert,) = floor.events(claim.run_id, "alert")
    assert (alert.data["rule"], alert.data["step"]) == ("pinned_checkpoint", 1)
    assert "step 1 no longer exists" in alert.data["message"]


HOSTILE = [
    b"\n",
    b"not json\n",
    b'{"type":"metric"}\n',
    b'{"type":"unheard of","step":1}\n',
    b"[" * 100_000 + b"\n",
    b"[1,2,3]\n",
    b'"text"\n',
    b"\xff\xfe\x00\n",
    b'{"type":"metric","step":99999999999999999999,"time":1,"values":{"loss":1}}\n',
    b'{"type":"metric","step":-1,"time":1,"values":{"loss":1}}\n',
    b'{"type":"metric","step":' + b"9" * 5000 + b',"time":1,"values":{"loss":1}}\n',
    b'{"type":"metric","step":5,"time":1,"values":{"loss":"<script>"}}\n',
    json.dumps(metric(5, **{f"m{n}": 1.0 for n in range(2000)})).encode() + b"\n",
    b'{"type":"alert","level":"panic","rule":"x","message":"y"}\n',
    b'{"type":"start","attempt":"one","step":0}\n',
]


def test_rubbish_becomes_alerts_and_what_stands_around_it_is_stored(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)

    append(directory, metric(1, loss=1.0), *HOSTILE, metric(2, loss=2.0))
    carry_all(relay)

    assert points(floor) == {1: 1.0, 2: 2.0}
    alerts = floor.events(claim.run_id, "alert")
    assert len(alerts) == len(HOSTILE) - 1  # an empty line is nothing
    assert all(len(alert.data["message"]) < 2500 for alert in alerts)
    assert floor.run(claim.run_id).relayed_bytes == directory.events.stat().st_size


def test_characters_and_numbers_that_no_database_keeps_are_replaced(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)

    append(
        directory,
        b'{"type":"metric","step":1,"time":1,"values":{"loss":NaN,"a":1e999,"b":-Infinity}}\n',
        b'{"type":"sample","step":1,"prompt":"a\\u0000b","response":"\\ud800","scores":{"x":NaN}}\n',
        b'{"type":"start","attempt":1,"step":0,"environment":{"k\\u0000":"\\udfff","n":NaN}}\n',
        b'{"type":"progress","step":1,"steps":2,"phase":"a\\u0000","eta_s":null}\n',
        b'{"type":"alert","level":"info","rule":"\\u0000","message":"\\ud800"}\n',
    )
    carry_all(relay)

    assert points(floor) == {1: None}
    (sample,) = floor.rows(select(Sample))
    assert (sample.prompt, sample.response, sample.scores) == ("a\ufffdb", "?", {"x": None})
    assert floor.run(claim.run_id).environment == {"k\ufffd": "?", "n": None}


def test_complaints_are_bounded(sqlite_floor: Floor) -> None:
    claim, directory, relay = claimed(sqlite_floor)

    append(directory, *([b"rubbish\n"] * 1500))
    carry_all(relay)

    assert len(sqlite_floor.events(claim.run_id, "alert")) == 100


def test_a_line_without_end_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    good = json.dumps(metric(1, loss=1.0)).encode() + b"\n"
    path.write_bytes(b"x" * (LONGEST_LINE_BYTES + 10) + b"\n" + good)

    types, place = [], 0
    while (batch := read_batch(path, place)).end > place:
        types += [line.type for line in batch.lines]
        place = batch.end

    assert types == ["alert", "alert", "metric"]
    assert place == path.stat().st_size


def test_a_batch_holds_no_more_values_than_are_stored_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    wide = {f"v{n}": 1.0 for n in range(LARGEST_BATCH_VALUES // 5 * 2)}
    path.write_bytes(
        b"".join(json.dumps(metric(step, **wide)).encode() + b"\n" for step in range(5))
    )

    sizes, place = [], 0
    while (batch := read_batch(path, place)).end > place:
        sizes.append(len(batch.lines))
        place = batch.end

    assert sizes == [2, 2, 1]
    assert place == path.stat().st_size


def test_a_newer_trainer_may_say_more_than_we_understand() -> None:
    line = parse(b'{"type":"progress","step":1,"steps":2,"phase":"x","colour":"blue"}')

    assert line.type == "progress"


def test_logs_are_stored_line_by_line_within_limits(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    logs = directory.attempt(1)
    (logs / "stdout.log").write_text("one\ntwo\nthr")
    (logs / "stderr.log").write_bytes(b"10%\r50%\r100%\n\x1b[31mred\x1b[0m \xff\x00\n")

    carry_all(relay)
    (logs / "stdout.log").write_text("one\ntwo\nthree\n" + "y" * 5000)
    carry_all(relay)
    relay.carry(to_the_end=True)

    lines = floor.rows(select(LogLine).order_by(LogLine.number))
    said = [(line.stream, line.text) for line in lines]
    assert said == [
        ("stdout", "one"),
        ("stdout", "two"),
        ("stderr", "100%"),
        ("stderr", "red \ufffd\ufffd"),
        ("stdout", "three"),
        ("stdout", "y" * 2000),
    ]
    events = floor.events(claim.run_id, "log")
    assert [event.data["number"] for event in events] == [line.number for line in lines]


def test_a_flood_of_output_ends_with_a_pointer_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "stdout.log"
    path.write_text("x\n" * 10_000)
    reading = LogReading(path, "stdout")

    taken: list[str] = []
    while lines := reading.peek():
        taken += lines
        reading.accept(len(lines))

    assert len(taken) == MOST_LINES + 1
    assert "stdout.log" in taken[-1]


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "stderr.log"
    path.write_text("".join(f"line {number}\n" for number in range(10_000)))

    assert tail(path, lines=2) == "line 9998\nline 9999"
    path.write_text(path.read_text().removesuffix("\n"))
    assert tail(path, lines=2) == "line 9998\nline 9999"
    assert tail(tmp_path / "missing") == ""
    assert shorten("\x1b[2Kdone\r") == "done"
