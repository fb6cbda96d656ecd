"""What people may change about runs after they were made: how they are called, found and filed."""

from typing import Annotated

from pydantic import AfterValidator, Field

from backend.schemas.paging import ApiAnswer, Body, Id, Name

LONGEST_NOTES = 10_000
MOST_TAGS = 50
# What SQLite changes in a fraction of a second, while everybody else waits.
MOST_RUNS_CHANGED = 500


def _each_once(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tags))


Notes = Annotated[str, Field(max_length=LONGEST_NOTES)]
Tags = Annotated[list[Name], Field(max_length=MOST_TAGS), AfterValidator(_each_once)]


# Longer than names may be now: a run may have one from before they were held to rules.
_Seen = Annotated[str, Field(max_length=1000)]


class RunSeen(Body):
    """Fields of a run as somebody saw them; what is left out may be anything."""

    name: _Seen | None = None
    notes: Notes | None = None
    tags: list[_Seen] | None = Field(None, max_length=1000)


class RunChange(Body):
    """What to change about a run; what is left out stays as it is."""

    name: Name | None = None
    notes: Notes | None = Field(None, description="Markdown.")
    tags: Tags | None = None
    experiment_id: Id | None = Field(
        None, description="Of the same project; null takes the run out of its experiment."
    )
    before: RunSeen | None = Field(
        None,
        description="What the change was made from; a 409 if one of these is different by now.",
    )


class RunsChange(Body):
    """What to change about many runs: all of them, or none if one is refused."""

    run_ids: list[Id] = Field(min_length=1, max_length=MOST_RUNS_CHANGED)
    add_tags: Tags = Field(default_factory=list)
    remove_tags: list[_Seen] = Field(default_factory=list, max_length=MOST_TAGS)
    experiment_id: Id | None = Field(
        None, description="Of the same project; null takes the runs out of their experiments."
    )
    archived: bool | None = Field(None, description="true archives the runs, false restores them.")


class RunsChangedAnswer(ApiAnswer):
    """Which runs are different now; the others were so before."""

    changed: list[str]
