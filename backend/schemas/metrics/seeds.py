"""Runs side by side, grouped by their seeds, as the API speaks of them."""

from typing import Any

from pydantic import Field

from backend.schemas.metrics.verdicts import Span
from backend.schemas.paging import ApiAnswer
from backend.schemas.vocabulary import RunState


class SeedValue(ApiAnswer):
    """The newest value of one run, or what an evaluation found of the model that it left."""

    run: str
    value: float
    step: int | None = Field(description="Of the run; null for an evaluation of its model.")
    state: RunState = Field(description="Of the run.")


class LeftOut(ApiAnswer):
    """A run of a group that does not count, because its seed counts once."""

    run: str
    counts: str = Field(description="The run that counts for its seed.")
    why: str


class SeedGroup(ApiAnswer):
    """Runs whose configs differ by the seed alone, and what they say together."""

    name: str = Field(description="What sets it apart from the other groups, in few words.")
    runs: list[str] = Field(description="Oldest first.")
    config: dict[str, Any] = Field(
        description="By dotted path what is not the same in all groups; null = not in this one."
    )
    left_out: list[LeftOut] = Field(
        description="Runs that repeat or continue another run of the group. Of each seed the "
        "newest run that succeeded counts."
    )
    values: list[SeedValue] = Field(
        description="One of each seed, of the runs that have the metric."
    )
    value: float | None = Field(
        description="Their mean; from ten seeds on their interquartile mean. Null without any."
    )
    interval: Span | None = Field(
        description="Its 95 % interval; null for fewer than 3 seeds, or if they show no spread."
    )
    is_iqm: bool
    apart: str | None = Field(
        description="The section of its config by which the metric that decides measures something "
        "else in this group, so that it is left out of `differences`; null = it is compared."
    )
    why_open: str = Field(
        description="Why the group is left out of `differences` for now: seeds that have not "
        "succeeded, or values of different steps. Empty = it can be compared."
    )


class GroupDifference(ApiAnswer):
    """Whether one group is better than another: Welch's t interval, or Yuen's of IQMs."""

    better: int = Field(
        description="The place of the better group: of the larger value, or of the "
        "smaller one if `is_lower_better`."
    )
    worse: int
    value: float
    interval: Span | None = Field(
        description="95 % for all `n_comparisons` together; null if a group has fewer than 3 seeds."
    )
    is_iqm: bool = Field(description="Of IQMs, not of means: every group has ten seeds.")
    is_decided: bool = Field(
        description="Whether the interval excludes 0; false where no seeds differ."
    )
    more_seeds: int | None = Field(
        description="How many more seeds each group would need to decide it, if difference and "
        "spread stay as they are; null = not known, or more than a thousand."
    )
    sentence: str


class SeedGroups(ApiAnswer):
    """Groups of runs, that of the oldest run first, and the best beside each of the others."""

    metric: str | None = Field(
        description="The metric that decides between those that measure the same by it; all of "
        "them have it but those that have measured nothing yet, or, where outputs were measured, "
        "have not succeeded. Null = there is none."
    )
    title: str = Field(description="What people call this metric; empty without one.")
    evaluated_on: str | None = Field(
        description="The set of prompts on which evaluations of the models that the runs left "
        "measured it, all alike; null = the runs measured it themselves, or it is attached."
    )
    has_chosen: bool = Field(
        False,
        description="Whether at least one run chose its output on the prompts of `evaluated_on`; "
        "its value may then look better than it is.",
    )
    is_unchecked: bool = Field(
        False,
        description="Whether it is not known if a run was trained on prompts of `evaluated_on`: "
        "there are too many to compare with those that were trained on.",
    )
    has_outputs: bool = Field(
        description="Whether a run that is compared trains, and so keeps an output, of which its "
        "own newest value need not be. Runs that sample or evaluate keep none."
    )
    evaluation_sets: list[str] = Field(
        description="All sets of prompts on which the models of all runs that have succeeded were "
        "evaluated, all alike, and none was trained; by default the first decides. Empty where a "
        "metric was asked for.",
    )
    attached: str | None = Field(
        description="What people call the metric that was attached to all runs that have succeeded "
        "(`gold/NAME`): it decides unless a set is chosen; null = there is none, or a metric was "
        "asked for."
    )
    why_none: str = Field(description="Why no metric decides; empty if one does.")
    measured_apart: dict[str, str] = Field(
        description="Metrics that measure something else in each group, each with the section of "
        "the configs that differs; all others can be compared."
    )
    is_lower_better: bool
    n_evaluations: int = Field(
        0,
        description="How many of the runs are evaluations of what others of them left or started "
        "from: they measure those, and are in no group.",
    )
    groups: list[SeedGroup]
    records: dict[str, str] = Field(
        description="Of each id in the configs of groups, what the model or snapshot is called."
    )
    differences: list[GroupDifference]
    n_comparisons: int = Field(
        description="How many pairs the groups of `differences` with three seeds or more make: the "
        "intervals hold for all of them together (Bonferroni)."
    )
    doubt: str = Field(
        description="Why the metric proves little: a learned reward judges what it has trained. "
        "Empty = no such doubt."
    )
    doubted: list[int] = Field(
        description="The places in `groups` of those that are compared and that `doubt` is about."
    )


class PackedValues(ApiAnswer):
    """A column of values as numbers: value = low + unit x number, null = no value.

    Numbers are whole, from 0 to 8192, and that of a 0 gives 0. They are the values themselves (low
    0, unit 1) with `exact`, where all values are the same, and where floats cannot divide their
    range, which is too narrow or too wide.
    """

    low: float
    unit: float
    numbers: list[float | None]


class BandValues(ApiAnswer):
    """The columns of a band; the 95 % interval is from `lower` to `upper`.

    Without `exact` an end is null where it is the value, as it is if the seeds show no spread. Each
    column is rounded by itself: an end may come out on the other side of the value.
    """

    value: PackedValues
    lower: PackedValues
    upper: PackedValues


class GroupCurve(ApiAnswer):
    """What the seeds of a group say of a metric together, by bucket: columns of equal length.

    Buckets have `n` runs, interpolated ones among them; the columns of `y` have null where these
    are fewer than three. `n_nan` values in a bucket are not finite: no mean counts them.
    """

    group: int
    name: str
    is_iqm: bool = Field(description="Whether all its values are IQMs; else all are means.")
    x: list[float] = Field(description="The greatest x of each bucket, exact.")
    n: list[int]
    n_nan: list[int]
    y: BandValues


class GroupCurves(ApiAnswer):
    """Curves of groups, by name and then by group."""

    items: list[GroupCurve]
