"""What the responses to each prompt of a step scored, as the bytes in which it is kept; sums."""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

NOT_JUDGED = -1
_EACH = struct.calcsize("<IIIfi")


class PromptScore(NamedTuple):
    """What the responses to one prompt scored in a step, in numbers that bytes are made of.

    `score`: the mean over the `scored` of its `responses`; 0 where none could be scored. `passed`:
    how many of the responses were correct; NOT_JUDGED where nothing says it.
    """

    number: int
    responses: int
    scored: int
    score: float
    passed: int


def packed(scores: Iterable[PromptScore]) -> bytes:
    """Columns of 4 bytes each in the order of the numbers, by zlib; scores are float32."""
    rows = sorted(scores)
    n = len(rows)
    columns = [value for column in zip(*rows, strict=True) for value in column]
    return zlib.compress(struct.pack(f"<{n}I{n}I{n}I{n}f{n}i", *columns))


def unpacked(kept: bytes) -> Iterator[PromptScore]:
    """What `packed` was given, in the order of the numbers."""
    told = zlib.decompress(kept)
    n = len(told) // _EACH
    values = struct.unpack(f"<{n}I{n}I{n}I{n}f{n}i", told)
    columns = (values[place * n : (place + 1) * n] for place in range(5))
    return map(PromptScore._make, zip(*columns, strict=True))


class SummedScore:
    """What the responses to one prompt scored in several steps, up to `last_step`."""

    __slots__ = ("_passed", "_scored", "_total", "last_step", "responses")

    def __init__(self) -> None:
        self.last_step = self.responses = self._scored = 0
        self._total, self._passed = 0.0, NOT_JUDGED

    def add(self, step: int, one: PromptScore) -> None:
        """Add a later step."""
        self.last_step = step
        self.responses += one.responses
        self._scored += one.scored
        self._total += one.score * one.scored
        if one.passed != NOT_JUDGED:
            self._passed = max(self._passed, 0) + one.passed

    @property
    def score(self) -> float | None:
        """The mean over all that could be scored."""
        return self._total / self._scored if self._scored else None

    @property
    def passed(self) -> float | None:
        """The share of the responses that were correct."""
        is_judged = self._passed != NOT_JUDGED and self.responses > 0
        return self._passed / self.responses if is_judged else None
