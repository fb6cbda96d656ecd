"""The responses of a `generate` run on their way into the store: in short batches, seen by nobody.

Used by `worker.run_directory.intake`. All of it shows in the transaction that ends the run. What
comes to nothing, because the run failed or this worker died, the service removes a minute later,
as it does with imports.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.jobs.pace import SMALLEST, Pace
from backend.machine.wall_clock import now
from backend.schemas.records import GeneratedRecord
from backend.store.data import imports
from backend.store.data.comparisons import Choice
from backend.store.data.import_rows import ImportOutcome
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.tables.runs import Run
from worker.cancellation import Cancellation
from worker.outage import patiently
from worker.run_directory.cleaning import clean_text
from worker.run_directory.failures import bad_output

_LONGEST_RECORD_BYTES = 16 * 2**20
# Characters and token ids of a batch, however small the records of the last one were.
_LARGEST_BATCH = 2**20
# Seconds between two batches, at least: whoever calls the work off is heard.
_PAUSE_S = 0.001

_T = TypeVar("_T")


class Arrival:
    """What one run has sampled, and the comparisons that are made of it."""

    def __init__(self, database: Database, run: Run, path: Path, cancellation: Cancellation):
        """`path`: the file with the responses, whose lines were checked."""
        self._database = database
        self._run = run
        self._path = path
        self._cancellation = cancellation
        self._id = new_id("import")
        self._place = 0
        self._sums = ImportOutcome()

    def bring(self) -> None:
        """Write everything, seen by nobody. Raises Withdrawn: then another one has to begin anew.

        Waits for a store that is away. Raises InvalidInput for a response to a foreign prompt, and
        what `cancellation` raises.
        """
        at = now()
        self._write(lambda session: imports.begin_run(session, self._id, self._run, at=at))
        self._keep(imports.keep_responses, read_responses(self._path), _size, at)
        if self._run.config.get("make_comparisons", True):
            self._keep(imports.keep_comparisons, self._choices(), lambda _: 1, at)
            self._sums = self._read(lambda session: imports.counted(session, self._id))

    def complete(self, session: Session, run: Run) -> None:
        """Show everything, in the transaction that ends the run. Raises Withdrawn."""
        imports.complete_run(session, self._id, run, self._sums)

    def _keep(
        self,
        keep: Callable[..., None],
        every: Iterable[_T],
        size: Callable[[_T], int],
        at: datetime,
    ) -> None:
        """Write all of these in batches; one whose commit got no answer is not written twice."""
        rest, pace = iter(every), Pace(SMALLEST)
        while batch := _batch(rest, pace.size, size):
            self._cancellation.wait(_PAUSE_S)
            kept = partial(
                keep, import_id=self._id, run=self._run, batch=batch, place=self._place, at=at
            )
            self._write(kept, pace)
            self._place += len(batch)

    def _write(self, work: Callable[[Session], None], pace: Pace | None = None) -> None:
        def once() -> None:
            with self._database.write() as session:
                if pace is not None:
                    pace.began()
                work(session)

        patiently(once, self._cancellation.wait)
        if pace is not None:
            pace.ended()

    def _read(self, work: Callable[[Session], _T]) -> _T:
        def once() -> _T:
            with self._database.read() as session:
                return work(session)

        return patiently(once, self._cancellation.wait)

    def _choices(self) -> list[Choice]:
        """A reader that stays would keep the log of SQLite growing with all that is written."""
        return self._read(lambda session: list(imports.choices(session, self._id, self._run)))


def read_responses(
    path: Path, kind: type[GeneratedRecord] = GeneratedRecord
) -> Iterator[GeneratedRecord]:
    """The lines of `responses.jsonl`; raises RunFailed naming the first bad line."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LONGEST_RECORD_BYTES):
                number += 1
                yield _record(line, number, kind)
    except FileNotFoundError:
        raise bad_output("output/responses.jsonl is missing") from None


def _record(line: bytes, number: int, kind: type[GeneratedRecord]) -> GeneratedRecord:
    try:
        record = kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise bad_output(f"line {number} of responses.jsonl: {where} {first['msg']}") from error
    return record.model_copy(update={"content": clean_text(record.content)})


def _size(record: GeneratedRecord) -> int:
    n_ids = 0 if record.token_ids is None else len(record.token_ids.ids)
    return len(record.content) + n_ids


def _batch(rest: Iterator[_T], most: int, size: Callable[[_T], int]) -> list[_T]:
    """The next `most` of them, or fewer where they are large; none at the end."""
    batch, total = [], 0
    for one in islice(rest, most):
        batch.append(one)
        total += size(one)
        if total > _LARGEST_BATCH:
            break
    return batch
