"""What a run's metrics say of it, as the API speaks of it."""

from typing import Self

from pydantic import Field

from backend.schemas.paging import ApiAnswer
from backend.schemas.vocabulary import VerdictKind, VerdictLevel

Level = VerdictLevel


class Span(ApiAnswer):
    """The values from `low` to `high`, both included."""

    low: float
    high: float

    @classmethod
    def of(cls, low: float | None, high: float | None) -> Self | None:
        """Make a span with these ends, if both are known."""
        return None if low is None or high is None else cls(low=low, high=high)


class Gauge(ApiAnswer):
    """One number that the verdict rests on, where it is healthy, and what to note about it."""

    metric: str = Field(description="The metric whose newest value it is.")
    title: str = ""
    unit: str = ""
    value: float | None = Field(description="Null = not measured; `missing` says why.")
    interval: Span | None = Field(None, description="The 95 % interval of the value.")
    beside: str = Field("", description="Another number beside it, such as the first value.")
    healthy: Span | None = Field(None, description="Where it is healthy.")
    scale: Span | None = Field(None, description="From where to where to draw it.")
    level: Level = "none"
    note: str = Field("", description="What to say of the value.")
    missing: str = Field(
        "", description="Why there is no value, such as the setting that would measure it."
    )


class Happening(ApiAnswer):
    """Something that happened to the run at a step."""

    step: int
    sentence: str
    level: Level = "none"


class RunVerdict(ApiAnswer):
    """One sentence on a run, what it rests on, and what was shipped."""

    kind: VerdictKind
    level: Level
    sentence: str
    reason: str = Field(description="The numbers behind the sentence.")
    judged_by: str | None = Field(
        description="The metric that decided: held-out or from outside, never a training reward."
    )
    gauges: list[Gauge] = Field(max_length=5)
    best_step: int | None = Field(description="The step of the best evaluation.")
    shipped_step: int | None = Field(
        description="The step of the weights that the run has left; null = none yet."
    )
    happened: list[Happening] = Field(description="By step.")
    change: str = Field(
        "",
        description="By how much what decides changed from the first evaluation to the last, with "
        "the 95 % interval: `+0.060 [0.002, 0.116]`. Empty if no interval is known, or if the "
        "verdict rests on something else.",
    )
    exploited: list[str] = Field(
        [],
        description="The metrics of the run's own reward that rose while what was measured outside "
        "the run fell.",
    )


class RunVerdictAnswer(RunVerdict):
    """The verdict on the run of this id."""

    run: str


class VerdictsAnswer(ApiAnswer):
    """Verdicts on runs, in the order in which they were asked for."""

    items: list[RunVerdictAnswer]
