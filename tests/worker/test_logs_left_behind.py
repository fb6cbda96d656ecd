"""What a trainer printed when its worker was dead already: the next attempt brings it home."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.runs import supervision
from backend.store.runs.supervision import Claim, Live
from backend.store.tables.runs import LogLine
from tests.worker.floor import Floor
from worker.run_directory.failures import LOST
from worker.run_directory.layout import RunDirectory
from worker.run_directory.log_reading import MOST_LINES, LogReading
from worker.run_directory.relay import Relay


def claim_again(floor: Floor, run_id: str) -> Claim:
    """The run as its next attempt, taken from whoever had it."""
    at = datetime.now(UTC)
    with floor.database.write() as session:
        for seen in supervision.live(session):
            supervision.take_back(session, Live(*seen), LOST.as_error(), at=at)
        for crashed in supervision.crashed(session):
            supervision.queue_again(session, crashed, at=at)
        run = supervision.claim(session, run_id, "worker_me", at=at)
        assert run is not None
        return Claim(run.id, "worker_me", run.attempt)


def test_the_next_attempt_stores_the_lines_that_nobody_had_read(floor: Floor) -> None:
    run_id = floor.new_run()
    directory = RunDirectory(floor.settings.runs_dir, run_id)
    first = claim_again(floor, run_id)
    logs = directory.attempt(first.attempt)
    logs.mkdir(parents=True)
    (logs / "stdout.log").write_text("one\ntwo\n")
    Relay(floor.database, first, directory).carry()
    (logs / "stdout.log").write_text("one\ntwo\nthree\nfo")
    (logs / "stderr.log").write_text("killed\n")

    second = Relay(floor.database, claim_again(floor, run_id), directory)
    second.carry_logs_left_behind()
    second.carry_logs_left_behind()

    lines = floor.rows(select(LogLine).order_by(LogLine.number))
    assert [(line.attempt, line.stream, line.text) for line in lines] == [
        (1, "stdout", "one"),
        (1, "stdout", "two"),
        (1, "stdout", "three"),
        (1, "stdout", "fo"),
        (1, "stderr", "killed"),
    ]
    told = [event.data["number"] for event in floor.events(run_id, "log")]
    assert told == [line.number for line in lines]


@pytest.mark.parametrize("stored", [0, 1, 1500, MOST_LINES, MOST_LINES + 1])
def test_a_reading_that_skips_goes_on_where_the_store_ends(tmp_path: Path, stored: int) -> None:
    path = tmp_path / "stdout.log"
    path.write_text("".join(f"line {number} {'x' * 60}\n" for number in range(3000)))

    def rest(reading: LogReading) -> list[str]:
        taken: list[str] = []
        while lines := reading.peek(to_the_end=True):
            taken += lines
            reading.accept(len(lines))
        return taken

    late = LogReading(path, "stdout")
    late.skip(stored)

    assert rest(late) == rest(LogReading(path, "stdout"))[stored:]
