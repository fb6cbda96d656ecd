"""Runs side by side, grouped by their seeds, as the API speaks of them."""

from typing import Any

from pydantic import Field

from backend.schemas.metrics.verdicts import Span
from backend.schemas.paging import ApiAnswer


class SeedValue(ApiAnswer):
    """The newest value of one run, or what an evaluation found of the model that it left."""

    run: str
    value: float
    step: int | None = Field(description="Of the run; null for an evaluation of its model.")


class SeedGroup(ApiAnswer):
    """Runs whose configs differ by the seed alone, and what they say together."""

    name: str = Field(description="What sets it apart from the other groups, in few words.")
    runs: list[str] = Field(description="Oldest first.")
    config: dict[str, Any] = Field(
        description="By dotted path what is not the same in all groups; null = not in this one."
    )
    values: list[SeedValue] = Field(description="Of the runs that have the metric.")
    value: float | None = Field(
        description="Their mean; from ten seeds on their interquartile mean. Null without any."
    )
    interval: Span | None = Field(description="Its 95 % interval; null for fewer than 3 seeds.")
    is_iqm: bool
    apart: str | None = Field(
        description="The section of its config by which the metric that decides measures something "
        "else in this group, so that it is left out of `differences`; null = it is compared."
    )


class GroupDifference(ApiAnswer):
    """Whether one group is better than another, by Welch's t interval of the difference."""

    better: int = Field(description="The place of the group with the larger value.")
    worse: int
    value: float
    interval: Span | None = Field(description="95 %; null if a group has fewer than 3 seeds.")
    is_decided: bool = Field(description="Whether the interval leaves 0 out.")
    more_seeds: int | None = Field(
        description="How many more seeds each group would need to decide it, if difference and "
        "spread stay as they are; null = not known, or more than a thousand."
    )
    sentence: str


class SeedGroups(ApiAnswer):
    """Groups of runs, that of the oldest run first, and the best beside each of the others."""

    metric: str | None = Field(
        description="The metric that all of them have and that decides between those that measure "
        "the same by it; null = there is none."
    )
    title: str = Field(description="What people call this metric; empty without one.")
    evaluated_on: str | None = Field(
        description="The set of prompts on which evaluations of the models that the runs left "
        "measured it, all alike; null = the runs measured it themselves, or it is attached."
    )
    evaluation_sets: list[str] = Field(
        description="All sets of prompts on which the models of all runs were evaluated, all "
        "alike, and none was trained; by default the first decides. Empty where a metric was asked "
        "for.",
    )
    attached: str | None = Field(
        description="What people call the metric that was attached to all runs (`gold/NAME`): it "
        "decides unless a set is chosen; null = there is none, or a metric was asked for."
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


class GroupCurve(ApiAnswer):
    """What the seeds of a group say of a metric together, bin by bin: columns of equal length.

    Bins have `n` runs; `low` and `high` are null where these are fewer than three.
    """

    group: int
    name: str
    x: list[float]
    n: list[int]
    value: list[float]
    low: list[float | None]
    high: list[float | None]


class GroupCurves(ApiAnswer):
    """Curves of groups, by name and then by group."""

    items: list[GroupCurve]
