"""What a reward term gets to see of a response, and what it says of it. Does nothing itself.

Every other file of this folder, but for `scorer` and `trained`, is the reward term of its name: its
`build` makes a Score of the term's settings.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.tokens import Tokens


@dataclass(frozen=True)
class SampledResponse:
    """A response as token ids (after its prompt) and as text without special tokens.

    `prompt` is the text of the prompt; `reference`, `tags` and `metadata` are what its record says
    of it.
    """

    tokens: Tokens
    text: str
    finish_reason: FinishReason
    prompt: str = ""
    reference: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


# What every right response answers, however it is written.
RIGHT = "the reference"


@dataclass(frozen=True, slots=True)
class Grade:
    """What a term says of one response.

    `score` is not finite where the term could not score the response: that is the grader's fault,
    for a response that cannot be read scores 0. `passed`: whether the response is correct, None
    where the term does not judge that; one that a judging term could not score has not passed.
    `why`: in a few words, why it did not pass or has no score. `answer`: what the response answers,
    as a vote counts it; None where it answers nothing or the term reads no answer. `may_change`:
    the grader itself failed, so another try may say something else.
    """

    score: float
    passed: bool | None = None
    why: str = ""
    answer: str | None = None
    may_change: bool = False


# One grade per answer, in their order.
Score = Callable[[Sequence[SampledResponse]], list[Grade]]


@runtime_checkable
class SlowScore(Protocol):
    """A Score whose graders work in other processes, while responses are still being sampled."""

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Grade these responses as any Score does; wait for what was begun."""

    def begin(self, answer: SampledResponse) -> None:
        """Begin to grade an answer that will be asked for; one that is not may never be."""

    def forget(self) -> None:
        """Give up what was begun: nobody will ask for it."""


@runtime_checkable
class FoundJudge(Protocol):
    """A Score whose grades alone show whether it judges correctness; a checkpoint keeps `judges`.

    It becomes true with the first grade that says whether a response passed, and stays true.
    """

    judges: bool

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Grade these responses as any Score does."""


def measured(values: Iterable[float]) -> list[Grade]:
    """Scores that say nothing of correctness."""
    return [Grade(value) for value in values]
