"""What is said of one metric, or of all whose names fit a pattern."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from backend.schemas.paging import ApiAnswer

Direction = Literal["higher", "lower", "none"]
# The unit of what lies between 0 and 1.
SHARE = "share"


# How the names of results begin that were measured elsewhere.
FROM_OUTSIDE = ("gold", "outside")


def is_of_part(name: str) -> bool:
    """Whether a metric measures a part of a set, as a breakdown does: `eval/pass@1/level.3`.

    What is measured outside of runs may have a dot in its name and is no part of anything.
    """
    first, _, rest = name.partition("/")
    return first not in FROM_OUTSIDE and "." in rest.rpartition("/")[2]


class Group(StrEnum):
    """The headings under which charts are folded, in the order in which they are shown."""

    EVALUATION = "Evaluation"
    OUTSIDE = "Measured outside"
    REWARD = "Reward"
    KL = "KL and entropy"
    RESPONSES = "Responses"
    PAIRS = "Pairs and steps"
    UPDATES = "Updates"
    CRITIC = "Critic"
    SPEED = "Speed and memory"
    SYSTEM = "System"


# A part of a run's config that the value of a metric depends on, whatever model it is of. `texts`:
# those that were not sampled; `prompt`: what stands before them; `penalty`: for responses that are
# too long; `price`: of the KL.
Aspect = Literal[
    "method", "reward", "data", "sampling", "texts", "prompt", "baseline", "penalty", "loss",
    "price", "reference",
]  # fmt: skip
# Of what the responses to some prompts are worth, and of what they are, whatever that is worth.
EVALUATED: frozenset[Aspect] = frozenset({"method", "reward", "data", "sampling"})
SAMPLED: frozenset[Aspect] = frozenset({"method", "data", "sampling"})


class AxisSpan(ApiAnswer):
    """The values from `low` to `high` on an axis, both included."""

    model_config = ConfigDict(frozen=True)

    low: float
    high: float


# Of what counts by its ratio, such as a length: half of it looks like half.
FROM_ZERO = AxisSpan(low=0, high=0)


class Metric(ApiAnswer):
    """A metric: its title, what it is, its unit and what is healthy.

    Texts are sentences; what stands between backticks is code. docs/methods.md has a row for each.
    """

    model_config = ConfigDict(frozen=True)

    name: str = Field(
        description="The name; `{term}` and the like stand for any part, and may be in the title."
    )
    group: Group = Field(description="The heading of its chart.")
    title: str = Field(description="What people call it.")
    what: str = Field(description="What it is, in a sentence.")
    unit: str = Field(
        "",
        description="Such as nats per token; share: between 0 and 1; empty for a plain number.",
    )
    healthy: str = Field(description="Which values or which course are good, and what others mean.")
    direction: Direction | None = Field(
        None,
        description="Which values are better, where runs are compared by it; none: neither, so "
        "whoever orders by it takes the greatest first. Null: they are not, or, of a pattern, it "
        "is as for the measure.",
    )
    is_key: bool = Field(False, description="Whether its chart comes before all folded ones.")
    is_training: bool = Field(
        False, description="Whether it says how well a run does on what it trains on."
    )
    is_evaluation: bool = Field(
        False, description="Measured at single steps: drawn as markers and never smoothed."
    )
    has_interval: bool = Field(
        False, description="Whether NAME_low and NAME_high are the ends of its 95 % interval."
    )
    axis: AxisSpan | None = Field(
        None,
        description="The part of the vertical axis that its chart always shows, so that a change "
        "that means nothing looks small. Null: of a share that every step measures, or that has "
        "no interval, 0 to 1; of fewer than eight evaluations without an interval half of their "
        "greatest value; of everything else its noise decides.",
    )
    noise_of: str | None = Field(
        None,
        description="The metric whose intervals tell how noisy this one is: it has none, or that "
        "of its level is no noise.",
    )

    # Else than others of its kind: `registry.depends_on` knows these.
    depends_on: frozenset[Aspect] | None = Field(None, exclude=True)

    @model_validator(mode="after")
    def _says_which_is_better(self) -> Self:
        # Filters and `best.` would else call the highest perplexity the best.
        if self.is_evaluation and self.direction is None and "{measure}" not in self.name:
            raise ValueError(
                f"the metric {self.name} is an evaluation and does not say which values are "
                "better; set direction to higher, lower or none"
            )
        return self
