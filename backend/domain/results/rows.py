"""The rows of tables: groups of seeds by what sets them apart, and the models they started from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.domain.results.measurements import MeasuredRun
from backend.domain.seeds.draws import counting
from backend.domain.seeds.groups import group_differences, seed_groups
from backend.domain.seeds.names import names_of, sha256_of
from backend.schemas.methods import METHODS
from backend.schemas.vocabulary import ModelKind


@dataclass(frozen=True)
class Row:
    """One row. `subjects`: the runs that made its models, or the one model that no run made.

    Of each seed one run is among them; the others are `left_out`. `start`: the subject that these
    runs began with; empty if there is none. `answers`: whether they make a model that answers
    prompts.
    """

    name: str
    subjects: Sequence[str]
    start: str = ""
    is_start: bool = False
    is_group: bool = True
    answers: bool = True
    config: Mapping[str, Any] = field(default_factory=dict)
    sha256: str | None = None
    left_out: Sequence[str] = ()


def rows_of(
    runs: Mapping[str, MeasuredRun],
    starts: Mapping[str, str],
    models: Mapping[str, str],
    names: Mapping[str, str],
    records: Mapping[str, str],
) -> list[Row]:
    """Make the rows of a table, starts first.

    `starts`: of each run the subject that it began with. `models`: the models that no run of `runs`
    made, with their names. `names`: of the runs that made a start, the name of their model.
    `records`: of what configs name by an id.
    """
    bare = [
        Row(name, [key], is_start=key in starts.values(), is_group=False)
        for key, name in models.items()
    ]
    configs = {run_id: run.config for run_id, run in runs.items()}
    groups = seed_groups(configs)
    are_starts = [any(one in starts.values() for one in group) for group in groups]
    trained = [group for group, is_start in zip(groups, are_starts, strict=True) if not is_start]
    apart = group_differences(configs, trained)
    firsts = [configs[one[0]] for one in trained]
    called = iter(zip(names_of(firsts, records), apart, strict=True))
    made = []
    for group, is_start in zip(groups, are_starts, strict=True):
        name, config = (_model_name(group, names), {}) if is_start else next(called)
        first = configs[group[0]]
        oldest_first = sorted(group, key=lambda one: runs[one].number)
        standing = counting([runs[one].drawn for one in oldest_first], set(starts.values()))
        counts = [one for one in group if standing[one] == one]
        start = starts.get(counts[0], "")
        made.append(
            Row(
                name,
                counts,
                start,
                is_start,
                answers=METHODS[runs[group[0]].method].result == ModelKind.CAUSAL_LM,
                config=config,
                sha256=sha256_of(first),
                left_out=[one for one in group if standing[one] != one],
            )
        )
    return sorted(_told_apart([*bare, *made]), key=lambda row: not row.is_start)


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """Put the end of an id beside each name that several models have."""
    often = Counter(row.name for row in rows)
    return [
        row if often[row.name] == 1 else replace(row, name=f"{row.name} (…{row.subjects[0][-4:]})")
        for row in rows
    ]


def _model_name(group: Sequence[str], names: Mapping[str, str]) -> str:
    return next((names[run] for run in group if run in names), "the start")
