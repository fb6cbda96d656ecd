"""Comparisons, criteria, assignments and judgments as the API speaks of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from backend.schemas.paging import ApiAnswer, Body, BodyPart, Id, Name, as_name
from backend.schemas.records import MAX_RESPONSES, Message
from backend.schemas.vocabulary import ReviewReason, Verdict

MOST_CRITERIA = 5
LONGEST_NAME = 40
LONGEST_QUESTION = 300
# Of one change; each of them is named.
MOST_COMPARISONS = 500

CriterionName = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(as_name)
]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION), AfterValidator(as_name)]


class Criterion(BodyPart):
    """What responses are ranked by, such as `helpful`, and what the annotator is asked."""

    name: CriterionName
    question: Question


def _with_own_names(criteria: Sequence[Criterion]) -> Sequence[Criterion]:
    names = [one.name.casefold() for one in criteria]
    twice = next((one.name for one in criteria if names.count(one.name.casefold()) > 1), None)
    if twice is not None:
        raise ValueError(f"two criteria are called {twice!r}; give each a name of its own")
    return criteria


Criteria = Annotated[
    list[Criterion],
    Field(
        max_length=MOST_CRITERIA,
        description="Each comparison is ranked by these, one after the other. Empty = once, as a "
        "whole. Judgments keep the criteria that they were given under.",
    ),
    AfterValidator(_with_own_names),
]
# Whose rankings are meant: left out, those under the project's first criterion; "", those that were
# given without criteria.
AskedCriterion = Annotated[
    str | None,
    Field(
        max_length=LONGEST_NAME,
        description="Rankings under this criterion. Left out: the project's first criterion if it "
        "has any. Empty: judgments that were given without criteria.",
    ),
]


class CriterionRanking(BodyPart):
    """A ranking under one criterion; `tiers` best first, ties share a tier."""

    criterion: CriterionName
    tiers: list[Annotated[list[Id], Field(max_length=MAX_RESPONSES)]] = Field(
        default_factory=list, max_length=MAX_RESPONSES
    )
    unranked: list[Id] = Field(default_factory=list, max_length=MAX_RESPONSES)
    verdict: Verdict
    reasons: list[Name] = Field(default_factory=list, max_length=20)


class CriterionRankingAnswer(ApiAnswer):
    """A ranking under one criterion as it is kept, with the question that was asked."""

    criterion: str
    question: str
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict
    reasons: list[str]


class ComparisonBody(Body):
    """A comparison of responses to one prompt."""

    prompt_id: Id
    response_ids: list[Id] = Field(min_length=2, max_length=MAX_RESPONSES)
    judgments_required: int | None = Field(None, ge=1, le=100)


class ComparisonsChange(Body):
    """More judgments for comparisons that are there; one that wants as many keeps what it wants."""

    judgments_required: int | None = Field(
        None,
        ge=1,
        le=100,
        description="How many judgments each of them wants at least. Left out: as many as the "
        "settings of the project say of new comparisons, overlap included.",
    )
    comparison_ids: list[Id] | None = Field(
        None,
        min_length=1,
        max_length=MOST_COMPARISONS,
        description="Which ones; wanted with `judgments_required`. Left out: all of the project.",
    )

    @model_validator(mode="after")
    def _says_how_many(self) -> Self:
        if self.comparison_ids is not None and self.judgments_required is None:
            raise ValueError(
                "found comparison_ids without judgments_required; say how many judgments each of "
                "them wants"
            )
        return self


class ComparisonsChanged(ApiAnswer):
    """What asking for more judgments has changed."""

    comparisons: int = Field(description="How many want more judgments than before.")
    judgments: int = Field(description="How many more these want together.")


class ComparisonAnswer(ApiAnswer):
    """A comparison and how far it is."""

    id: str
    prompt_id: str
    response_ids: list[str]
    judgments_required: int
    judgments: int
    run_id: str | None
    created_at: datetime


class ListedComparison(ComparisonAnswer):
    """A comparison in a list."""

    prompt: str = Field(description="The beginning of the last turn of its prompt.")


class AssignedPrompt(ApiAnswer):
    """The prompt an annotator sees."""

    id: str
    messages: list[Message]


class AssignedResponse(ApiAnswer):
    """A response an annotator sees: no model, no score, no other's judgment."""

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
    criteria: list[Criterion] = Field(
        description="What the comparison is ranked by, one after the other; empty = once, as a "
        "whole. A judgment answers all of them, also if the project changes them meanwhile."
    )
    presented_order: list[str]
    expires_at: datetime


class JudgmentBody(Body):
    """A ranking: `tiers` best first, ties share a tier; each response in one place exactly.

    Where the assignment has criteria, `rankings` has one for each of them, in place of `tiers`,
    `unranked`, `verdict` and `reasons`.
    """

    tiers: list[Annotated[list[Id], Field(max_length=MAX_RESPONSES)]] = Field(
        default_factory=list, max_length=MAX_RESPONSES
    )
    unranked: list[Id] = Field(default_factory=list, max_length=MAX_RESPONSES)
    verdict: Verdict | None = Field(None, description="Required unless there are `rankings`.")
    reasons: list[Name] = Field(default_factory=list, max_length=20)
    rankings: list[CriterionRanking] = Field(
        default_factory=list,
        max_length=MOST_CRITERIA,
        description="One for each criterion of the assignment, in any order.",
    )
    comment: str = Field("", max_length=10_000)
    active_ms: int | None = Field(None, ge=0, le=86_400_000)
    flags: list[Id] = Field(
        default_factory=list, max_length=MAX_RESPONSES, description="Responses flagged for review."
    )
    revise: bool = Field(
        False, description="True replaces an earlier judgment of this assignment by a new revision."
    )


class RevisionAnswer(ApiAnswer):
    """What an annotator said of a comparison in one revision.

    Given under criteria, its `tiers`, `unranked`, `verdict` and `reasons` are the first one's.
    """

    revision: int
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict
    reasons: list[str]
    rankings: list[CriterionRankingAnswer] = Field(
        description="One for each criterion that it was given under; empty = given without."
    )
    flags: list[str]
    comment: str
    created_at: datetime


class JudgmentAnswer(RevisionAnswer):
    """A judgment as it is kept."""

    id: str
    assignment_id: str
    comparison_id: str
    user_id: str
    active_ms: int | None
    review_reason: ReviewReason | None = Field(
        description="Why the judgment is kept for review and does not count: `late` = others had "
        "taken the comparison when it came, `differs` = its author had judged the comparison "
        "differently before; null = it counts."
    )


class ListedJudgment(JudgmentAnswer):
    """A judgment in a list, with what was judged."""

    by: str | None = Field(
        description="Name of its annotator; null for whoever may not see the members."
    )
    prompt: str = Field(description="The beginning of the last turn of the prompt.")
    responses: dict[str, str] = Field(description="How those begin that have a place or a flag.")


class CriterionCount(ApiAnswer):
    """How many judgments were given under a criterion."""

    criterion: str = Field(description="Its name; empty = judgments given without criteria.")
    judgments: int


class JudgmentCounts(ApiAnswer):
    """How many judgments a project has, and of these how many were given under each criterion.

    `criteria`: those of the project in their order, then others that judgments were given under
    before, then the judgments that were given without.
    """

    judgments: int = Field(description="Judgments that count, each in its last revision.")
    reviews: int = Field(description="Judgments kept for review; `judgments` is without them.")
    criteria: list[CriterionCount]


class SkipCount(ApiAnswer):
    """How many comparisons an annotator has skipped for a reason, and not judged since."""

    user_id: str
    by: str | None = Field(
        description="The annotator's name; null for whoever may not see the members of the project."
    )
    reason: str
    comparisons: int


class OwnJudgmentAnswer(RevisionAnswer):
    """One's own judgment with what was judged, as it was shown, and what one said before."""

    id: str
    assignment_id: str
    comparison: AssignedComparison
    review_reason: ReviewReason | None = Field(
        description="Why it is kept for review and does not count; null = it counts."
    )
    active_ms: int | None = Field(
        description="Milliseconds that its annotator spent on it, revisions included, as the client"
        " counted them; null = not counted."
    )
    earlier: list[RevisionAnswer] = Field(
        description="The revisions before this one, the newest first; at most 20."
    )


class AssignmentBody(Body):
    """What the client still has, so that leases lost in a reload come back before new ones."""

    held: list[Id] | None = Field(
        None,
        max_length=100,
        description="Assignments that the client still has at hand; null = always lease a new one. "
        "Leases of 8 hours that are not among them come back only with `offline`.",
    )
    offline: bool = Field(
        False,
        description="True if the client may be without a network: the lease lasts 8 hours "
        "instead of 15 minutes.",
    )


class LeaseEnd(Body):
    """A lease and when it expires, as the client was told last."""

    assignment_id: Id
    expires_at: AwareDatetime


class ReleaseBody(Body):
    """Leases that the client no longer needs."""

    leases: list[LeaseEnd] = Field(max_length=100)


class SkipBody(Body):
    """Why a comparison is passed on."""

    reason: Name


class AnnotationProgress(ApiAnswer):
    """Where this annotator stands in a project."""

    mine: int = Field(description="Judgments by this annotator.")
    mine_today: int = Field(description="Of these, since `day_start`, else since midnight UTC.")
    done: int = Field(description="Judgments by everybody.")
    wanted: int = Field(description="Judgments required in total.")
    available: int = Field(description="Comparisons this annotator could be given now.")
    open: int = Field(description="Comparisons of the project that want more judgments.")
    passed: int = Field(
        description="Of these, what this annotator has judged or skipped: others have to judge it."
    )
    held: int = Field(description="Of these, what this annotator has leased.")
    held_by_others: int = Field(
        description="Of these, what others have leased so that no room is left: it comes back if "
        "they do not judge it."
    )
