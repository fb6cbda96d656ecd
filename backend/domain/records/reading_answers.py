"""Answers of a run to look at: those that are asked for, a page at a time.

Called by `backend.api.answers`, which has the file. Pure: lines in, answers out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from backend.schemas.records import EvaluatedRecord

# Bytes of lines that are read for a page, and that stand on it, beyond its first.
MOST_READ = 8 << 20
MOST_SHOWN = 4 << 20


@dataclass(frozen=True)
class Wanted:
    """Which answers: None = all. `set_name` "": those to the prompts of the run itself."""

    model: Literal["model", "baseline"] | None = None
    set_name: str | None = None
    passed: bool | None = None
    prompt_id: str | None = None

    def takes(self, answer: EvaluatedRecord) -> bool:
        """Whether this answer is asked for; what nobody judged has neither passed nor failed."""
        return (
            self.model in (None, answer.model)
            and self.set_name in (None, answer.set_name or "")
            and self.passed in (None, answer.passed)
            and self.prompt_id in (None, answer.prompt_id)
        )


class Part(NamedTuple):
    """A page of answers, each with its place, and where the next begins; None at the end."""

    answers: list[tuple[int, EvaluatedRecord]]
    offset: int | None


def part_of(lines: Iterable[bytes], offset: int, limit: int, wanted: Wanted) -> Part:
    """At most `limit` answers of the lines, which begin at `offset`.

    A page may have fewer, even none, before the end: so much is read of a file at once.
    """
    found: list[tuple[int, EvaluatedRecord]] = []
    began, shown = offset, 0
    for line in lines:
        if len(found) == limit or offset - began > MOST_READ:
            return Part(found, offset)
        answer = EvaluatedRecord.model_validate_json(line)
        if wanted.takes(answer):
            shown += len(line) if found else 0
            if shown > MOST_SHOWN:
                return Part(found, offset)
            found.append((offset, answer))
        offset += len(line)
    return Part(found, None)
