"""Lines of `events.jsonl` and the result files of a run directory, which trainer and worker share.

The trainer writes them, the relay reads them; one JSON object a line, flushed. Numbers are finite
or null.
"""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from backend.schemas.numbers import Measured
from backend.schemas.records import Metadata, TokenIds

LAST_STEP = 2**62

# Bins have the first 14 bits of a float32 as their number: 32 to each power of two.
BIN_SHIFT = 18
# Values nearer to 0 than this, 2^-20, are in bin 0; the next bin has this number.
SMALLEST = 2.0**-20
FIRST_BIN = (127 - 20) << 5
LAST_BIN = (254 << 5) + 31
_MOST_BINS = 2 * (LAST_BIN - FIRST_BIN + 1) + 1
_MOST_NAMES = 20
# More than a step ever asks; the numbers of one fit four bytes.
_MOST_PROMPTS = 100_000
_MOST_RESPONSES = 2**31 - 1


class _Line(BaseModel):
    # A newer trainer may say more than an older relay understands.
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


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


class Histogram(_Line):
    """How many values lie in which bin: bins ascend, each has a count of at least one.

    Bin b > 0 holds the values from float32(b << 18) to before float32((b + 1) << 18), both as bit
    patterns, so that it is as wide as 1/32 to 1/64 of its values; bin -b holds their negatives, bin
    0 what is nearer to 0 than 2^-20. All histograms have the same bins: counts can be added up.
    """

    bins: list[int] = Field(max_length=_MOST_BINS)
    counts: list[Annotated[int, Field(ge=1, lt=2**40)]] = Field(max_length=_MOST_BINS)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.bins) != len(self.counts):
            found = f"{len(self.bins)} bins and {len(self.counts)} counts"
            raise ValueError(f"found {found}; expected as many counts as bins")
        if any(after <= before for before, after in pairwise(self.bins)):
            raise ValueError("bins do not ascend; expected each bin once, in order")
        for one in self.bins:
            if one and not FIRST_BIN <= abs(one) <= LAST_BIN:
                raise ValueError(f"bin {one}; expected 0, or {FIRST_BIN} to {LAST_BIN} or negative")
        return self


class DistributionLine(_Line):
    """How values of one step are spread: reward and length by response, advantage by token."""

    type: Literal["distribution"] = "distribution"
    step: int = Field(ge=0, le=LAST_STEP)
    time: float
    tokens: int = 0
    values: dict[str, Histogram] = Field(max_length=_MOST_NAMES)


class PromptScoresLine(_Line):
    """What the responses to each prompt of a step scored: columns, a row for each prompt.

    `prompt_ids`: every prompt that was asked, each once, those too that dynamic sampling replaced.
    `responses`: how many it was given; `scored`: how many of them could be scored. `score`: their
    mean weighted sum of the reward terms, before penalty, normalization and clip, as in
    `reward/raw_mean`; None where none could be scored. `passed`: how many were correct by all
    terms that judge it, None without such a term.
    """

    type: Literal["prompt_scores"] = "prompt_scores"
    step: int = Field(ge=0, le=LAST_STEP)
    prompt_ids: list[str] = Field(max_length=_MOST_PROMPTS)
    responses: list[Annotated[int, Field(ge=0, le=_MOST_RESPONSES)]]
    scored: list[Annotated[int, Field(ge=0, le=_MOST_RESPONSES)]]
    score: list[Measured]
    passed: list[Annotated[int, Field(ge=0, le=_MOST_RESPONSES)] | None]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        columns = (self.responses, self.scored, self.score, self.passed)
        if any(len(column) != len(self.prompt_ids) for column in columns):
            found = ", ".join(str(len(column)) for column in columns)
            raise ValueError(
                f"columns have {found} rows; expected one for each of the {len(self.prompt_ids)} "
                "prompts"
            )
        if len(set(self.prompt_ids)) < len(self.prompt_ids):
            raise ValueError("a prompt comes twice; expected each prompt once")
        return self


SampleKind = Literal["rollout", "probe"]
SampleReason = Literal[
    "best", "worst", "median", "longest", "truncated", "largest_kl", "zero_variance"
]


class SampleLine(_Line):
    """A prompt and response with their scores; the arrays are per response token.

    `token_ids` are those that were sampled, so that ranking the response is ranking them.

    `kind`: a response that the policy was trained on, or one to a held-out prompt that is asked at
    every evaluation (probe). `chosen_for`: what it is an example of among those of its step.
    `logp`, `sampler_logp` (nats): under the policy before the updates of the step and as it was
    sampled; `kl`: logp less that of the reference; `entropy` (nats): of the distribution that the
    token was drawn from; `value`: what the critic expected; `change` (nats): how much the updates
    of the step raised logp. `passed`, `why`, `reference`, `tags`, `metadata`: as in the records of
    generated responses.
    """

    type: Literal["sample"] = "sample"
    kind: SampleKind = "rollout"
    chosen_for: list[SampleReason] = Field(default_factory=list)
    step: int = Field(ge=0, le=LAST_STEP)
    prompt: str
    response: str
    prompt_id: str | None = None
    index: int = 0
    finish_reason: str | None = None
    scores: dict[str, Measured] = Field(default_factory=dict)
    passed: bool | None = None
    why: dict[str, str] = Field(default_factory=dict)
    reference: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    token_ids: TokenIds | None = None
    tokens: list[str] | None = None
    logp: list[Measured] | None = None
    kl: list[Measured] | None = None
    advantage: list[Measured] | None = None
    sampler_logp: list[Measured] | None = None
    entropy: list[Measured] | None = None
    value: list[Measured] | None = None
    change: list[Measured] | None = None


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
    StartLine
    | MetricLine
    | DistributionLine
    | PromptScoresLine
    | SampleLine
    | ProgressLine
    | CheckpointLine
    | AlertLine,
    Field(discriminator="type"),
]

TRAINER_LINE: TypeAdapter[TrainerLine] = TypeAdapter(
    TrainerLine, config=ConfigDict(defer_build=True)
)


class ExitReport(BaseModel):
    """`exit.json`: written last, atomically, by the attempt that it names."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    attempt: int
    code: int
    cause: str | None = None
    advice: str | None = None
    message: str | None = None
