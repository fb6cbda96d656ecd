"""What a reward term gets to see of a response. Read by every term; does nothing itself."""

from dataclasses import dataclass

from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.tokens import Tokens


@dataclass(frozen=True)
class SampledResponse:
    """A response as token ids (after its prompt) and as text without special tokens."""

    tokens: Tokens
    text: str
    finish_reason: FinishReason
