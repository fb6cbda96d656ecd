"""Experiments of a project: questions with the runs that answer them, as the API speaks of them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Body, Id, Name

MOST_RUNS = 100

Question = Annotated[str, Field(max_length=2000, description="What we want to know.")]
Hypothesis = Annotated[str, Field(max_length=2000, description="What we expect, and why.")]
Notes = Annotated[str, Field(max_length=50_000, description="Markdown.")]
Conclusion = Annotated[str, Field(max_length=5000, description="What we know now. Markdown.")]


class ExperimentBody(Body):
    """A new experiment."""

    project_id: Id
    name: Name
    question: Question = ""
    hypothesis: Hypothesis = ""
    notes: Notes = ""


class ExperimentChange(Body):
    """What changes; the rest stays. A conflict if the experiment has another revision by now."""

    revision: int = Field(ge=1, le=2**31 - 1, description="The one that the change was made from.")
    name: Name | None = None
    question: Question | None = None
    hypothesis: Hypothesis | None = None
    notes: Notes | None = None
    conclusion: Conclusion | None = None


class ExperimentRunsBody(Body):
    """Runs that shall belong to an experiment; each leaves the one that it belonged to."""

    run_ids: list[Id] = Field(min_length=1, max_length=MOST_RUNS)


class ExperimentSummary(ApiAnswer):
    """An experiment in a list."""

    id: str
    project_id: str
    name: str
    question: str
    conclusion: str
    run_count: int = Field(description="Runs that are not archived.")
    created_at: datetime
    changed_at: datetime | None
    archived_at: datetime | None


class ExperimentAnswer(ExperimentSummary):
    """A question and the runs that answer it."""

    hypothesis: str
    notes: str
    revision: int
    archived_run_count: int
    run_ids: list[str] = Field(
        description="The newest 100 that are not archived, in order of creation."
    )
