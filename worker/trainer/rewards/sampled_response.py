"""What a reward term gets to see of a response, and what it gives. Does nothing itself.

Every other file of this folder, but for `scorer` and `trained`, is the reward term of its name: its
`build` makes a Score of the term's settings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.tokens import Tokens


@dataclass(frozen=True)
class SampledResponse:
    """A response as token ids (after its prompt) and as text without special tokens."""

    tokens: Tokens
    text: str
    finish_reason: FinishReason


# One number per answer, in their order; not finite where the term could not score it.
Score = Callable[[Sequence[SampledResponse]], list[float]]
