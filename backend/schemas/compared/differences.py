"""What runs do not have in common besides their configs, as the API speaks of it."""

from datetime import datetime
from typing import Any

from pydantic import Field

from backend.schemas.paging import ApiAnswer
from backend.schemas.vocabulary import Aggregation, SnapshotKind


class FactValue(ApiAnswer):
    """A value, and the runs that had it; a run whose attempts differ has several."""

    value: str
    runs: list[str]


class EnvironmentDifference(ApiAnswer):
    """A fact that is not the same everywhere, such as `versions.torch`."""

    path: str
    values: list[FactValue]


class EnvironmentDifferences(ApiAnswer):
    """Where runs were executed: the facts that differ, and what was not recorded."""

    items: list[EnvironmentDifference]
    unrecorded: dict[str, list[str]] = Field(
        description="By fact the runs that did not record it; `environment`: they recorded nothing."
    )


class ComparedSnapshot(ApiAnswer):
    """A snapshot, and the runs that use it."""

    id: str
    name: str
    kind: SnapshotKind
    sha256: str
    counts: dict[str, Any] = Field(description="Records and prompts by side of the split.")
    heldout_fraction: float
    seed: int
    aggregation: Aggregation
    criterion: str
    created_at: datetime
    runs: list[str]
    is_trained_on: bool = Field(
        description="Whether one of these runs trains on what it does not hold out: none does in "
        "`evaluate` and `generate`, on evaluation sets and on `texts`."
    )


class PromptOverlap(ApiAnswer):
    """The prompts of a snapshot beside those of the first one, by their text."""

    in_both: int
    added: int = Field(description="Prompts that the first one does not have.")
    removed: int = Field(description="Prompts that only the first one has.")
    heldout_in_both: int
    is_heldout_equal: bool = Field(description="Whether both hold out the same prompts.")
    trained_on_heldout: int = Field(
        description="Prompts that the first one holds out and this one trains on."
    )
    heldout_from_training: int = Field(
        description="Prompts that the first one trains on and this one holds out."
    )


class DataDifference(ApiAnswer):
    """A field of the config in which not all runs name the same snapshot."""

    field: str = Field(description="As in `evaluation_sets.NAME.prompts`, sets by their names.")
    snapshots: list[ComparedSnapshot] = Field(description="In the order of the runs.")
    overlaps: list[PromptOverlap | None] = Field(
        description="Each snapshot after the first beside the first; null = too large to compare."
    )
    without: list[str] = Field(description="Runs that name no snapshot there.")


class DataDifferences(ApiAnswer):
    """The data of runs: what is not the same, and the fields in which all name the same."""

    items: list[DataDifference]
    same: list[str]
    most_records: int = Field(description="Records that one request compares at most.")
