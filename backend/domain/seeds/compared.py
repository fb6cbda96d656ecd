"""Groups of seeds beside each other: by which metric, and is the best better than the others?

Pure; `backend.store.metrics.seed_groups` reads what it needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from backend.domain.direction import is_lower_better
from backend.domain.seeds.best import Best, best_of
from backend.domain.seeds.draws import Draw, counted, left_out
from backend.domain.seeds.ends import why_open
from backend.domain.seeds.estimates import Difference, summarised
from backend.domain.seeds.groups import group_differences, seed_groups, without_seed
from backend.domain.seeds.measures import (
    all_measured_apart,
    apart_from_most,
    measured_apart,
    most_alike,
)
from backend.domain.seeds.names import names_of
from backend.domain.seeds.shares import possible
from backend.domain.verdict.gold import HELD_OUT, gold_metrics
from backend.domain.verdict.proxy import PROXY, learned
from backend.domain.verdict.words import alike, shown
from backend.plural import plural
from backend.schemas.methods import SAMPLERS
from backend.schemas.metrics.registry import title_of
from backend.schemas.metrics.seeds import GroupDifference, SeedGroup, SeedGroups, SeedValue
from backend.schemas.metrics.verdicts import Span
from backend.schemas.vocabulary import Method

# Seeds that somebody may still run; a difference that takes more is as good as none.
_FEW = 30


def measured(names: Mapping[str, AbstractSet[str]], draws: Mapping[str, Draw]) -> list[str]:
    """The runs of which a metric that decides is asked: not those that may have it later.

    `names`: the metrics of each run. What succeeded without any that could decide never has one.
    """
    ended = [run for run in names if draws[run].has_succeeded]
    if ended and gold_metrics(set.intersection(*(set(names[run]) for run in ended))):
        # Somebody who measures outputs cannot have done so for runs that have left none.
        return ended
    begun = [run for run, own in names.items() if own]
    return [run for run in begun if draws[run].has_succeeded or _could_decide(names[run])] or begun


def _could_decide(names: AbstractSet[str]) -> list[str]:
    """The metrics of these that could decide, the best first."""
    return [*gold_metrics(names), *(name for name in HELD_OUT if name in names)]


def deciding_metric(
    configs: Sequence[Mapping[str, Any]], names: Sequence[AbstractSet[str]]
) -> tuple[str | None, str]:
    """The metric that decides between runs with these configs; if none, why.

    `names`: the metrics of those that have `measured` something.
    """
    if not names:
        return None, "Not decided yet: no run has measured anything."
    found = next(iter(_could_decide(set.intersection(*map(set, names)))), None)
    if found is None:
        return None, (
            f"{_who_share(len(configs), len(configs) - len(names))} no held-out metric and no "
            "evaluation from outside, so their own metrics cannot show which is better. If "
            "`evaluate` runs measured their models, the results of their experiment have the "
            "numbers."
        )
    apart = measured_apart(found, configs)
    alike = [configs[place] for place in most_alike(found, configs)]
    if apart is not None and len({without_seed(config) for config in alike}) < 2:
        return None, (
            f"{_called(found, alike[0])} measures something else in each group, because "
            f"`{apart}` differs. Evaluate all groups alike and attach the results as `gold/reward`."
        )
    return found, ""


def _who_share(n_runs: int, n_open: int) -> str:
    if not n_open:
        return "These runs share"
    has = "has" if n_open == 1 else "have"
    others = "the other has" if n_runs - n_open == 1 else "the others share"
    return (
        f"Not decided yet: {n_open} of {n_runs} runs {has} measured nothing held out, and {others}"
    )


@dataclass(frozen=True)
class Measure:
    """What groups are compared by: a value of each run that has one. `why_none`: why by nothing.

    `evaluated_on`: the set on which evaluations measured what the runs left; None if the runs have
    measured it themselves, or somebody attached it; `has_chosen`: whether a run chose its output
    by prompts of this set; `is_unchecked`: whether it is not known if one was trained on some;
    `sets`: all that evaluations could decide by.
    `attached`: what was attached to all that have succeeded. `title`: by default as their method
    calls it.
    `reward`: what scored the evaluations; None if the runs' own rewards did.
    """

    metric: str | None
    title: str = ""
    values: Sequence[SeedValue] = ()
    why_none: str = ""
    evaluated_on: str | None = None
    has_chosen: bool = False
    is_unchecked: bool = False
    sets: Sequence[str] = ()
    attached: str | None = None
    reward: Mapping[str, Any] | None = None


def compared(
    configs: Mapping[str, Mapping[str, Any]],
    draws: Mapping[str, Draw],
    by: Measure,
    metrics: Iterable[str],
    records: Mapping[str, str],
) -> SeedGroups:
    """The runs in groups by their configs, beside each other; of each seed one run counts.

    `draws`: by run. `metrics`: all that any has; `records`: names of what configs name by an id.
    """
    groups = seed_groups(configs)
    firsts = [configs[runs[0]] for runs in groups]
    is_own = by.evaluated_on is None
    apart = apart_from_most(by.metric or "", firsts) if is_own else [None] * len(firsts)
    settings = group_differences(configs, groups)
    shown_groups = [
        _group(name, [draws[run] for run in runs], config, by).model_copy(
            update={"apart": section, "why_open": why}
        )
        for name, runs, config, section, why in zip(
            names_of(firsts, records), groups, settings, apart,
            _why_open(groups, draws, by, apart), strict=True,
        )
    ]  # fmt: skip
    lower = by.metric is not None and is_lower_better(by.metric)
    places = _compared_places(shown_groups)
    best = _best(shown_groups, places, is_lower_better=lower)
    doubted = [place for place in places if _is_proxy(by, firsts[place])]
    return SeedGroups(
        metric=by.metric,
        title=_title(by, firsts[apart.index(None)]),
        evaluated_on=by.evaluated_on,
        has_chosen=by.has_chosen,
        is_unchecked=by.is_unchecked,
        has_outputs=any(firsts[place]["method"] not in SAMPLERS for place in places),
        evaluation_sets=list(by.sets),
        attached=None if by.attached is None else _called(by.attached, firsts[0]),
        why_none=by.why_none,
        measured_apart=all_measured_apart(metrics, firsts),
        is_lower_better=lower,
        groups=shown_groups,
        records={one: records[one] for one in sorted(_told(settings)) if one in records},
        differences=[] if best is None else _differences(best),
        n_comparisons=0 if best is None else best.n_comparisons,
        doubt=PROXY if doubted else "",
        doubted=doubted,
    )


def _why_open(
    groups: Sequence[Sequence[str]],
    draws: Mapping[str, Draw],
    by: Measure,
    apart: Sequence[str | None],
) -> list[str]:
    """Say of each group that measures the same as most why it is not compared yet; else empty."""
    if by.metric is None:
        return [""] * len(groups)
    alike = [
        [draws[run] for run in runs] if section is None else []
        for runs, section in zip(counted(groups, draws), apart, strict=True)
    ]
    return why_open(alike, {one.run: one.step for one in by.values})


def _is_proxy(by: Measure, config: Mapping[str, Any]) -> bool:
    """Whether a reward model that trained a policy judges it, too."""
    metric = by.metric or ""
    is_reward = metric.startswith("reward/") or (
        metric.startswith("eval/") and metric.endswith("/reward")
    )
    if not is_reward or config["method"] != Method.POLICY_GRADIENT:
        return False
    trained = config.get("reward")
    return bool(learned(trained) & learned(trained if by.reward is None else by.reward))


def _told(settings: Iterable[Mapping[str, Any]]) -> set[str]:
    return {value for one in settings for value in one.values() if isinstance(value, str)}


def _title(by: Measure, config: Mapping[str, Any]) -> str:
    """Return what the registry calls the metric, for the method that all these runs have."""
    if by.metric is None or by.title:
        return by.title
    return _called(by.metric, config)


def _called(metric: str, config: Mapping[str, Any]) -> str:
    return title_of(Method(config["method"]), metric)


def _group(name: str, draws: Sequence[Draw], config: dict[str, Any], by: Measure) -> SeedGroup:
    values = [one for one in by.values if one.run in {draw.run for draw in draws}]
    together = summarised([one.value for one in values]) if values else None
    has_spread = together is not None and together.low != together.high
    return SeedGroup(
        name=name,
        runs=[one.run for one in draws],
        config=config,
        left_out=left_out(draws),
        values=values,
        value=None if together is None else together.value,
        interval=possible(Span.of(together.low, together.high), by.metric)
        if together and has_spread
        else None,
        is_iqm=together is not None and together.is_iqm,
        apart=None,
        why_open="",
    )


def _compared_places(groups: Sequence[SeedGroup]) -> list[int]:
    """Return the places of the groups that can be compared."""
    return [
        place
        for place, group in enumerate(groups)
        if group.values and group.apart is None and not group.why_open
    ]


def _best(
    groups: Sequence[SeedGroup], places: Sequence[int], *, is_lower_better: bool
) -> Best | None:
    """Find the best of the groups at these places; None if these are fewer than two."""
    values = {place: [one.value for one in groups[place].values] for place in places}
    return best_of(values, is_lower_better=is_lower_better) if len(values) > 1 else None


def _differences(best: Best) -> list[GroupDifference]:
    return [
        GroupDifference(
            better=best.place,
            worse=place,
            value=found.value,
            interval=Span.of(found.low, found.high),
            is_iqm=found.is_iqm,
            is_decided=found.is_decided,
            more_seeds=found.more_seeds,
            sentence=sentence_of(found, best.n_comparisons),
        )
        for place, found in best.differences.items()
    ]


def sentence_of(found: Difference, n_comparisons: int = 1) -> str:
    """What a difference says, and of how many comparisons it is one."""
    if found.low is None or found.high is None:
        return (
            f"They differ by {shown(found.value)}. Fewer than three seeds cannot tell that from "
            "chance."
        )
    if not found.has_spread:
        return (
            f"They differ by {shown(found.value)}. The seeds of each group show no spread, so they "
            "cannot tell that from chance."
        )
    of = "IQMs" if found.is_iqm else "means"
    corrected = f", corrected for {n_comparisons} pairs of groups" if n_comparisons > 1 else ""
    value, low, high = alike(found.value, found.low, found.high)
    by = f"{value} [{low}, {high}]{corrected}"
    if found.is_decided:
        return f"The difference of {of} is {by}: more than chance."
    may_be_chance = f"The difference of {of} is {by}: it may be chance."
    more = found.more_seeds
    if more is None or more > _FEW:
        largest = shown(max(abs(found.low), abs(found.high)))
        return f"{may_be_chance} More than {largest} either way is unlikely."
    seeds = plural(more, "more seed")
    return f"{may_be_chance} If it is real, about {seeds} per group would show it."
