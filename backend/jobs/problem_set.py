"""Making problems with known answers, as a job: the problems of `podium problems make`.

Whoever ordered it has begun its import (`backend.api.problem_sets`), so no other import into the
project comes between. All are made and wait in a file without a name; then they are written as an
import is, seen by nobody before whoever concludes the job completes it.
"""

import tempfile
import time
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import IO

from pydantic import BaseModel

from backend.domain.records.formats import read_row
from backend.errors import TooLarge
from backend.jobs import memory
from backend.jobs.import_file import Part, spooled, withdrawn_on_failure, write
from backend.jobs.work import JSON, Work
from backend.schemas.data import MadeLevel, ProblemSetBody
from backend.store.data import imports
from backend.store.data.import_rows import IMPORT_OUTCOME, ImportOutcome, NewImport
from backend.uploads.spool import folder_of, full_disk_is_no_space, require_space
from problems.drawing import TooMany
from problems.making import MADE
from problems.problem import Problem

# For making alone: 5,000 puzzles each of 5, 6, 7 and 8 people take 45 s of a processor.
LONGEST_S = 300.0
# Between two signs of life of the import: others withdraw one without any after a minute.
_LIVE_S = 10.0
_THEN = "ask for the problems again"


class ProblemSetArguments(BaseModel):
    """What to make, for whom, and where it goes."""

    project_id: str
    user_id: str
    body: ProblemSetBody


@dataclass
class _Level:
    """The problems of a level: how many were made, why not more, and what became of them."""

    level: int
    made: int
    reason: str | None
    outcome: ImportOutcome = field(default_factory=ImportOutcome)


def problem_set(work: Work) -> dict[str, JSON]:
    """The work function; arguments: those of `ProblemSetArguments`.

    Progress in problems, of which each counts twice: when it is made and when it is written.
    Returns the import, the outcome that `imports.complete` wants, and what became of each level.
    Raises TooLarge beyond the limits of time and memory.
    """
    asked = ProblemSetArguments.model_validate(work.arguments)
    import_id = imports.of_job(work.job_id)
    new = NewImport(import_id, asked.project_id, asked.user_id, "prompts", "native")
    with withdrawn_on_failure(work, new.id):
        return _result(new, asked.body, _made_and_written(work, new, asked.body))


def _made_and_written(work: Work, new: NewImport, body: ProblemSetBody) -> list[_Level]:
    folder = folder_of(work.settings.data_dir)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with full_disk_is_no_space(then=_THEN), tempfile.TemporaryFile(dir=folder) as file:
        try:
            with memory.limited():
                levels = _make(work, body, file)
        except MemoryError as error:
            raise TooLarge(
                "making these problems takes more memory than it may have",
                advice="Ask for fewer problems of each level.",
            ) from error
        file.seek(0)
        total = sum(one.made for one in levels)
        parts = [Part(one.outcome, islice(file, one.made)) for one in levels]
        write(work, new, parts, lambda done: work.progress(total + done, 2 * total))
    return levels


def _make(work: Work, body: ProblemSetBody, file: IO[bytes]) -> list[_Level]:
    """Spool the problems of each level, numbered from 1."""
    levels: list[_Level] = []
    watch = _Watch(work, 2 * body.count * len(body.every_level))
    for level in body.every_level:
        require_space(folder_of(work.settings.data_dir), work.settings.min_free_bytes, then=_THEN)
        problems, reason = _of_level(body, level, watch)
        for number, problem in enumerate(problems, start=1 + watch.done):
            record = read_row("prompts", "native", problem.record)
            file.write(spooled("prompts", number, record))
        watch.done += len(problems)
        levels.append(_Level(level, len(problems), reason))
    return levels


def _of_level(
    body: ProblemSetBody, level: int, watch: "_Watch"
) -> tuple[list[Problem], str | None]:
    """The problems of a level, and why there are no more if fewer than asked for are found."""
    make = MADE[body.set].make
    try:
        return make(level, body.count, seed=body.seed, split=body.split, watch=watch), None
    except TooMany as error:
        return error.found, (
            f"only {len(error.found)} different problems were found for the {body.split} split; "
            "all of them were made"
        )


class _Watch:
    """Looks at each draw whether the making is wanted and has time left; `done`: in levels before.

    Raises Cancelled or TooLarge.
    """

    def __init__(self, work: Work, total: int) -> None:
        self._work, self._total = work, total
        self._began_at = self._lived_at = time.monotonic()
        self.done = 0

    def __call__(self, n_found: int) -> None:
        self._work.check()
        at = time.monotonic()
        if at - self._lived_at > _LIVE_S:
            self._lived_at = at
            with self._work.database.write() as session:
                imports.live(session, imports.of_job(self._work.job_id))
        if at - self._began_at > LONGEST_S:
            raise TooLarge(
                f"these problems were not made within {LONGEST_S:g} seconds",
                advice="Ask for fewer problems or levels at once.",
            )
        self._work.progress(self.done + n_found, self._total)


def _result(new: NewImport, body: ProblemSetBody, levels: list[_Level]) -> dict[str, JSON]:
    every = ImportOutcome()
    for one in levels:
        every.add(one.outcome)
    told = [
        MadeLevel(
            level=one.level,
            wanted=body.count,
            made=one.made,
            accepted=one.outcome.accepted,
            duplicates=one.outcome.duplicates,
            rejected=one.outcome.rejected_total,
            reason=one.reason,
        ).model_dump(mode="json")
        for one in levels
    ]
    outcome = IMPORT_OUTCOME.dump_python(every, mode="json")
    return {"new": asdict(new), "outcome": outcome, "levels": told}
