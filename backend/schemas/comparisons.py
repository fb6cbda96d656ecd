"""Comparisons, assignments and judgments as the API speaks of them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Body, Id, Label
from backend.schemas.records import Message
from backend.schemas.vocabulary import Verdict

MAX_RESPONSES = 9


class ComparisonBody(Body):
    """A comparison of responses to one prompt."""

    prompt_id: Id
    response_ids: list[Id] = Field(min_length=2, max_length=MAX_RESPONSES)
    judgments_required: int | None = Field(None, ge=1, le=100)


class ComparisonAnswer(ApiAnswer):
    """A comparison and how far it is."""

    id: str
    prompt_id: str
    response_ids: list[str]
    judgments_required: int
    judgments: int
    run_id: str | None
    created_at: datetime


class AssignedPrompt(ApiAnswer):
    """The prompt an annotator sees."""

    id: str
    messages: list[Message]


class AssignedResponse(ApiAnswer):
    """A response an annotator sees: no model, no score, no other's vote."""

    id: str
    content: str


class AssignedComparison(ApiAnswer):
    """What is to be ranked; `responses` stand in presented order."""

    id: str
    prompt: AssignedPrompt
    responses: list[AssignedResponse]


class AssignmentAnswer(ApiAnswer):
    """A lease on a comparison."""

    id: str
    comparison: AssignedComparison
    presented_order: list[str]
    expires_at: datetime


class JudgmentBody(Body):
    """A ranking: `tiers` best first, ties share a tier; each response in one place exactly."""

    tiers: list[Annotated[list[Id], Field(max_length=MAX_RESPONSES)]] = Field(
        default_factory=list, max_length=MAX_RESPONSES
    )
    unranked: list[Id] = Field(default_factory=list, max_length=MAX_RESPONSES)
    verdict: Verdict
    reasons: list[Label] = Field(default_factory=list, max_length=20)
    comment: str = Field("", max_length=10_000)
    active_ms: int | None = Field(None, ge=0, le=86_400_000)
    flags: list[Id] = Field(
        default_factory=list, max_length=MAX_RESPONSES, description="Responses flagged for review."
    )
    revise: bool = Field(
        False, description="True replaces an earlier judgment of this assignment by a new revision."
    )


class JudgmentAnswer(ApiAnswer):
    """A judgment as it is kept."""

    id: str
    assignment_id: str
    comparison_id: str
    user_id: str
    revision: int
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict
    reasons: list[str]
    flags: list[str]
    comment: str
    active_ms: int | None
    created_at: datetime


class AssignmentBody(Body):
    """What the client still has, so that leases lost in a reload come back before new ones."""

    held: list[Id] | None = Field(
        None,
        max_length=100,
        description="Assignments that the client still has at hand; null = always lease a new one.",
    )
    offline: bool = Field(
        False,
        description="True if the client may be without a network: the lease can be renewed for 8 "
        "hours instead of 2.",
    )


class SkipBody(Body):
    """Why a comparison is passed on."""

    reason: str = Field(min_length=1, max_length=200)


class AnnotationProgress(ApiAnswer):
    """Where this annotator stands in a project."""

    mine: int = Field(description="Judgments by this annotator.")
    mine_today: int
    done: int = Field(description="Judgments by everybody.")
    wanted: int = Field(description="Judgments required in total.")
    available: int = Field(description="Comparisons this annotator could still be given.")


class AnnotatorReport(ApiAnswer):
    """What one annotator's judgments look like; null where there is too little to say."""

    user_id: str
    name: str
    judgments: int
    first_shown_rate: float | None
    longer_rate: float | None
    tie_rate: float | None
    self_consistency: float | None
    median_active_s: float | None


class AgreementAnswer(ApiAnswer):
    """Krippendorff's alpha over comparisons with at least two judgments, with its 95 % interval."""

    alpha: float | None
    interval: tuple[float, float] | None
    comparisons: int
    annotators: list[AnnotatorReport]
