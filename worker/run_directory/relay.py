"""The relay from run directory to store: whole lines, each batch fenced and in one transaction.

Called by the supervisor while the trainer works and once more when it has ended. The byte offset is
stored with the batch, so a store that was away, an answer that was lost, or a supervisor that died
loses and doubles nothing. Nothing that a trainer writes raises: a line that cannot be understood
becomes an alert that says so.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError, StatementError
from sqlalchemy.orm import Session

from backend.machine.wall_clock import now
from backend.schemas.run_directory.events import (
    TRAINER_LINE,
    AlertLine,
    CheckpointLine,
    DistributionLine,
    MetricLine,
    ProgressLine,
    PromptScoresLine,
    SampleLine,
    StartLine,
    TrainerLine,
)
from backend.store.db import Database
from backend.store.group_commit import GroupCommit
from backend.store.metrics import distributions, points, prompt_scores
from backend.store.runs import checkpoints, events, logs, needs, samples, supervision
from backend.store.runs.events import NewEvent
from backend.store.runs.logs import Printed
from backend.store.runs.supervision import Claim
from backend.store.tables.runs import Run
from worker.outage import OUTAGES
from worker.run_directory.cleaning import clean, clean_text
from worker.run_directory.layout import RunDirectory
from worker.run_directory.log_reading import LogReading
from worker.run_directory.rewinding import rewind
from worker.run_directory.system_means import SystemMeans

LONGEST_LINE_BYTES = 4 * 2**20
LARGEST_BATCH_LINES = 500
# Metric values and bins of a batch: while it is stored, nobody else writes to SQLite.
LARGEST_BATCH_VALUES = 2000
# PostgreSQL lets all others write, and each batch costs it a dozen statements.
LARGEST_BATCH_VALUES_ON_POSTGRES = 5000
# Steps and tokens stay exact in JSON, Python and the browser up to here.
_LARGEST_COUNT = 2**53
_MOST_VALUES = 1000
_LONGEST_TEXT = 2000
_METRIC = b'{"type":"metric",'
# Refused lines and other complaints that are stored per attempt; the rest is only counted.
MOST_REFUSALS = 100

_Line = TypeVar("_Line")


@dataclass(frozen=True)
class Batch:
    """What was read between two byte offsets."""

    lines: list[TrainerLine]
    start: int
    end: int


@dataclass
class _Segment:
    """Lines between two `start` lines, by type."""

    start: StartLine | None = None
    lines: list[TrainerLine] = field(default_factory=list)

    def of(self, kind: type[_Line]) -> list[_Line]:
        return [line for line in self.lines if isinstance(line, kind)]


class Relay:
    """One attempt's events and logs on their way into the store."""

    def __init__(
        self,
        database: Database,
        claim: Claim,
        directory: RunDirectory,
        group: GroupCommit | None = None,
    ) -> None:
        """`group` are the relays of this worker, which share a transaction if they come at once."""
        self._database = database
        self._group = group
        self._claim = claim
        self._directory = directory
        self._most_values = (
            LARGEST_BATCH_VALUES if database.is_sqlite else LARGEST_BATCH_VALUES_ON_POSTGRES
        )
        # What the machine had to do, told between the lines of the trainer.
        self.system = SystemMeans()
        # None = only the store knows how far it has got.
        self._place: int | None = None
        self._logs: list[LogReading] = []
        self._refusals = 0

    def _readings(self, attempt: int, stored: Mapping[str, int]) -> list[LogReading]:
        """The logs of an attempt, from behind the lines that are stored."""
        folder = self._directory.attempt(attempt)
        readings = [LogReading(folder / f"{name}.log", name) for name in ("stdout", "stderr")]
        for reading in readings:
            reading.skip(stored.get(reading.stream, 0))
        return readings

    def carry_logs_left_behind(self) -> None:
        """Store what earlier attempts printed here in their last moments, when nobody read it.

        Raises GivenAway, or an outage of the store, after which it may be called again.
        """
        for attempt in range(1, self._claim.attempt):
            with self._database.read() as session:
                stored = logs.counts(session, self._claim.run_id, attempt)
            printed: list[Printed] = []
            for reading in self._readings(attempt, stored):
                while lines := reading.peek(to_the_end=True):
                    printed += [Printed(reading.stream, line) for line in lines]
                    reading.accept(len(lines))
            if printed:
                with self._database.write() as session:
                    run = supervision.hold(session, self._claim)
                    logs.append(session, run.id, attempt, printed, at=now())

    def carry(self, *, to_the_end: bool = False) -> bool:
        """Store one batch; whether there was anything.

        Raises GivenAway, or an outage of the store, after which it may be called again.
        """
        try:
            return self._carry(to_the_end)
        except OUTAGES:
            # A commit may have been done all the same, and its answer lost.
            self._place = None
            raise

    def _carry(self, to_the_end: bool) -> bool:
        place = self._find_place()
        batch = read_batch(self._directory.events, place, self._most_values)
        system = self.system.after(batch.lines)
        if system is not None:
            batch = replace(batch, lines=[*batch.lines, system])
        printed = [(log, log.peek(to_the_end=to_the_end)) for log in self._logs]
        if not batch.lines and batch.end == batch.start and not any(ls for _, ls in printed):
            return False
        self._store(batch, [Printed(log.stream, line) for log, ls in printed for line in ls])
        self._place = batch.end
        self.system.stored()
        for log, lines in printed:
            log.accept(len(lines))
        return True

    def _find_place(self) -> int:
        if self._place is None:
            with self._database.write() as session:
                # The lock waits for a commit that the server is still about to do.
                run = supervision.hold(session, self._claim)
                stored = logs.counts(session, run.id, run.attempt)
            self._logs = self._readings(self._claim.attempt, stored)
            self._place = run.relayed_bytes
        return self._place

    def _store(self, batch: Batch, printed: Sequence[Printed]) -> None:
        try:
            self._write(lambda session: self._keep(session, batch, printed))
        except OUTAGES:
            raise
        except (DataError, IntegrityError, ProgrammingError, StatementError, ValueError):
            # One line that the store cannot keep must not hold up all that follow it.
            self._write(lambda session: self._keep_singly(session, batch, printed))

    def _write(self, work: Callable[[Session], None]) -> None:
        if self._group is not None:
            self._group.write(work, by="Relay")
            return
        with self._database.write() as session:
            work(session)

    def _keep(self, session: Session, batch: Batch, printed: Sequence[Printed]) -> None:
        run = supervision.hold(session, self._claim)
        told = self._apply(session, run, batch.lines)
        self._end_batch(session, run, batch, printed, told)

    def _keep_singly(self, session: Session, batch: Batch, printed: Sequence[Printed]) -> None:
        run = supervision.hold(session, self._claim)
        for line in batch.lines:
            try:
                with session.begin_nested():
                    told = self._apply(session, run, [line])
                    events.append(session, run.id, told, at=now())
            except OUTAGES:
                raise
            except (
                DataError, IntegrityError, ProgrammingError, StatementError, ValueError
            ) as refused:  # fmt: skip
                message = (
                    f"A {line.type} line of events.jsonl was left out: the database refused its "
                    f"values ({type(refused).__name__})."
                )
                alert = AlertLine(level="warning", rule="event_line", message=message)
                events.append(session, run.id, self._warnings([alert]), at=now())
        self._end_batch(session, run, batch, printed, [])

    def _end_batch(
        self,
        session: Session,
        run: Run,
        batch: Batch,
        printed: Sequence[Printed],
        told: Sequence[NewEvent],
    ) -> None:
        run.relayed_bytes = batch.end
        said = logs.store(session, run.id, run.attempt, printed)
        # One statement for all of the batch: each writes the run's row anew.
        events.append(session, run.id, [*told, *said], at=now())

    def _apply(
        self, session: Session, run: Run, lines: Sequence[TrainerLine]
    ) -> Sequence[NewEvent]:
        """Store these lines; what is still to be told of them."""
        told: list[NewEvent] = []
        for segment in _segments(lines):
            if segment.start is not None:
                # What came before the start stands before it in the history.
                events.append(session, run.id, told, at=now())
                told = []
                _begin(session, run, segment.start)
            stored = points.store(session, run, run.attempt, segment.of(MetricLine))
            told += self._bounded(stored.events)
            distributions.append(session, run.id, segment.of(DistributionLine))
            prompt_scores.append(session, run.id, segment.of(PromptScoresLine))
            samples.append(session, run.id, run.attempt, segment.of(SampleLine), at=now())
            self._keep_checkpoints(session, run, segment.of(CheckpointLine))
            told += self._warnings(segment.of(AlertLine))
            told += _progress(run, segment.of(ProgressLine))
        return told

    def _keep_checkpoints(
        self, session: Session, run: Run, lines: Sequence[CheckpointLine]
    ) -> None:
        if not lines:
            return
        checkpoints.append(session, run, lines, at=now())
        # The newest is what a retry goes on from, even if the trainer is replacing it just now.
        here = {*self._directory.checkpoint_steps(), lines[-1].step}
        attempts = self._directory.attempts()
        needed = needs.checkpoint_steps(session, run.id)
        checkpoints.keep_only(session, run.id, here, attempts=attempts, needed=needed, at=now())

    def _bounded(self, told: Iterable[NewEvent]) -> Iterator[NewEvent]:
        """Yield these events; alerts, which can come with each batch, only so often."""
        for event in told:
            self._refusals += event.type == "alert"
            if event.type != "alert" or self._refusals <= MOST_REFUSALS:
                yield event

    def _warnings(self, lines: Iterable[AlertLine]) -> list[NewEvent]:
        found: list[NewEvent] = []
        for line in lines:
            if line.rule == "event_line":
                self._refusals += 1
            if line.rule == "event_line" and self._refusals > MOST_REFUSALS:
                continue
            data = {
                "level": line.level,
                "rule": clean_text(line.rule)[:100],
                "message": clean_text(line.message)[:2000],
                "step": line.step,
            }
            found.append(NewEvent("alert", data))
        return found


def read_batch(path: Path, start: int, most_values: int = LARGEST_BATCH_VALUES) -> Batch:
    """Whole lines from byte `start` on, a bounded number of them; nothing if there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(LONGEST_LINE_BYTES)
    except FileNotFoundError:
        return Batch([], start, start)
    if b"\n" not in data:
        if len(data) < LONGEST_LINE_BYTES:
            return Batch([], start, start)
        what = f"a line longer than {LONGEST_LINE_BYTES} bytes was left out"
        return Batch([_refusal(what)], start, start + len(data))
    whole = data[: data.rindex(b"\n") + 1].split(b"\n", LARGEST_BATCH_LINES)
    lines: list[TrainerLine] = []
    end, values = start, 0
    for line in whole[:-1]:
        parsed = parse(line) if line.strip() else None
        values += _n_values(parsed)
        if lines and values > most_values:
            break
        end += len(line) + 1
        if parsed is not None:
            lines.append(parsed)
    return Batch(lines, start, end)


def _n_values(line: TrainerLine | None) -> int:
    """Count the values that a line stores."""
    if isinstance(line, DistributionLine):
        return sum(len(histogram.bins) for histogram in line.values.values())
    if isinstance(line, PromptScoresLine):
        return len(line.prompt_ids)
    return len(line.values) if isinstance(line, MetricLine) else 0


def parse(line: bytes) -> TrainerLine:
    """The line, or an alert that says why it is none."""
    return _plain_metric(line) or _any(line)


def _plain_metric(line: bytes) -> MetricLine | None:
    """A metric as our trainer writes it, in a tenth of the time; None = look more closely."""
    if not line.startswith(_METRIC) or b"\\" in line or not line.isascii():
        return None
    try:
        parsed = MetricLine.model_validate_json(line)
    except ValidationError:
        return None
    return parsed if isfinite(parsed.time) and _out_of_range(parsed) is None else None


def _any(line: bytes) -> TrainerLine:
    try:
        value = clean(_DECODER.decode(line.decode("utf-8", "replace")))
        parsed = TRAINER_LINE.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return _refusal(f"{where}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return _refusal(f"not valid JSON: {error}")
    problem = _out_of_range(parsed)
    return parsed if problem is None else _refusal(problem)


def _no_number(_word: str) -> None:
    """Read NaN and infinities, which are no JSON, as an absent value."""


# Made once: `json.loads` with an option makes one for every line.
_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _out_of_range(line: TrainerLine) -> str | None:
    said = vars(line)
    for name in ("step", "steps", "tokens", "attempt"):
        count = said.get(name)
        if isinstance(count, int) and not 0 <= count <= _LARGEST_COUNT:
            return f"{name} is {str(count)[:40]}; expected 0 to 2^53"
    if isinstance(line, MetricLine) and len(line.values) > _MOST_VALUES:
        return f"a metric line has {len(line.values)} values; the limit is {_MOST_VALUES}"
    return None


def _refusal(why: str) -> AlertLine:
    message = f"A line of events.jsonl is not valid: {clean_text(why)[:_LONGEST_TEXT]}"
    return AlertLine(level="warning", rule="event_line", message=message)


def _segments(lines: Iterable[TrainerLine]) -> list[_Segment]:
    segments = [_Segment()]
    for line in lines:
        if isinstance(line, StartLine):
            segments.append(_Segment(start=line))
        else:
            segments[-1].lines.append(line)
    return segments


def _begin(session: Session, run: Run, line: StartLine) -> None:
    """An attempt goes on after its step: whatever an earlier one did beyond it is void."""
    at = now()
    if line.attempt > 1:
        # From the beginning means that step 0 comes again, too.
        rewind(session, run, line.step or -1, at=at)
    run.environment = line.environment
    run.step = line.step
    data = {"attempt": line.attempt, "step": line.step, "environment": line.environment}
    events.append(session, run.id, [NewEvent("start", data)], at=at)


def _progress(run: Run, lines: Sequence[ProgressLine]) -> list[NewEvent]:
    """Store the newest progress of a batch, a state and not a history; return it as an event."""
    if not lines:
        return []
    last = lines[-1]
    run.step, run.steps, run.phase, run.eta_s = last.step, last.steps, last.phase[:64], last.eta_s
    return [NewEvent("progress", last.model_dump(include={"step", "steps", "phase", "eta_s"}))]
