"""What one run has measured on each of its sets: measures with intervals, and parts of a set.

Called by `backend.store.metrics.results`; pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.results.drafts import natural
from backend.domain.results.gathered import labels_of
from backend.domain.results.measurements import (
    MeasuredRun,
    PromptSet,
    Reading,
    Seen,
    metric_on,
    readings_of,
    sets_of,
)
from backend.domain.results.words import sampled
from backend.domain.verdict.proxy import passes_by_learned_score
from backend.schemas.metrics.registry import metric_of, metrics_of
from backend.schemas.metrics.sets import (
    MeasuredSet,
    MeasureWords,
    RunSets,
    SetBreakdown,
    SetMeasure,
    SetPart,
)
from backend.schemas.metrics.verdicts import Span
from backend.schemas.vocabulary import Method

_NOTHING = Seen()


def sets_measured(
    run: MeasuredRun,
    data: Mapping[str, str],
    n_prompts: Mapping[PromptSet, int],
    seen: Seen = _NOTHING,
) -> RunSets:
    """List what a run measured on each set, without the sets that have no number.

    `data`: names of snapshots; `n_prompts`: how many prompts each set has; `seen`: by the policy
    that is measured.
    """
    breakdown = run.config.get("breakdown") or []
    samplings = dict(sets_of(run.config))
    labels = labels_of(samplings, data)
    sets = [
        _set(prompts, labels[prompts], sampling, found, breakdown).model_copy(
            update={
                "n_prompts": n_prompts.get(prompts),
                "is_trained": seen.is_trained(prompts),
                "is_partly": seen.is_partly(prompts),
                "has_chosen": seen.has_chosen(prompts),
                "is_unchecked": seen.is_unchecked(prompts),
            }
        )
        for prompts, sampling in samplings.items()
        if (found := readings_of(run.values, prompts.name, breakdown))
    ]
    measures = {one.measure for each in sets for one in each.measures}
    return RunSets(measures=[_words(one) for one in sorted(measures, key=_place)], sets=sets)


def _set(
    prompts: PromptSet,
    label: str,
    sampling: Mapping[str, Any],
    found: Mapping[str, Reading],
    breakdown: Sequence[str],
) -> MeasuredSet:
    readings = {name: found[name] for name in sorted(found, key=_place)}
    return MeasuredSet(
        name=prompts.name,
        label=label,
        snapshot_id=prompts.data,
        split=prompts.split,
        n_prompts=None,
        samples_per_prompt=sampling["samples_per_prompt"],
        sampling=sampled(sampling),
        passes_by_learned_score=passes_by_learned_score(sampling["reward"]),
        measures=[
            _measure(prompts, name, one) for name, one in readings.items() if "/" not in name
        ],
        breakdowns=[_breakdown(prompts, key, readings) for key in breakdown],
    )


def _breakdown(prompts: PromptSet, key: str, readings: Mapping[str, Reading]) -> SetBreakdown:
    parts: dict[str, list[SetMeasure]] = {}
    for name, one in readings.items():
        measure, _, part = name.partition("/")
        if part.startswith(f"{key}."):
            value = part.removeprefix(f"{key}.")
            found = _measure(prompts, name, one).model_copy(update={"measure": measure})
            parts.setdefault(value, []).append(found)
    ordered = sorted(parts.items(), key=lambda item: natural(item[0]))
    return SetBreakdown(key=key, parts=[SetPart(value=v, measures=m) for v, m in ordered])


def _measure(prompts: PromptSet, name: str, one: Reading) -> SetMeasure:
    return SetMeasure(
        measure=name,
        metric=metric_on(prompts, name),
        value=one.value,
        interval=Span.of(one.low, one.high),
    )


def _words(measure: str) -> MeasureWords:
    known = metric_of(Method.EVALUATE, f"eval/{measure}")
    title, unit = (measure, "") if known is None else (known.title, known.unit)
    return MeasureWords(measure=measure, title=title, unit=unit)


def _place(name: str) -> tuple[bool, int, list[tuple[int, float, str]]]:
    """Sort measures at k first, then in the order of the registry; those at k by k."""
    measure = name.partition("/")[0]
    known = metric_of(Method.EVALUATE, f"eval/{measure}")
    places = [one.name for one in metrics_of(Method.EVALUATE)]
    place = len(places) if known is None else places.index(known.name)
    return "@" not in measure, place, natural(name)
