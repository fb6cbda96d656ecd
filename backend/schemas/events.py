"""Lines of `events.jsonl` and the result files of a run directory, which trainer and worker share.

The trainer writes them, the relay reads them; one JSON object a line, flushed. Numbers are finite
or null.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from backend.schemas.numbers import Measured

LAST_STEP = 2**62


class _Line(BaseModel):
    # A newer trainer may say more than an older relay understands.
    model_config = ConfigDict(extra="ignore", frozen=True)


class StartLine(_Line):
    """First line of an attempt: training goes on after step `step` (0 = from the beginning)."""

    type: Literal["start"] = "start"
    attempt: int
    step: int
    environment: dict[str, Any] = Field(default_factory=dict)


class MetricLine(_Line):
    """Values of one step; `time` is seconds since the epoch, `tokens` all processed so far."""

    type: Literal["metric"] = "metric"
    step: int = Field(ge=0, le=LAST_STEP)
    time: float
    tokens: int = 0
    values: dict[str, Measured]


class SampleLine(_Line):
    """A prompt and response with their scores; the arrays are per response token."""

    type: Literal["sample"] = "sample"
    step: int = Field(ge=0, le=LAST_STEP)
    prompt: str
    response: str
    prompt_id: str | None = None
    index: int = 0
    finish_reason: str | None = None
    scores: dict[str, Measured] = Field(default_factory=dict)
    tokens: list[str] | None = None
    logp: list[Measured] | None = None
    kl: list[Measured] | None = None
    advantage: list[Measured] | None = None


class ProgressLine(_Line):
    """How far the run is; `phase` is e.g. rollout, reward, update, evaluation, saving."""

    type: Literal["progress"] = "progress"
    step: int
    steps: int
    phase: str
    eta_s: float | None = None


class CheckpointLine(_Line):
    """A checkpoint is complete at `path`, relative to the run directory."""

    type: Literal["checkpoint"] = "checkpoint"
    step: int
    path: str
    best: bool = False


class AlertLine(_Line):
    """Something a researcher should look at."""

    type: Literal["alert"] = "alert"
    level: Literal["info", "warning", "error"]
    rule: str
    message: str
    step: int | None = None


TrainerLine = Annotated[
    StartLine | MetricLine | SampleLine | ProgressLine | CheckpointLine | AlertLine,
    Field(discriminator="type"),
]

TRAINER_LINE: TypeAdapter[TrainerLine] = TypeAdapter(TrainerLine)


class ExitReport(BaseModel):
    """`exit.json`: written last, atomically, by the attempt that it names."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    attempt: int
    code: int
    cause: str | None = None
    advice: str | None = None
    message: str | None = None
