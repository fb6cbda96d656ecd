"""What one run has measured on its sets of prompts, as the API speaks of it."""

from pydantic import Field

from backend.schemas.metrics.verdicts import Span
from backend.schemas.paging import ApiAnswer


class SetMeasure(ApiAnswer):
    """One number of a set, or of a part of it."""

    measure: str = Field(description="Such as pass@1: a part of the metric's name.")
    metric: str = Field(description="The metric of the run, such as `eval/heldout/pass@1`.")
    value: float
    interval: Span | None = Field(description="95 %, by prompt, where it was measured.")


class SetPart(ApiAnswer):
    """The prompts whose metadata have this value."""

    value: str
    measures: list[SetMeasure]


class SetBreakdown(ApiAnswer):
    """A set by one key of its prompts' metadata."""

    key: str
    parts: list[SetPart] = Field(description="Numbers in their order.")


class MeasuredSet(ApiAnswer):
    """All that was measured on one set of prompts."""

    name: str = Field(description="As in the config; empty: the prompts of the run itself.")
    label: str
    snapshot_id: str
    split: str
    n_prompts: int | None = Field(description="Null = not known.")
    samples_per_prompt: int
    sampling: str = Field(description="How its responses were sampled, in words.")
    passes_by_learned_score: bool = Field(
        description="Whether a response passes by the scores of trained models alone: pass@k then "
        "counts scores of `pass_reward` or more, not correct responses."
    )
    is_trained: bool = Field(
        False, description="Whether the measured policy was trained on its prompts, all or some."
    )
    is_partly: bool = Field(
        False, description="Whether other prompts are among those of `is_trained`, too."
    )
    has_chosen: bool = Field(
        False, description="Whether the checkpoint that the policy kept was chosen by its prompts."
    )
    is_unchecked: bool = Field(
        False,
        description="Whether it is not known if the policy was trained on its prompts: there are "
        "too many to compare with those that were trained on.",
    )
    measures: list[SetMeasure]
    breakdowns: list[SetBreakdown]


class MeasureWords(ApiAnswer):
    """What a measure is called."""

    measure: str
    title: str
    unit: str


class RunSets(ApiAnswer):
    """The newest numbers of a run on each of its sets."""

    measures: list[MeasureWords] = Field(description="Those of any set, in the order to show.")
    sets: list[MeasuredSet]
