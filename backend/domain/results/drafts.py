"""Which tables of the paper (arXiv 2501.03262) a group of runs has: their columns and captions.

`backend.domain.results.tables` fills them; pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.differences.prompts import InCommon
from backend.domain.direction import direction_of
from backend.domain.results.cells import Part
from backend.domain.results.given import Given
from backend.domain.results.measurements import ITSELF, TEXT_MEASURES, PromptSet
from backend.domain.results.words import by_themselves, sampled, start_words, unmoved_words
from backend.domain.seeds.measures import measured_apart
from backend.domain.verdict.gold import HELD_OUT, gold_metrics
from backend.plural import plural
from backend.schemas.metrics.metric import Direction
from backend.schemas.metrics.registry import measure_of, metric_of
from backend.schemas.metrics.results import TableKind
from backend.schemas.vocabulary import Method

_MOST_METRICS = 12
_PAPER_K = 16
_PASSES = re.compile(r"(?:eval/)?pass@(\d+)")
# By the reward, against the reference on a named set.
_WON = re.compile(r"eval/[^/]+/win_rate")
# Of each the first that there is: the better measure.
_PRICES = (("kl/exact", "kl/response"), ("eval/length", "length/mean"))
_UNITS = {"score_per_token": "per token", "length": "tokens", "reward": ""}
_MEAN = "Mean"
_APART = " These sets hold other prompts: compare within a column only."
_CHOSE = "held-out prompts by which the checkpoints were chosen"
_UNCHECKED = "prompts that were not checked for training prompts, because they are too many at once"


@dataclass(frozen=True)
class Column:
    """A column before its cells: the measures whose mean it is."""

    name: str
    parts: Sequence[Part]
    direction: Direction
    unit: str = "share"
    is_mean: bool = False
    is_trained: bool = False
    is_partly: bool = False
    has_chosen: bool = False
    is_unchecked: bool = False

    @property
    def is_unseen(self) -> bool:
        """Whether no run is known to have seen its prompts, to train on or to choose a model by."""
        return not self.is_trained and not self.has_chosen


@dataclass(frozen=True)
class Draft:
    """A table before its cells; rows are ordered by the column `by`."""

    id: str
    kind: TableKind
    name: str
    caption: str
    columns: Sequence[Column]
    by: int = 0
    set: str = ""
    remarks: Sequence[str] = ()


def drafts_of(given: Given) -> list[Draft]:
    """All tables that may have data, in the order in which they are shown."""
    return [
        *_scores(given), *_breakdowns(given), *_passes(given), *_sets(given), *_texts(given),
        *_runs(given),
    ]  # fmt: skip


def _scores(given: Given) -> Iterator[Draft]:
    """Table 1: score, length and score per token, on each set."""
    for prompts in given.sets:
        measures = given.measures(prompts)
        score = given.score(prompts)
        if score is None or "length" not in measures:
            continue
        names = [score, *(one for one in ("length", "score_per_token") if one in measures)]
        label = given.labels[prompts]
        yield Draft(
            id=f"{TableKind.SCORE}/{label}",
            kind=TableKind.SCORE,
            name="Score, length and score per token",
            set=label,
            caption=f"On {_told(given, prompts)}: {_how(given, prompts)}.{_start(given, prompts)}",
            columns=[_column(given, _called(one), prompts, one) for one in names],
            remarks=[*given.remarks.get(prompts, ()), *_unmoved(given, prompts)],
        )


def _breakdowns(given: Given) -> Iterator[Draft]:
    """The tables of Knights and Knaves: accuracy by any key of the prompts' metadata."""
    for prompts in given.sets:
        measures = given.measures(prompts)
        score = given.score(prompts)
        parts = [one for one in measures if score and one.startswith(f"{score}/")]
        keys = sorted({one.partition("/")[2].partition(".")[0] for one in parts})
        for key in keys:
            begin = f"{score}/{key}."
            levels = sorted((one for one in parts if one.startswith(begin)), key=natural)
            columns = [_column(given, one.removeprefix(begin), prompts, one) for one in levels]
            label, how = given.labels[prompts], _how(given, prompts)
            yield Draft(
                id=f"{TableKind.BREAKDOWN}/{label}/{key}",
                kind=TableKind.BREAKDOWN,
                name=f"{_called(str(score))} by {key}",
                set=label,
                caption=f"{_called(str(score))} on {_told(given, prompts)}, by `{key}`: {how}. The "
                f"mean gives each value of `{key}` equal weight.{_start(given, prompts)}",
                columns=_with_mean(columns),
                by=len(columns) if len(columns) > 1 else 0,
                remarks=[*given.remarks.get(prompts, ()), *_unmoved(given, prompts)],
            )


def _passes(given: Given) -> Iterator[Draft]:
    """Table 3: pass@1 and pass@16 on the prompts that were trained on and on others."""
    shown = {one: ks for one in given.sets if (ks := _shown_ks(given.measures(one)))}
    sets = sorted(shown, key=given.is_trained, reverse=True)
    columns = [
        _column(given, f"{given.labels[prompts]} pass@{k}", prompts, f"pass@{k}")
        for prompts in sets
        for k in shown[prompts]
    ]
    are_several = any(not column.name.endswith(" pass@1") for column in columns)
    is_trained = any(column.is_trained for column in columns)
    if not (are_several or is_trained):
        return
    by_set = "pass@k by set" if len(sets) > 1 else "pass@k"
    most_telling = next(iter(shown))
    yield Draft(
        id=str(TableKind.PASSES),
        kind=TableKind.PASSES,
        name="Train and test pass@k" if is_trained else by_set,
        caption=f"{_several(given, sets)}{_APART if len(sets) > 1 else ''}",
        columns=columns,
        by=[column.parts[0][0] for column in columns].index(most_telling),
        remarks=_remarks(given, sets),
    )


def _sets(given: Given) -> Iterator[Draft]:
    """Table 4: the score on each set that no run is known to have seen, and the mean of all.

    A set on which no group was measured would leave every group without a mean.
    """
    unseen = [one for one in given.sets if not given.is_trained(one) and not given.has_chosen(one)]
    sets = [one for one in unseen if given.n_measured(one)] or unseen
    scored = [(one, score) for one in sets if (score := given.score(one))]
    common = "pass@1" if any(score == "pass@1" for _, score in scored) else "reward"
    kept = [one for one, score in scored if score == common]
    if len(kept) < 2:
        return
    columns = [_column(given, given.labels[one], one, common) for one in kept]
    yield Draft(
        id=str(TableKind.SETS),
        kind=TableKind.SETS,
        name=f"{_called(common)} by set",
        caption=_several(given, kept),
        columns=_with_mean(columns),
        by=len(columns),
        remarks=_remarks(given, kept),
    )


def _texts(given: Given) -> Iterator[Draft]:
    """How likely texts are that nobody was trained on: what the models have forgotten."""
    for texts in given.texts:
        label, is_trained = given.labels[texts], given.is_trained(texts)
        seen = ", on some of which runs were trained" if is_trained else ""
        by = f" {_capital(_by(given, texts))}." if given.one_of(texts).is_own else ""
        measured = given.measures(texts)
        known = [
            (name, metric)
            for name in TEXT_MEASURES
            if name in measured and (metric := measure_of(f"eval/{name}")) is not None
        ]
        yield Draft(
            id=f"{TableKind.TEXTS}/{label}",
            kind=TableKind.TEXTS,
            name="Likelihood of texts",
            set=label,
            caption=f"Mean log-probability of the responses of `{label}`{seen}: what falls was "
            f"forgotten. The change is from the model that each was compared with, text by text."
            f"{by}{_start(given, texts)}",
            columns=[
                Column(
                    metric.title, [(texts, name)], direction_of(metric.name), metric.unit,
                    is_trained=is_trained,
                )
                for name, metric in known
            ],
            remarks=given.remarks.get(texts, ()),
        )  # fmt: skip


def _runs(given: Given) -> Iterator[Draft]:
    """What the runs have measured themselves: held out, from outside, and its price."""
    runs = given.measured.runs.values()
    trained = [(run.config, run.trained) for run in runs]
    metrics = result_metrics({name for _, values in trained for name in values})
    if not metrics:
        return
    having = {name: [config for config, values in trained if name in values] for name in metrics}
    apart = {name: measured_apart(name, configs) for name, configs in having.items()}
    yield Draft(
        id=str(TableKind.RUNS),
        kind=TableKind.RUNS,
        name="Measured in the runs",
        caption="The newest value that each run measured or that was attached to it; its output "
        "model may be from an earlier step.",
        columns=[
            _own_column(name, having[name], is_apart=apart[name] is not None) for name in metrics
        ],
        remarks=list(_apart_remarks(apart)),
    )


def _own_column(name: str, configs: Sequence[Mapping[str, Any]], *, is_apart: bool) -> Column:
    """A metric of the runs, called what the first method that knows it calls it."""
    methods = (Method(str(config["method"])) for config in configs)
    known = next(filter(None, (metric_of(method, name) for method in methods)), None)
    title, unit = (name, "") if known is None else (known.title, known.unit)
    if _WON.fullmatch(name) and (measure := measure_of(name)) is not None:
        title, unit = f"{name.split('/')[1]}: {measure.title}", measure.unit
    direction = "none" if is_apart else direction_of(name)
    return Column(
        title, [(ITSELF, name)], direction, unit, has_chosen=_is_of_choosing(name, configs)
    )


def _is_of_choosing(name: str, configs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether policies measured it on the held-out prompts by which they chose their checkpoint."""
    part, _, measure = name.partition("/")
    sets = {one["name"] for config in configs for one in config.get("evaluation_sets") or ()}
    is_held_out = part == "eval" and measure.split("/")[0] not in sets
    return is_held_out and any("estimator" in config for config in configs)


def _apart_remarks(apart: Mapping[str, str | None]) -> Iterator[str]:
    """A sentence for each section of the config that makes metrics measure something else."""
    for section in dict.fromkeys(filter(None, apart.values())):
        names = ", ".join(f"`{name}`" for name, one in apart.items() if one == section)
        yield (
            f"Not the same measure in all groups, because `{section}` differs: {names}. Compare "
            "groups by `gold/` metrics."
        )


def result_metrics(names: Iterable[str]) -> list[str]:
    """What runs with these metrics are compared by: never a training reward or loss."""
    found = set(names)
    passes = sorted((int(one[1]), name) for name in found
                    if name.startswith("eval/") and (one := _PASSES.fullmatch(name)))  # fmt: skip
    won = sorted((name for name in found if _WON.fullmatch(name)), key=natural)
    measured = [*gold_metrics(found), *HELD_OUT, *won, *(name for _, name in passes)]
    prices = [next((one for one in either if one in found), None) for either in _PRICES]
    known = [name for name in measured if name in found]
    costs = [name for name in prices if name is not None]
    return [*known[: _MOST_METRICS - len(costs)], *costs]


def natural(text: str) -> list[tuple[int, float, str]]:
    """Orders numbers in a text by what they are: 2, 8, 10."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(0, float(part), "") if i % 2 else (1, 0.0, part) for i, part in enumerate(parts)]


def _column(given: Given, name: str, prompts: PromptSet, measure: str) -> Column:
    unit = _UNITS.get(measure.partition("/")[0], "share")
    return Column(
        name, [(prompts, measure)], direction_of(measure), unit,
        is_trained=given.is_trained(prompts), is_partly=given.is_partly(prompts),
        has_chosen=given.has_chosen(prompts), is_unchecked=given.is_unchecked(prompts),
    )  # fmt: skip


def _told(given: Given, prompts: PromptSet) -> str:
    """The name of a set, and what the runs have seen of its prompts."""
    label = f"`{given.labels[prompts]}`"
    if (found := given.in_common(prompts)) is not None and found.is_any:
        return f"{label}, {_of_other_snapshot(found)}"
    if given.is_partly(prompts):
        return f"{label}, on some of whose prompts the runs were trained"
    if given.is_trained(prompts):
        return f"{label}, prompts that the runs were trained on"
    if given.has_chosen(prompts):
        return f"{label}, {_CHOSE}"
    return f"{label}, {_UNCHECKED}" if given.is_unchecked(prompts) else label


def _of_other_snapshot(found: InCommon) -> str:
    """How many prompts of a set are in the snapshot that was trained on, in words."""
    sides = ((found.training, "were trained on"), (found.heldout, "chose the checkpoints"))
    told = " and ".join(f"{n:,} {what}" for n, what in sides if n)
    return f"of whose {plural(found.of, 'prompt')} {told}"


def _with_mean(columns: Sequence[Column]) -> list[Column]:
    if len(columns) < 2:
        return list(columns)
    parts = [part for column in columns for part in column.parts]
    first = columns[0]
    is_trained = any(column.is_trained for column in columns)
    mean = Column(
        _MEAN, parts, first.direction, first.unit, is_mean=True, is_trained=is_trained,
        is_partly=is_trained and not all(map(_is_all_trained, columns)),
        has_chosen=any(column.has_chosen for column in columns),
        is_unchecked=any(column.is_unchecked for column in columns),
    )  # fmt: skip
    return [*columns, mean]


def _is_all_trained(column: Column) -> bool:
    return column.is_trained and not column.is_partly


def _called(measure: str) -> str:
    return {"reward": "Reward", "length": "Length", "score_per_token": "Score per token"}.get(
        measure, measure
    )


def _shown_ks(measures: Iterable[str]) -> list[int]:
    """1, and the paper's 16 or else the largest."""
    ks = {int(found[1]) for one in measures if (found := _PASSES.fullmatch(one))}
    return sorted({1, _PAPER_K if _PAPER_K in ks else max(ks)} & ks) if ks else []


def _several(given: Given, sets: Sequence[PromptSet]) -> str:
    """How several sets were sampled, said once where it is the same."""
    said = {one: _how(given, one) for one in sets}
    start = _start(given, *sets)
    if len(set(said.values())) == 1:
        (same,) = set(said.values())
        return f"{_capital(same)}.{start}"
    return "; ".join(f"`{given.labels[one]}`: {said[one]}" for one in sets) + f".{start}"


def _how(given: Given, prompts: PromptSet) -> str:
    """How the responses were sampled, and when, if the runs measured themselves."""
    one = given.one_of(prompts)
    by = f"{_by(given, prompts)}, " if one.is_own else ""
    return by + sampled(one.sampling)


def _by(given: Given, prompts: PromptSet) -> str:
    return by_themselves(given.of_groups(prompts), given.outputs)


def _start(given: Given, *sets: PromptSet) -> str:
    """By whom the start was measured, if by the runs and beside their own models."""
    by_runs = [one for one in sets if given.n_measured(one) and given.n_starts(one)]
    if not by_runs:
        return ""
    labels = [f"`{given.labels[one]}`" for one in by_runs] if len(by_runs) < len(sets) else []
    return start_words(max(map(given.n_starts, by_runs)), labels)


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def _remarks(given: Given, sets: Sequence[PromptSet]) -> list[str]:
    said = [
        f"`{given.labels[one]}`: {remark}" for one in sets for remark in given.remarks.get(one, ())
    ]
    return [*said, *_unmoved(given, *sets)]


def _unmoved(given: Given, *sets: PromptSet) -> list[str]:
    """Say whose outputs, which evaluations measured, are the model that they began with."""
    evaluated = {run for one in sets for run, by in given.of_groups(one).items() if not by.is_own}
    runs = given.measured.runs
    found = [
        (row, sum(given.outputs.get(run) == 0 for run in row.subjects if run in evaluated))
        for row in given.rows
        if row.is_group and runs[row.subjects[0]].method == Method.POLICY_GRADIENT
    ]
    said = unmoved_words([(row.name, n, len(row.subjects)) for row, n in found if n > 0])
    return [said] if said else []
