"""Prompts, responses, imports, snapshots and jobs as the API speaks of them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from backend.schemas.comparisons import AskedCriterion
from backend.schemas.paging import ApiAnswer, Body, BodyPart, Id, Label, Name
from backend.schemas.records import Message, Metadata, SolutionStep, TokenIds
from backend.schemas.vocabulary import (
    Aggregation,
    FinishReason,
    JobState,
    SnapshotKind,
    Split,
)

ImportKind = Literal["prompts", "demonstrations", "comparisons", "preferences", "solutions"]
ImportFormat = Literal["auto", "native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"]
ExportFormat = Literal["native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"]


class Rejection(ApiAnswer):
    """A row that was not taken, and why."""

    line: int = Field(
        description="Which line of a JSONL or CSV file (the last of a row with several), which "
        "element of a JSON array, which row of a Parquet file; from 1."
    )
    reason: str


class ImportAnswer(ApiAnswer):
    """What became of an import; `rejected` holds the first 1,000, `rejected_total` all."""

    import_id: str
    accepted: int
    duplicates: int
    rejected: list[Rejection]
    rejected_total: int


class PromptAnswer(ApiAnswer):
    """A prompt as a conversation."""

    id: str
    messages: list[Message]
    external_id: str | None
    reference: str | None = Field(description="What a correct response says: the ground truth.")
    tags: list[str]
    metadata: Metadata = Field(
        validation_alias="more", description="Whatever else the prompt was imported with."
    )
    created_at: datetime


class DemonstrationAnswer(ApiAnswer):
    """A response a person wrote."""

    id: str
    prompt_id: str
    content: str
    created_at: datetime


class SolutionAnswer(ApiAnswer):
    """A response in labelled steps, with the prompt that it answers."""

    id: str
    prompt_id: str
    messages: list[Message] = Field(description="The prompt as a conversation.")
    steps: list[SolutionStep]
    is_finished: bool = Field(description="False where the response went on after the last step.")
    created_at: datetime


class ResponseAnswer(ApiAnswer):
    """A response with where it came from."""

    id: str
    prompt_id: str
    run_id: str | None
    model_id: str | None
    source: str
    index: int
    content: str
    finish_reason: FinishReason | None
    n_tokens: int | None
    logp_sum: float | None
    scores: dict[str, float | None]
    token_ids: TokenIds | None = Field(
        None, description="As what it was sampled; only where it is asked for."
    )
    created_at: datetime


class ListedResponse(ResponseAnswer):
    """A response in a list."""

    prompt: str = Field(description="The beginning of the last turn of its prompt.")
    run_name: str | None = Field(description="Name of the run that sampled it, if one did.")


class AnswersFilter(BodyPart):
    """Which answers of a run become demonstrations: the best of each prompt, by score.

    Of an evaluation they are its model's answers to the prompts of the run itself. An answer that
    says the same to the same prompt as an earlier one is left out.
    """

    run_id: Id = Field(description="A generate or evaluate run of the project that succeeded.")
    best: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="So many of each prompt, the highest score first; null = all.",
    )
    min_score: float | None = Field(
        None, allow_inf_nan=False, description="Only answers with at least this score."
    )
    passed: bool = Field(
        False, description="Only answers that all terms that judge correctness accept."
    )
    term: Label | None = Field(
        None,
        description="The reward term whose score it is, as in math_2; null = the weighted sum of "
        "all terms.",
    )


class SnapshotFilter(BodyPart):
    """Which records go in; empty = all of the project."""

    run_ids: list[Id] | None = Field(None, max_length=1000)
    tags: list[Label] | None = Field(None, max_length=100)
    prompt_ids: list[Id] | None = Field(None, max_length=100_000)
    comparison_ids: list[Id] | None = Field(None, max_length=100_000)
    is_review: bool | None = Field(
        None,
        description="True = only judgments kept for review; otherwise only those that count.",
    )
    answers: AnswersFilter | None = Field(
        None, description="Of demonstrations: answers of a run in place of what people wrote."
    )


class SnapshotBody(Body):
    """A snapshot to freeze; whole prompts go to one side of the split."""

    name: Name
    kind: SnapshotKind
    heldout_fraction: float = Field(0.0, ge=0, lt=1)
    seed: int = Field(0, ge=0, le=2**31 - 1)
    filter: SnapshotFilter = Field(default_factory=SnapshotFilter)
    aggregation: Aggregation = Field(
        Aggregation.NONE,
        description="Of preferences: one record for each comparison, made of all its judgments, or "
        "one for each part of its responses that judgments connect; `none` keeps every judgment as "
        "a record of its own.",
    )
    criterion: AskedCriterion = None


class SnapshotAnswer(ApiAnswer):
    """A snapshot. `counts`: records, prompts, and for preferences pairs and ties, per split.

    With an aggregation also the comparisons that are `apart`, with several records because no
    judgments connect all their responses, and those that are `outvoted`: somebody ranked, but more
    annotators said that all are bad or that they cannot judge.
    """

    id: str
    project_id: str
    name: str
    kind: SnapshotKind
    sha256: str
    heldout_fraction: float
    seed: int
    filter: dict[str, Any]
    aggregation: Aggregation
    criterion: str = Field(
        description="The criterion whose rankings its preferences hold; empty = given without."
    )
    counts: dict[str, dict[str, int]]
    created_at: datetime
    archived_at: datetime | None


class SnapshotLineAnswer(ApiAnswer):
    """One frozen record, for looking at."""

    position: int
    split: Split
    record: dict[str, Any]


class JobProgress(ApiAnswer):
    """How far a job is, in units of its kind: records or bytes."""

    done: int
    total: int | None = Field(description="Null until the job knows how many there are.")


class JobAnswer(ApiAnswer):
    """Work that goes on beside the requests."""

    id: str
    kind: str
    project_id: str | None
    state: JobState
    progress: JobProgress
    result: dict[str, Any] | None = Field(
        description="Of a job that succeeded: what the request would have answered."
    )
    error: dict[str, Any] | None = Field(
        description="Of a job that failed: title, status, detail and advice of the problem."
    )
    created_at: datetime
    finished_at: datetime | None
