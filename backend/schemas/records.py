"""Lines of a snapshot, which are also the lines of `inputs/*.jsonl` in a run directory.

The store writes them, the worker copies them byte by byte, the trainer reads them; so the sha256 of
the snapshot and of the input file are one and the same.
"""

import operator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.schemas.numbers import Measured
from backend.schemas.vocabulary import FinishReason, Split, Verdict

MAX_RESPONSES = 9


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(_Record):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(max_length=200_000)


class PromptRecord(_Record):
    """One line of `prompts.jsonl`."""

    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    reference: str | None = None
    split: Split


class DemonstrationRecord(_Record):
    """One line of `demonstrations.jsonl`: the response is what the policy should say."""

    demonstration_id: str
    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    response: str
    split: Split


class ResponseRecord(_Record):
    """A response inside a preference."""

    id: str
    content: str
    finish_reason: FinishReason | None = None


class CriterionRecord(_Record):
    """The ranking of a preference under one criterion, and what the annotator was asked."""

    criterion: str = Field(min_length=1, max_length=40)
    question: str = Field(min_length=1, max_length=300)
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict


class PreferenceRecord(_Record):
    """One line of `preferences.jsonl`: one judgment, nothing merged, nothing dropped.

    `tiers` hold response ids, best first; ids of one tier are tied; ids in `unranked` were not
    placed. Verdicts other than `ranked` have no tiers and give no pair.

    A judgment that was given under criteria has all of them in `rankings`, and that of the
    snapshot's `criterion` in `tiers`, `unranked` and `verdict`, which runs learn from. Without
    criteria a line has neither.
    """

    judgment_id: str
    comparison_id: str
    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    responses: list[ResponseRecord] = Field(min_length=2, max_length=MAX_RESPONSES)
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict
    criterion: str = Field("", exclude_if=operator.not_)
    rankings: list[CriterionRecord] = Field(
        default_factory=list, max_length=5, exclude_if=operator.not_
    )
    annotator: str
    presented_order: list[str]
    split: Split


class SolutionStep(_Record):
    """One step of a solution; label 1 = right, 0 = wrong, in between = how likely right."""

    content: str = Field(min_length=1, max_length=200_000)
    label: float = Field(ge=0, le=1)


class SolutionRecord(_Record):
    """One line of `solutions.jsonl`: a response in steps, each of them labelled.

    `is_finished` False: the response goes on after its last step, which nobody labelled.
    """

    solution_id: str
    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    steps: list[SolutionStep] = Field(min_length=1, max_length=1000)
    is_finished: bool = True
    split: Split


class GeneratedRecord(_Record):
    """One line of `output/responses.jsonl`, written by `generate`."""

    prompt_id: str
    index: int = Field(ge=0)
    content: str
    finish_reason: FinishReason
    n_tokens: int = Field(ge=0)
    logp_sum: Measured = None
    ref_logp_sum: Measured = None
    scores: dict[str, Measured] = Field(default_factory=dict)
