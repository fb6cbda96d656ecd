"""Responses to be graded, made of a text and what is known of the prompt."""

from typing import Any

from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.tokens import Tokens
from worker.trainer.rewards.sampled_response import SampledResponse


def response(text: str, reference: str | None = None, **known: Any) -> SampledResponse:
    """A finished response."""
    tokens = Tokens([1], [2])
    return SampledResponse(tokens, text, FinishReason.STOP, reference=reference, **known)
