"""Importing a file, as a job: all of it is read and checked first, then written in short batches.

The good records wait in a file without a name until it is known that the file can be taken. What is
written is seen by nobody, and removed if it fails: the request that has asked for it completes the
import, in the transaction that checks its caller again (`backend.api.imports`).
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, TypeAdapter
from sqlalchemy.exc import SQLAlchemyError

from backend.domain.records.formats import read_row
from backend.domain.records.imported import (
    AnyInput,
    ComparisonInput,
    DemonstrationInput,
    PreferenceInput,
    PromptInput,
    SolutionInput,
)
from backend.errors import InvalidInput, TooLarge
from backend.jobs import memory
from backend.jobs.pace import SMALLEST, Pace
from backend.jobs.withdrawal import DeadImports, settle, withdraw
from backend.jobs.work import JSON, Work
from backend.machine.wall_clock import now
from backend.plural import plural
from backend.schemas.data import ImportFormat, ImportKind, ProblemSplit, PublishedSet
from backend.store.data import imports
from backend.store.data.import_rows import IMPORT_OUTCOME, ImportOutcome, NewImport
from backend.uploads.rows import decode, numbered, prepare
from backend.uploads.spool import full_disk_is_no_space, require_space
from problems.published.sets import WrongRecord, problem_of

# Rows between two looks at the disk and at whether anybody still waits.
_ROWS_BETWEEN = 2000
# Records after which the database looks at its tables anew.
MANY = 1000
# Of a batch, however small the records of the last one were.
_MOST_BYTES = 2 << 20
# Seconds between two looks at whether another import has ended.
_WAIT_S = 0.1

_SHAPES: dict[ImportKind, TypeAdapter[Any]] = {
    "prompts": TypeAdapter(PromptInput),
    "demonstrations": TypeAdapter(DemonstrationInput),
    "comparisons": TypeAdapter(ComparisonInput),
    "preferences": TypeAdapter(PreferenceInput),
    "solutions": TypeAdapter(SolutionInput),
}


class Published(BaseModel):
    """Which published set the rows are of, and what its readers are told beside."""

    set: PublishedSet
    split: ProblemSplit
    instruction: str


class ImportArguments(BaseModel):
    """An upload on disk and what to do with it."""

    import_id: str
    path: Path
    content_type: str
    project_id: str
    user_id: str
    kind: ImportKind
    format: ImportFormat
    strict: bool
    published: Published | None = None

    def new_import(self) -> NewImport:
        """The import as the store knows it."""
        return NewImport(self.import_id, self.project_id, self.user_id, self.kind, self.format)


def import_file(work: Work) -> dict[str, JSON]:
    """The work function; arguments: those of `ImportArguments`. Progress in rows, then records.

    Returns the outcome that `imports.complete` wants, as `IMPORT_OUTCOME` writes it. Raises
    InvalidInput or TooLarge for a file that cannot be taken, and then has kept nothing.
    """
    asked = ImportArguments.model_validate(work.arguments)
    with tempfile.TemporaryFile(dir=asked.path.parent) as kept, full_disk_is_no_space():
        try:
            with asked.path.open("rb") as file:
                prepare(file)
            with memory.limited():
                outcome, total = _read(work, asked, kept)
        except MemoryError as error:
            raise TooLarge(
                "reading the file takes more memory than an import may have: it holds very large "
                "values, or repeats them very often",
                advice="Split the file, or send JSONL (one JSON object per line).",
            ) from error
        _check_strict(asked, outcome)
        kept.seek(0)

        def look(done: int) -> None:
            _check_strict(asked, outcome)
            work.progress(done, total)

        new = asked.new_import()
        _begin(work, new)
        with withdrawn_on_failure(work, new.id):
            write(work, new, [Part(outcome, kept)], look)
    result: dict[str, JSON] = IMPORT_OUTCOME.dump_python(outcome, mode="json")
    return result


def settle_import(work: Work) -> dict[str, JSON]:
    """Count what a complete import has judged; a work function with the argument import_id."""
    settle(work.database, work.arguments["import_id"])
    return {}


def _read(work: Work, asked: ImportArguments, kept: IO[bytes]) -> tuple[ImportOutcome, int]:
    """Check every row and spool the good ones as (number, record); what was rejected, how many."""
    outcome, good, place = ImportOutcome(), 0, -1
    with asked.path.open("rb") as file:
        for place, (number, row, problem) in enumerate(decode(file, asked.content_type)):
            if place % _ROWS_BETWEEN == 0:
                work.check()
                work.progress(place, None)
                require_space(asked.path.parent, work.settings.min_free_bytes)
            try:
                record = _record(asked, row, problem)
            except InvalidInput as error:
                outcome.reject(number, error.detail)
                continue
            kept.write(spooled(asked.kind, number, record))
            good += 1
    if place < 0:
        raise InvalidInput(
            "the file has no rows", advice="Send a file with at least one record; see docs/data.md."
        )
    return outcome, good


def _record(asked: ImportArguments, row: object, problem: str | None) -> AnyInput:
    if problem is not None:
        raise InvalidInput(problem)
    if asked.published is not None:
        row = _of_published(asked.published, row)
    return read_row(asked.kind, asked.format, row)


def _of_published(published: Published, row: object) -> dict[str, object]:
    """The prompt that a record of a published set becomes."""
    if not isinstance(row, dict):
        raise InvalidInput("a record of a published set must be an object")
    split, instruction = published.split, published.instruction
    try:
        return problem_of(published.set, row, split=split, instruction=instruction).record
    except WrongRecord as error:
        raise InvalidInput(f"this is no record of {published.set}: {error}") from error


def _check_strict(asked: ImportArguments, outcome: ImportOutcome) -> None:
    if asked.strict and outcome.rejected_total:
        n, first = outcome.rejected_total, outcome.rejected[0]
        with asked.path.open("rb") as file:
            place = f"{numbered(file, asked.content_type)} {first.line}"
        raise InvalidInput(
            f"{plural(n, 'row was', 'rows were')} rejected, the first at {place}: {first.reason}",
            advice="Correct the file, or import with strict=false to take only the other rows.",
            rejected=[one.model_dump() for one in outcome.rejected],
            rejected_total=n,
        )


def spooled(kind: ImportKind, number: int, record: AnyInput) -> bytes:
    """A record with its number as a line of what waits to be written."""
    return b"%d\t%b\n" % (number, _SHAPES[kind].dump_json(record, exclude_defaults=True))


@dataclass(frozen=True)
class Part:
    """Records of an import, spooled, and what becomes of them."""

    outcome: ImportOutcome
    lines: Iterable[bytes]


class _Batches:
    """The spooled records in batches of any size."""

    def __init__(self, kind: ImportKind, lines: Iterable[bytes]) -> None:
        self._shape = _SHAPES[kind]
        self._lines = iter(lines)

    def next(self, size: int) -> list[tuple[int, AnyInput]]:
        """The next `size` records or fewer with their numbers, hashed already; none at the end."""
        batch, n_bytes = [], 0
        for line in islice(self._lines, size):
            batch.append(self._one(line))
            n_bytes += len(line)
            if n_bytes > _MOST_BYTES:
                break
        return batch

    def _one(self, line: bytes) -> tuple[int, AnyInput]:
        number, _, text = line.partition(b"\t")
        record: AnyInput = self._shape.validate_json(text)
        _hash(record)
        return int(number), record


def _hash(record: AnyInput) -> None:
    """Make the hashes that the record is known by, which takes time that no transaction has."""
    if isinstance(record, PreferenceInput):
        record = record.comparison
    if not isinstance(record, PromptInput):
        _ = record.prompt.content_sha256
    if not isinstance(record, DemonstrationInput):
        _ = record.content_sha256


@contextmanager
def withdrawn_on_failure(work: Work, import_id: str) -> Iterator[None]:
    """Withdraw an import that has begun on any exception."""
    try:
        yield
    except BaseException:
        withdraw(work.database, import_id)
        raise


def write(work: Work, new: NewImport, parts: Sequence[Part], look: Callable[[int], None]) -> None:
    """Write the parts of an import that has begun one after another, seen by nobody.

    After each batch `look` is told how many records are written.
    """
    # How long a record takes is not known before the first batch.
    at, pace, done = now(), Pace(SMALLEST), 0
    for part in parts:
        batches = _Batches(new.kind, part.lines)
        while batch := batches.next(pace.size):
            work.check()
            with work.database.write() as session:
                pace.began()
                part.outcome.add(imports.keep(session, new, batch, at=at))
            # Waiting for the writer makes no batch smaller and no pause longer.
            pace.ended()
            done += len(batch)
            look(done)
    if done >= MANY:
        # Plans alone depend on it, and the database does it by itself within a minute.
        with suppress(SQLAlchemyError):
            work.database.analyze(imports.TABLES)


def _begin(work: Work, new: NewImport) -> None:
    """Begin to write as soon as no other import writes into the project."""
    others = DeadImports(work.database)
    while True:
        if not others.look(new.project_id):
            with work.database.write() as session:
                if imports.begin(session, new, at=now()):
                    return
        work.check()
        time.sleep(_WAIT_S)
