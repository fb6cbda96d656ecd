"""The rows of tables: groups of seeds by what sets them apart, and the models they started from."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.domain.results.measurements import MeasuredRun
from backend.domain.seeds.groups import (
    WITHOUT_EFFECT,
    group_differences,
    seed_groups,
    without_seed,
)
from backend.schemas.methods import METHODS
from backend.schemas.vocabulary import Method, ModelKind

# What comes with an estimator is not said beside it.
_UNSAID = frozenset({"estimator", "critic", "gae"}) | WITHOUT_EFFECT
_MOST_IN_NAME = 3
_LONGEST_VALUE = 40
_SMALL = 1e-3


@dataclass(frozen=True)
class Row:
    """One row. `subjects`: the runs that made its models, or the one model that no run made.

    `start`: the subject that these runs began with; empty if there is none. `answers`: whether they
    make a model that answers prompts.
    """

    name: str
    subjects: Sequence[str]
    start: str = ""
    is_start: bool = False
    is_group: bool = True
    answers: bool = True
    config: Mapping[str, Any] = field(default_factory=dict)
    sha256: str | None = None


def rows_of(
    runs: Mapping[str, MeasuredRun],
    starts: Mapping[str, str],
    models: Mapping[str, str],
    names: Mapping[str, str],
) -> list[Row]:
    """Starts first. `starts`: of each run the subject that it began with.

    `models`: the models that no run of `runs` made, with their names. `names`: of the runs that
    made a start, the name of their model.
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
    called = iter(zip(names_of([configs[one[0]] for one in trained]), apart, strict=True))
    made = []
    for group, is_start in zip(groups, are_starts, strict=True):
        name, config = (_model_name(group, names), {}) if is_start else next(called)
        first = configs[group[0]]
        start = starts.get(group[0], "")
        made.append(
            Row(
                name,
                group,
                start,
                is_start,
                answers=METHODS[runs[group[0]].method].result == ModelKind.CAUSAL_LM,
                config=config,
                sha256=sha256_of(first),
            )
        )
    return sorted(_told_apart([*bare, *made]), key=lambda row: not row.is_start)


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """Models with one name get the end of an id beside it."""
    often = Counter(row.name for row in rows)
    return [
        row if often[row.name] == 1 else replace(row, name=f"{row.name} (…{row.subjects[0][-4:]})")
        for row in rows
    ]


def sha256_of(config: Mapping[str, Any]) -> str:
    """Of a config without seed and devices: alike for all seeds of a group."""
    return hashlib.sha256(without_seed(config).encode()).hexdigest()


def names_of(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What sets each group apart from the others of its method, the estimator first."""
    methods = [config.get("method") for config in configs]
    names = []
    for config in configs:
        alike = [one for one in configs if one.get("method") == config.get("method")]
        apart = dict(_apart(config, alike))
        names.append(_name(config, apart, n_methods=len(set(methods))))
    often = Counter(names)
    return [
        name if often[name] == 1 else f"{name} ({sha256_of(config)[:6]})"
        for name, config in zip(names, configs, strict=True)
    ]


def _apart(
    config: Mapping[str, Any], alike: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    by_place = {str(place): one for place, one in enumerate(alike)}
    found = group_differences(by_place, [[place] for place in by_place])
    yield from found[alike.index(config)].items()


def _name(config: Mapping[str, Any], apart: Mapping[str, Any], *, n_methods: int) -> str:
    head = _head(config)
    settings = [
        setting_of(path, value)
        for path, value in apart.items()
        if value is not None and not path.endswith(".sha256") and path.split(".")[0] not in _UNSAID
    ]
    if not settings or "estimator" in apart or n_methods > 1:
        settings = [head, *settings]
    rest = len(settings) - _MOST_IN_NAME
    said = ", ".join(settings[:_MOST_IN_NAME])
    return f"{said} and {rest} more" if rest > 0 else said


def _head(config: Mapping[str, Any]) -> str:
    if config.get("method") == Method.POLICY_GRADIENT and config.get("estimator"):
        return str(config["estimator"])
    return str(config.get("method", ""))


def setting_of(path: str, value: Any) -> str:
    """A setting in few words: the last word of its path says enough, and the end of an id."""
    first, last = path.split(".")[0], path.split(".")[-1]
    if last == "id" and isinstance(value, str):
        return f"{first} …{value[-4:]}"
    return f"{last} {value_of(value)}"


def value_of(value: Any) -> str:
    """A value of a config in few words; small numbers as people say them: 5e-5."""
    if isinstance(value, float) and 0 < abs(value) < _SMALL:
        mantissa, exponent = f"{value:.6e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _model_name(group: Sequence[str], names: Mapping[str, str]) -> str:
    return next((names[run] for run in group if run in names), "the start")
