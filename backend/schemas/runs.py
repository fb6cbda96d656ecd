"""Runs and samples as the API speaks of them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from backend.schemas.numbers import LARGEST
from backend.schemas.paging import ApiAnswer, Body, FreeObject, Id, Name
from backend.schemas.records import MAX_RESPONSES
from backend.schemas.run_directory.events import SampleKind, SampleReason
from backend.schemas.run_table.changes import Tags
from backend.schemas.vocabulary import (
    FailureCause,
    Method,
    ModelKind,
    Records,
    RunState,
    StopReason,
    VerdictKind,
    VerdictLevel,
)


class RunBody(Body):
    """A new run; `config` is validated by `backend.schemas.training`."""

    project_id: Id
    experiment_id: Id | None = None
    name: Name
    config: FreeObject
    tags: Tags = Field(default_factory=list)
    priority: int = Field(0, ge=-100, le=100, description="Higher goes first.")


class ConfigProblem(ApiAnswer):
    """One thing wrong with a config: where (dotted path), what, and what to do."""

    path: str
    message: str
    advice: str | None = None
    level: Literal["error", "warning"] = "error"


class ValidationAnswer(ApiAnswer):
    """Whether a run could be created as it stands; `config` is completed with defaults."""

    valid: bool
    problems: list[ConfigProblem]
    config: dict[str, Any] | None


class Progress(ApiAnswer):
    """How far a run is."""

    step: int
    steps: int
    phase: str
    eta_s: float | None


class RunError(ApiAnswer):
    """Why a run ended badly and what to do."""

    cause: FailureCause
    sentence: str = Field(description="The cause in one sentence.")
    message: str = Field(description="What exactly happened.")
    advice: str
    changes: dict[str, Any] = Field(
        description="New values by dotted path of the config for a clone. `resources.timeout_s` of "
        "a run that trains and has a checkpoint is enough for a clone that starts from the last "
        "checkpoint."
    )


class PrintedLine(ApiAnswer):
    """A line the trainer printed, and where."""

    stream: str
    text: str


class FailureAnswer(ApiAnswer):
    """One bad end of a run with what was known at that moment."""

    attempt: int
    cause: FailureCause
    sentence: str
    message: str
    advice: str
    step: int
    exit_code: int | None
    log: list[PrintedLine] = Field(description="The last lines, 200 at most.")
    resources: dict[str, float | None] = Field(
        description="ran_s, cpu_s, peak_rss_bytes of all its processes together, gpu_peak_bytes, "
        "disk_free_bytes; null or absent = not known."
    )
    created_at: datetime


class StoredVerdict(ApiAnswer):
    """What the metrics of a run say of it, in short; `GET /verdicts` has the whole."""

    kind: VerdictKind
    level: VerdictLevel
    sentence: str


class RunAnswer(ApiAnswer):
    """A run. `summary` holds the last value of every metric."""

    id: str
    project_id: str
    experiment_id: str | None
    parent_id: str | None
    parent_step: int | None = Field(
        description="Step of the parent's checkpoint that the run starts from; null = it starts "
        "from the beginning."
    )
    name: str
    method: Method
    estimator: str | None
    result: ModelKind | Records = Field(
        description="What the run leaves: a model of this kind, or these records."
    )
    logs_samples: bool = Field(
        description="Whether runs of this method log samples, which `GET /runs/{id}/samples` lists."
    )
    state: RunState
    state_sentence: str = Field(description="The state and its reason in one sentence.")
    is_retried: bool = Field(
        description="Whether the run has crashed and goes back to the queue by itself."
    )
    stop_reason: StopReason | None
    attempt: int
    priority: int
    tags: list[str]
    notes: str | None = Field(description="Markdown; null in lists, which leave notes out.")
    config: dict[str, Any]
    schema_version: int
    environment: dict[str, Any]
    progress: Progress
    summary: dict[str, float | None]
    verdict: StoredVerdict | None = Field(
        description="Of a run that has ended and been judged; lists are filtered by it."
    )
    values: dict[str, float | int | str | bool | None] = Field(
        default_factory=dict, description="The `columns` that a list was asked for, by name."
    )
    error: RunError | None
    exit_code: int | None
    checkpoint_step: int | None
    best_checkpoint_step: int | None = Field(
        description="The step of the checkpoint with the best evaluation; null = none is kept."
    )
    output_model_ids: list[str]
    output_bytes: int = Field(description="Size of the files that the run has left, in bytes.")
    allowed: list[str] = Field(description="Verbs that this state allows: cancel, pause, ...")
    worker_id: str | None
    created_at: datetime
    started_at: datetime | None = Field(
        description="When its first attempt began; null = not yet. Until `finished_at` it may have "
        "waited between attempts."
    )
    attempt_started_at: datetime | None = Field(
        description="When the newest attempt began, after the first the trainer of it; null = it "
        "has not, or ended before it did."
    )
    finished_at: datetime | None
    archived_at: datetime | None
    pruned_at: datetime | None = Field(
        description="When its files were deleted by podium prune, except the checkpoints that are "
        "listed."
    )


class RetryBody(Body):
    """Where a retried run begins."""

    from_: Literal["checkpoint", "start"] = Field("checkpoint", alias="from")


class CloneBody(Body):
    """Changes to the parent's config: nested objects are merged, everything else replaced.

    `experiment_id`, `tags` and `priority` are the parent's if they are left out; without a `name`
    the clone has the parent's name with " (copy)" added.
    """

    name: Name | None = None
    overrides: FreeObject = Field(default_factory=dict)
    from_checkpoint: int | None = Field(
        None,
        ge=0,
        le=LARGEST,
        description="Step of the parent's checkpoint to start from; null = start from the "
        "beginning.",
    )
    experiment_id: Id | None = None
    tags: Tags = Field(default_factory=list)
    priority: int = Field(0, ge=-100, le=100, description="Higher goes first.")


class SampleAnswer(ApiAnswer):
    """A logged prompt and response."""

    number: int
    step: int
    kind: SampleKind
    chosen_for: list[SampleReason]
    prompt_id: str | None
    prompt: str
    response: str
    finish_reason: str | None
    scores: dict[str, float | None]
    passed: bool | None = Field(
        None,
        description="Correct by all reward terms that judge it; null where none does.",
    )
    why: dict[str, str] = Field(
        default_factory=dict,
        description="By reward term: why the response did not pass or has no score.",
    )
    reference: str | None = Field(None, description="The ground truth of the prompt.")
    tags: list[str] = Field(default_factory=list, description="Of the prompt.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="Of the prompt.")
    tokens: list[str] | None
    logp: list[float | None] | None
    kl: list[float | None] | None
    advantage: list[float | None] | None
    sampler_logp: list[float | None] | None
    entropy: list[float | None] | None
    value: list[float | None] | None
    change: list[float | None] | None


class RankedSamples(Body):
    """Samples of a run that become one comparison, by their numbers."""

    numbers: list[Annotated[int, Field(ge=0, le=LARGEST)]] = Field(
        min_length=2, max_length=MAX_RESPONSES
    )


class SamplesAnswer(ApiAnswer):
    """Samples of one step, of one prompt through training or of all steps; steps that have any.

    `kinds`: those that this run has samples of. `kind` and `step`: those that were asked for, or
    what was found with `nearest`; `step` is null if the answer covers several. `steps`: at most the
    newest 2,000; `has_earlier_steps`: there are more before them.
    """

    kinds: list[SampleKind]
    kind: SampleKind
    step: int | None
    steps: list[int]
    has_earlier_steps: bool
    items: list[SampleAnswer]


class LogLineAnswer(ApiAnswer):
    """A line the trainer printed."""

    number: int
    attempt: int
    stream: str
    text: str


class CheckpointAnswer(ApiAnswer):
    """A checkpoint of a run."""

    step: int
    attempt: int
    is_best: bool = Field(
        description="Whether it holds the weights of the best evaluation of the whole run."
    )
    is_pinned: bool
    created_at: datetime


class ArtifactAnswer(ApiAnswer):
    """A file a run has left."""

    path: str
    sha256: str
    size_bytes: int


class EventAnswer(ApiAnswer):
    """One event of a run's history, as the stream sends it."""

    seq: int
    type: str
    data: dict[str, Any]
    created_at: datetime
