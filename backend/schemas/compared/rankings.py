"""How the responses to a prompt were ranked: answers of the API."""

from datetime import datetime

from pydantic import Field

from backend.schemas.comparisons import AssignedPrompt, CriterionRankingAnswer
from backend.schemas.paging import ApiAnswer
from backend.schemas.vocabulary import Verdict


class RankedResponse(ApiAnswer):
    """A response of a comparison."""

    id: str
    content: str = Field(
        description="All of it, where one comparison was asked for; else its first 2,000 "
        "characters at most."
    )
    is_cut: bool = Field(description="Whether it has more.")


class GivenRanking(ApiAnswer):
    """How one person ranked a comparison; `tiers` best first, ties share a tier."""

    by: str | None = Field(
        description="The annotator's name; null for whoever may not see the members of the project."
    )
    is_own: bool
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict
    reasons: list[str] = Field(description="Why it cannot be judged.")
    rankings: list[CriterionRankingAnswer] = Field(
        description="One for each criterion that it was given under; `tiers` are the first one's."
    )
    flags: list[str] = Field(description="Responses that its annotator flagged for readers.")
    comment: str
    created_at: datetime


class RankedComparison(ApiAnswer):
    """A comparison with the judgments that count."""

    id: str
    run_id: str | None = Field(description="The run that made its responses, if one did.")
    created_at: datetime
    judgments_required: int
    prompt: AssignedPrompt | None = Field(
        description="All of it, where one comparison was asked for; else null."
    )
    responses: list[RankedResponse]
    judgments: list[GivenRanking]


class PromptRankings(ApiAnswer):
    """The comparisons of a prompt, the newest first; at most 20."""

    items: list[RankedComparison]
