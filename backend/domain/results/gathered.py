"""Who was measured by whom: evaluations are joined to the runs that made the models they measure.

Called by `backend.store.metrics.results`; pure.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from backend.domain.differences.prompts import InCommon
from backend.domain.results.cells import Measured
from backend.domain.results.given import Given
from backend.domain.results.measurements import (
    ITSELF,
    MeasuredRun,
    Measurement,
    PromptSet,
    chosen,
    key_of,
    of_evaluation,
    of_itself,
    reading,
)
from backend.domain.results.rows import Row, rows_of
from backend.domain.results.words import first_of
from backend.domain.seeds.named_ids import called
from backend.plural import plural
from backend.schemas.vocabulary import Method, Split

# A snapshot may be called `train`: its held-out prompts would read as training data.
_SIDES: Mapping[str, str] = {
    Split.HELDOUT: "held-out prompts",
    Split.TRAIN: "training prompts",
}


@dataclass(frozen=True)
class KnownModel:
    """A model that some config names: what it is called, the run that made it, at which step."""

    name: str
    run: str | None = None
    step: int | None = None


@dataclass(frozen=True)
class Read:
    """What was read: the runs asked for, and what they are connected with.

    `makers`: other runs that made what is evaluated or started from. `models` are by key, `names`
    are those of the models and snapshots that configs name by their ids. A model that is not in
    `models` is called by its key. `divided`: the snapshots that have both sides; `common`: as in
    `Given`.
    """

    asked: Sequence[MeasuredRun]
    makers: Sequence[MeasuredRun]
    evaluations: Sequence[MeasuredRun]
    models: Mapping[str, KnownModel]
    names: Mapping[str, str]
    divided: frozenset[str] = frozenset()
    common: Mapping[PromptSet, InCommon | None] = field(default_factory=dict)


def gathered(read: Read) -> Given:
    """Rows and the measurements that count."""
    runs = {one.id: one for one in (*read.makers, *read.asked) if one.method != Method.EVALUATE}
    makers = _Makers(read.models, runs)
    starts = {one.id: makers.of(one.model) for one in runs.values() if one.model}
    found = list(_measurements(read, runs, starts, makers))
    records = called(read.names)
    counted, remarks = chosen(found, records)
    bare = _bare(found, runs, starts)
    rows = rows_of(
        runs,
        starts,
        {key: _name_of(key, read.models) for key in bare},
        {known.run: known.name for known in read.models.values() if known.run},
        records,
    )
    everybody = (*runs.values(), *read.evaluations)
    return Given(
        rows=rows,
        measured=Measured(counted, runs),
        labels=labels_of({one.prompts for one in found} - {ITSELF}, read.names),
        remarks=remarks,
        missing=" ".join(filter(None, (_not_ended(runs.values()), _left_out(rows, runs)))),
        commits=sorted({one.commit for one in everybody if one.commit}),
        divided=read.divided,
        common=read.common,
        outputs={
            one.run: one.step for one in read.models.values() if one.run and one.step is not None
        },
    )


@dataclass(frozen=True)
class _Makers:
    models: Mapping[str, KnownModel]
    runs: Mapping[str, MeasuredRun]

    def of(self, key: str) -> str:
        """The run that made a model, if it is among these; else the model's own key."""
        known = self.models.get(key)
        run = None if known is None else known.run
        return run if run is not None and run in self.runs else key


def _measurements(
    read: Read, runs: Mapping[str, MeasuredRun], starts: Mapping[str, str], makers: _Makers
) -> Iterable[Measurement]:
    for one in read.evaluations:
        baseline = key_of(one.config.get("baseline_model"))
        yield from of_evaluation(one, makers.of(one.model), makers.of(baseline))
    for run in runs.values():
        if run.method == Method.POLICY_GRADIENT:
            yield from of_itself(run, starts.get(run.id, ""), makers.of(run.reference))
    for run in read.asked:
        if run.method != Method.EVALUATE:
            values = run.trained
            found = {name: reading(values, name, run.steps) for name in values}
            yield Measurement(run.id, ITSELF, {}, found, run.id, run.number)


def _bare(
    found: Iterable[Measurement], runs: Mapping[str, MeasuredRun], starts: Mapping[str, str]
) -> list[str]:
    """Models that no run of these made: those measured, and what the trained ones began with."""
    trained = [start for run, start in starts.items() if run not in starts.values()]
    keys = dict.fromkeys((*trained, *(one.subject for one in found)))
    return [key for key in keys if key and key not in runs]


def _name_of(key: str, models: Mapping[str, KnownModel]) -> str:
    return models[key].name if key in models else key


def labels_of(sets: Iterable[PromptSet], data: Mapping[str, str]) -> dict[PromptSet, str]:
    """What each set is called: by its name, else by its data; told apart where that is the same."""
    ordered = sorted(sets, key=lambda one: (one.name, one.data, one.split))
    labels = {one: _label(one, data) for one in ordered}
    often = Counter(labels.values())
    return {
        one: label if often[label] == 1 else f"{label} ({one.split}, …{one.data[-4:]})"
        for one, label in labels.items()
    }


def _label(one: PromptSet, data: Mapping[str, str]) -> str:
    if one.name:
        return one.name
    name = data.get(one.data, "prompts")
    side = _SIDES.get(one.split, "")
    if side:
        return f"{side} of {name}"
    return name if one.split == "all" else f"{name}, {one.split}"


def _not_ended(runs: Iterable[MeasuredRun]) -> str:
    n = sum(not run.has_ended for run in runs)
    if n == 0:
        return ""
    return f"{plural(n, 'run has', 'runs have')} not ended."


def _left_out(rows: Iterable[Row], runs: Mapping[str, MeasuredRun]) -> str:
    """The runs that repeat or continue another seed of their row."""
    names = [f"`{runs[one].name or one}`" for row in rows for one in row.left_out]
    if not names:
        return ""
    said = ", ".join(first_of(names))
    return f"Each seed counts once, by its newest run that succeeded. Left out: {said}."
