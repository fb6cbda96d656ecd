"""Groups of seeds beside each other: by which metric, and is the best better than the others?

Pure; `backend.store.metrics.seed_groups` reads what it needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from backend.domain.better import is_lower_better
from backend.domain.seeds.estimates import difference, summarised
from backend.domain.seeds.groups import group_differences, seed_groups, without_seed
from backend.domain.seeds.measures import (
    all_measured_apart,
    apart_from_most,
    measured_apart,
    most_alike,
)
from backend.domain.seeds.names import names_of
from backend.domain.verdict.gold import gold_metrics
from backend.domain.verdict.words import between, shown
from backend.schemas.metrics.registry import title_of
from backend.schemas.metrics.seeds import GroupDifference, SeedGroup, SeedGroups, SeedValue
from backend.schemas.metrics.verdicts import Span
from backend.schemas.vocabulary import Method

# Seeds that somebody may still run; a difference that takes more is as good as none.
_FEW = 30

# What decides without an evaluation from elsewhere, the first that all runs have: never a training
# reward or a training loss.
_HELD_OUT = ("eval/win_rate", "eval/reward", "eval/accuracy", "eval/loss")


def deciding_metric(
    configs: Sequence[Mapping[str, Any]], names: Sequence[AbstractSet[str]]
) -> tuple[str | None, str]:
    """The metric that decides between runs with these configs and metrics; if none, why."""
    common = set.intersection(*map(set, names)) if names else set()
    held_out = (name for name in _HELD_OUT if name in common)
    found = next(iter((*gold_metrics(common), *held_out)), None)
    if found is None:
        return None, (
            "These runs share no held-out metric and no evaluation from outside, so their own "
            "metrics cannot show which is better. Evaluations of their models are in the results "
            "of their experiment."
        )
    apart = measured_apart(found, configs)
    alike = [configs[place] for place in most_alike(found, configs)]
    if apart is not None and len({without_seed(config) for config in alike}) < 2:
        return None, (
            f"{_called(found, configs[0])} measures something else in each group, because "
            f"`{apart}` differs. Attach one evaluation of all groups as `gold/reward`."
        )
    return found, ""


@dataclass(frozen=True)
class Measure:
    """What groups are compared by: a value of each run that has one. `why_none`: why by nothing.

    `evaluated_on`: the set on which evaluations measured what the runs left; None if the runs have
    measured it themselves, or somebody attached it; `sets`: all that evaluations could decide by.
    `attached`: what was attached to all of them. `title`: by default as their method calls it.
    """

    metric: str | None
    title: str = ""
    values: Sequence[SeedValue] = ()
    why_none: str = ""
    evaluated_on: str | None = None
    sets: Sequence[str] = ()
    attached: str | None = None


def compared(
    configs: Mapping[str, Mapping[str, Any]],
    by: Measure,
    metrics: Iterable[str],
    records: Mapping[str, str],
) -> SeedGroups:
    """The runs in groups by their configs, beside each other.

    `metrics`: all that any has; `records`: names of what configs name by an id.
    """
    groups = seed_groups(configs)
    firsts = [configs[runs[0]] for runs in groups]
    is_own = by.evaluated_on is None
    apart = apart_from_most(by.metric or "", firsts) if is_own else [None] * len(firsts)
    settings = group_differences(configs, groups)
    shown_groups = [
        _group(name, runs, config, section, by.values)
        for name, runs, config, section in zip(
            names_of(firsts, records), groups, settings, apart, strict=True
        )
    ]
    lower = by.metric is not None and is_lower_better(by.metric)
    return SeedGroups(
        metric=by.metric,
        title=_title(by, firsts[apart.index(None)]),
        evaluated_on=by.evaluated_on,
        evaluation_sets=list(by.sets),
        attached=None if by.attached is None else _called(by.attached, firsts[0]),
        why_none=by.why_none,
        measured_apart=all_measured_apart(metrics, firsts),
        is_lower_better=lower,
        groups=shown_groups,
        records={one: records[one] for one in sorted(_told(settings)) if one in records},
        differences=_against_the_best(shown_groups, is_lower_better=lower),
    )


def _told(settings: Iterable[Mapping[str, Any]]) -> set[str]:
    return {value for one in settings for value in one.values() if isinstance(value, str)}


def _title(by: Measure, config: Mapping[str, Any]) -> str:
    """As the registry calls it; runs that a metric decides between are of one method."""
    if by.metric is None or by.title:
        return by.title
    return _called(by.metric, config)


def _called(metric: str, config: Mapping[str, Any]) -> str:
    return title_of(Method(config["method"]), metric)


def _group(
    name: str,
    runs: Sequence[str],
    config: dict[str, Any],
    apart: str | None,
    measured: Sequence[SeedValue],
) -> SeedGroup:
    values = [one for one in measured if one.run in runs]
    together = summarised([one.value for one in values]) if values else None
    return SeedGroup(
        name=name,
        runs=list(runs),
        config=config,
        values=values,
        value=None if together is None else together.value,
        interval=None if together is None else Span.of(together.low, together.high),
        is_iqm=together is not None and together.is_iqm,
        apart=apart,
    )


def _against_the_best(
    groups: Sequence[SeedGroup], *, is_lower_better: bool
) -> list[GroupDifference]:
    places = [n for n, group in enumerate(groups) if group.values and group.apart is None]
    if len(places) < 2:
        return []
    sign = -1 if is_lower_better else 1

    def worth(place: int) -> float:
        return sign * (groups[place].value or 0.0)

    best = max(places, key=worth)
    others = sorted((place for place in places if place != best), key=lambda place: -worth(place))
    return [_difference(groups, best, other) for other in others]


def _difference(groups: Sequence[SeedGroup], best: int, other: int) -> GroupDifference:
    found = difference(*([one.value for one in groups[place].values] for place in (best, other)))
    interval = Span.of(found.low, found.high)
    return GroupDifference(
        better=best,
        worse=other,
        value=found.value,
        interval=interval,
        is_decided=found.is_decided,
        more_seeds=found.more_seeds,
        sentence=_sentence(found.value, interval, found.more_seeds, is_decided=found.is_decided),
    )


def _sentence(value: float, interval: Span | None, more: int | None, *, is_decided: bool) -> str:
    if interval is None:
        return (
            f"They differ by {shown(value)}. Fewer than three seeds do not tell whether that is "
            "more than chance."
        )
    by = f"{shown(value)} {between(interval.low, interval.high)}"
    if is_decided:
        return f"The difference is {by}: more than chance."
    may_be_chance = f"The difference is {by}: it may be chance."
    if more is None or more > _FEW:
        largest = shown(max(abs(interval.low), abs(interval.high)))
        return f"{may_be_chance} More than {largest} either way is unlikely."
    seeds = f"{more} more seed{'' if more == 1 else 's'}"
    return f"{may_be_chance} If it is real, about {seeds} per group would show it."
