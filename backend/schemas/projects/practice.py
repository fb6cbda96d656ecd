"""Practice of a project as the API speaks of it: for whoever practises, and for who leads."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from backend.schemas.comparisons import (
    AssignedComparison,
    Criterion,
    CriterionRankingAnswer,
    JudgmentBody,
)
from backend.schemas.paging import ApiAnswer, Body

Explanation = Annotated[
    str, Field(max_length=10_000, description="Shown after the answer. Markdown.")
]


class PracticeBody(Body):
    """What is expected of whoever ranks a comparison for practice, and why."""

    expected: JudgmentBody = Field(
        description="The ranking, under each criterion of the project; it places two responses or "
        "more. Comment, flags and time are not kept."
    )
    explanation: Explanation = ""


class PracticeChange(Body):
    """Another explanation of a practice comparison; what is expected stays."""

    explanation: Explanation


class PracticeComparisonAnswer(ApiAnswer):
    """A practice comparison, for who leads the project."""

    comparison: AssignedComparison
    expected: list[CriterionRankingAnswer] = Field(
        description="One for each criterion; without criteria one, whose criterion is empty."
    )
    explanation: str
    created_at: datetime


class PracticeTask(ApiAnswer):
    """The practice comparison that comes next; `responses` stand in presented order."""

    comparison: AssignedComparison
    criteria: list[Criterion]
    presented_order: list[str]


class PracticeState(ApiAnswer):
    """How far the caller is with the practice of a project."""

    is_required: bool = Field(
        description="True if the caller gets no comparisons to judge before passing."
    )
    comparisons: int = Field(description="Practice comparisons of the project.")
    bar: float = Field(description="Share of pairs to be ordered as expected, from 0 to 1.")
    attempt: int = Field(description="Counted from 1.")
    answered: int = Field(description="In this attempt, as are `agreed` and `pairs`.")
    agreed: int = Field(description="Pairs on which answers agree with what is expected.")
    pairs: int = Field(description="Pairs that are expected of what was answered.")
    passed_at: datetime | None
    next: PracticeTask | None = Field(
        description="Null if this attempt is over: passed, or to be tried again."
    )


class PracticeFeedback(ApiAnswer):
    """What is expected of the comparison that was answered, and why."""

    expected: list[CriterionRankingAnswer]
    explanation: str
    agreed: int
    pairs: int
    state: PracticeState
