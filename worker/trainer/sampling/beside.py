"""Let slow reward terms begin with a response while others are still being sampled.

Used by whoever samples and then scores. Scoring later asks for what was begun, and for the rest.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.sampling.decoding import OnResponse, Response, ignore
from worker.trainer.sampling.prompts import Prompt, answer


class Grader(Protocol):
    """Who scores the responses in the end (`rewards.scorer.Scorer`)."""

    @property
    def is_slow(self) -> bool:
        """Whether anything is gained by beginning early."""

    def begin(self, answer: SampledResponse) -> None:
        """Begin to grade an answer that it will be asked for."""

    def forget(self) -> None:
        """Give up what was begun: nobody will ask for it."""


@contextmanager
def graded_beside(
    grader: Grader | None, prompts: Sequence[Prompt], tokenizer: PreTrainedTokenizerBase
) -> Iterator[OnResponse]:
    """Yield what an engine calls for each response to these prompts, to begin its grade.

    What was begun is forgotten where sampling does not come to its end.
    """
    if grader is None or not grader.is_slow:
        yield ignore
        return
    begin = grader.begin

    def on_response(place: int, response: Response) -> None:
        begin(answer(prompts[place], response, tokenizer))

    try:
        yield on_response
    except BaseException:
        grader.forget()
        raise
