"""A project as the API speaks of it: its settings, and what it holds."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from backend.schemas.comparisons import Criteria, Criterion
from backend.schemas.paging import ApiAnswer, Body, Name

Guidelines = Annotated[str, Field(max_length=50_000, description="Markdown.")]
JudgmentsPerComparison = Annotated[
    int, Field(ge=1, le=100, description="How many judgments each new comparison wants.")
]
OverlapFirst = Annotated[
    int,
    Field(ge=0, le=100_000, description="So many first comparisons of the project want two."),
]
OverlapShare = Annotated[
    float, Field(ge=0, le=1, description="This share of the comparisons after them wants two.")
]
PracticeBar = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="Practice bar: share of the pairs of its practice comparisons that an "
        "annotator has to order as expected before judging others.",
    ),
]


# Nine digits choose among them.
CannotJudgeReasons = Annotated[
    list[Name],
    Field(
        min_length=1,
        max_length=9,
        description="Why a comparison cannot be judged: what annotators choose from.",
    ),
]
# What is wrong with the comparison; whoever is not the right person for it skips it instead.
CANNOT_JUDGE_REASONS = (
    "prompt unclear",
    "unreadable",
    "responses are the same",
    "facts cannot be checked",
    "unsafe content",
)


class ProjectBody(Body):
    """A new project."""

    name: Name
    guidelines: Guidelines = ""
    judgments_per_comparison: JudgmentsPerComparison = 1
    overlap_first: OverlapFirst = 0
    overlap_share: OverlapShare = 0.0
    cannot_judge_reasons: CannotJudgeReasons = Field(
        default_factory=lambda: list(CANNOT_JUDGE_REASONS)
    )
    criteria: Criteria = Field(default_factory=list)
    practice_bar: PracticeBar = 0.8


class ProjectChange(Body):
    """What to change about a project; what is left out stays as it is.

    How many judgments are wanted counts for comparisons that are made from then on, and criteria
    for those that are leased from then on. Other guidelines are a new version, which annotators
    acknowledge before they get more comparisons. With `revision`, a conflict if the project has
    another revision by now.
    """

    revision: int | None = Field(
        None, ge=1, le=2**31 - 1, description="The one that the change was made from."
    )
    name: Name | None = None
    guidelines: Guidelines | None = None
    guidelines_version: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="The version that `guidelines` was made from: refused if there is a newer one.",
    )
    judgments_per_comparison: JudgmentsPerComparison | None = None
    overlap_first: OverlapFirst | None = None
    overlap_share: OverlapShare | None = None
    cannot_judge_reasons: CannotJudgeReasons | None = None
    criteria: Criteria | None = None
    practice_bar: PracticeBar | None = None


class ProjectCounts(ApiAnswer):
    """How much a project holds."""

    prompts: int
    demonstrations: int
    solutions: int
    responses: int
    comparisons: int
    judgments: int
    reviews: int = Field(description="Judgments kept for review; `judgments` is without them.")
    open_comparisons: int = Field(description="Comparisons that still want a judgment.")


class ProjectAnswer(ApiAnswer):
    """A project; `counts` only in the answer for one project."""

    id: str
    name: str
    guidelines: str
    guidelines_version: int = Field(description="0 if nobody has written guidelines yet.")
    judgments_per_comparison: int
    overlap_first: int
    overlap_share: float
    cannot_judge_reasons: list[str]
    criteria: list[Criterion]
    practice_bar: float
    revision: int = Field(description="Higher by one after each `PATCH`.")
    created_at: datetime
    archived_at: datetime | None
    counts: ProjectCounts | None = None
