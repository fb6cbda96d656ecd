"""Records as they come in, free of any file format: texts and places, no ids of ours.

Made by `backend.domain.records.formats`, kept by `backend.store.data.imports`.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backend.schemas.records import Message, SolutionStep, TokenIds
from backend.schemas.vocabulary import FinishReason, Verdict


@dataclass(frozen=True)
class PromptInput:
    """A conversation up to the point where a response is wanted."""

    messages: tuple[Message, ...]
    external_id: str | None = None
    reference: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def content_sha256(self) -> str:
        """Hash of the conversation alone: the same prompt is the same whatever it is called."""
        return hash_of([[turn.role, turn.content] for turn in self.messages])


@dataclass(frozen=True)
class ResponseInput:
    """A response to a prompt; `source` says who wrote it, `token_ids` as what it was sampled."""

    content: str
    finish_reason: FinishReason | None = None
    source: str = "import"
    token_ids: TokenIds | None = None


@dataclass(frozen=True)
class DemonstrationInput:
    """A response that a person wrote."""

    prompt: PromptInput
    response: str


@dataclass(frozen=True)
class ComparisonInput:
    """Responses to be ranked."""

    prompt: PromptInput
    responses: tuple[ResponseInput, ...]

    @cached_property
    def content_sha256(self) -> str:
        """Hash of the prompt and the responses in order."""
        return hash_of([self.prompt.content_sha256, [one.content for one in self.responses]])


@dataclass(frozen=True)
class CriterionInput:
    """A ranking under one criterion; places are indices into the comparison's responses."""

    criterion: str
    question: str
    tiers: tuple[tuple[int, ...], ...]
    unranked: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True)
class PreferenceInput:
    """A ranking somebody made; places are indices into the comparison's responses.

    With `rankings`, one for each criterion, it is the first of them.
    """

    comparison: ComparisonInput
    tiers: tuple[tuple[int, ...], ...]
    unranked: tuple[int, ...]
    verdict: Verdict
    annotator: str
    rankings: tuple[CriterionInput, ...] = ()
    presented_order: tuple[int, ...] = ()


@dataclass(frozen=True)
class SolutionInput:
    """A response in steps, each with a label in 0..1."""

    prompt: PromptInput
    steps: tuple[SolutionStep, ...]
    is_finished: bool = True

    @cached_property
    def content_sha256(self) -> str:
        """Hash of steps and labels: the same steps labelled otherwise are another solution."""
        return hash_of([[[one.content, one.label] for one in self.steps], self.is_finished])


AnyInput = PromptInput | DemonstrationInput | ComparisonInput | PreferenceInput | SolutionInput


def hash_of(value: Sequence[object]) -> str:
    """sha256 of a value as compact JSON."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
