"""Tables of results: groups of seeds by what was measured, as the API speaks of them."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from backend.schemas.metrics.metric import Direction
from backend.schemas.metrics.verdicts import Span
from backend.schemas.paging import ApiAnswer


class TableKind(StrEnum):
    """What a table of results is about, in the order in which they are shown."""

    SCORE = "score"  # score, length, score per token
    BREAKDOWN = "breakdown"  # by a key of the prompts' metadata
    PASSES = "passes"  # pass@k on what was trained on and on what was not
    SETS = "sets"  # the score on each set that no run has seen, and their mean
    TEXTS = "texts"  # how likely texts are that were only read: what was forgotten
    RUNS = "runs"  # what the runs have measured themselves


class ResultsColumn(ApiAnswer):
    """One measure, on one set of prompts or on a part of it."""

    name: str
    metric: str = Field(description="The metric of the measuring run, such as `eval/pass@1`.")
    unit: str = Field(description="Such as share or tokens; empty for a plain number.")
    direction: Direction = Field(description="Which is better; none = neither.")
    is_mean: bool = Field(False, description="The mean of the other columns.")
    is_trained: bool = Field(
        False, description="On prompts that the runs were trained on, all of them or a part."
    )
    is_partly: bool = Field(
        False, description="Whether other prompts are among those of `is_trained`, too."
    )
    has_chosen: bool = Field(
        False, description="On held-out prompts by which the runs chose the checkpoints they kept."
    )
    is_unchecked: bool = Field(
        False,
        description="Whether it is not known if the runs were trained on its prompts: there are "
        "too many to compare with those that were trained on.",
    )


class ResultsPoint(ApiAnswer):
    """What was measured of one model."""

    run: str | None = Field(description="The run that made the model; null = no run of Podium.")
    seed: int | None = Field(description="Of that run.")
    measured_by: list[str] = Field(description="The runs that measured it.")
    value: float
    interval: Span | None = Field(description="95 %, by prompt, where it was measured.")


class ResultsChange(ApiAnswer):
    """How much more than the start a group has."""

    value: float
    interval: Span | None = Field(description="95 %.")
    is_better: bool = Field(description="Whether the interval excludes 0, on the better side.")
    is_paired: bool = Field(
        description="Measured response by response of the same draw, with the start as baseline."
    )


class ResultsCell(ApiAnswer):
    """What the seeds of a group say together."""

    n: int = Field(description="Seeds that were measured.")
    value: float = Field(description="Their mean; from ten on their interquartile mean.")
    interval: Span | None = Field(description="95 %.")
    interval_of: Literal["seeds", "prompts"] | None = Field(
        description="seeds = over three seeds or more; prompts = one or two seeds, "
        "whose own intervals by prompt it is the mean of."
    )
    is_iqm: bool
    points: list[ResultsPoint]
    change: ResultsChange | None = Field(description="From the start, if that was measured.")
    standing: str = Field(
        "",
        description="Where its seeds stand that measured themselves, if one has not succeeded or "
        "they were measured at other steps than those of other rows, as in `1 running, step 75`; "
        "none is `is_better`.",
    )
    is_best: bool = Field(
        False,
        description="Better than every other row by more than chance, with all seeds succeeded.",
    )


class ResultsRow(ApiAnswer):
    """A group of seeds, or the model that others were trained from."""

    name: str
    is_start: bool = Field(description="Others were trained from it and are compared with it.")
    runs: list[str] = Field(description="The runs that made the models; empty for a base model.")
    config: dict[str, Any] = Field(description="By dotted path what is not the same in all groups.")
    config_sha256: str | None = Field(
        description="Of the config without seed and devices; null for a base model."
    )
    cells: list[ResultsCell | None] = Field(description="By column; null = not measured.")


class ResultsTable(ApiAnswer):
    """One table: the start first, then groups by their mean, the best first."""

    id: str = Field(description="As in score/heldout or breakdown/heldout/people.")
    kind: TableKind
    name: str
    set: str = Field(description="The set of prompts that all columns are of; empty = several.")
    caption: str
    columns: list[ResultsColumn]
    rows: list[ResultsRow]
    missing: str = Field(description="What was not measured, in one line; empty = nothing.")
    remarks: list[str] = Field(description="What cannot be compared, and what is left out.")


class ResultsAnswer(ApiAnswer):
    """The tables of a group of runs; one without data is left out, and `missing` says which."""

    tables: list[ResultsTable]
    legend: str = Field(description="What intervals and marks mean, in all tables.")
    missing: str
    commits: list[str] = Field(description="Of the code that trained and measured, where known.")
    configs_sha256: str = Field(description="Of all groups' configs; empty without any.")
