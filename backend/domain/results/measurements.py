"""What runs have measured: numbers of one model on one set of prompts, under one sampling.

An evaluation measures the model that another run made; a run that trains measures its own policy
as it goes. `chosen` decides which of several measurements counts. Pure.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.domain.differences.prompts import InCommon
from backend.domain.seeds.draws import Draw
from backend.domain.seeds.groups import differences
from backend.domain.seeds.named_ids import with_names
from backend.domain.verdict.words import as_set
from backend.schemas.vocabulary import Method

_MEASURE = re.compile(
    r"(?:pass|maj|bon|bon_reward)@[1-9][0-9]*|reward|length|score_per_token|gain|pass_gain|coverage|"
    r"truncated_fraction|length_right|length_wrong|distinct|distinct_2|win_rate|win_rate_lc"
)
# What is measured of texts, all of which are read, whatever their split.
TEXT_MEASURES = ("text_logp", "text_change")
TEXTS = "texts"
_SAMPLING = ("temperature", "top_p", "max_new_tokens")
_PROMPT = ("system", "template")
# Measured by a run before its first step, too.
_BEFORE = ("eval/", "kl/", "length/")
# A policy's own evaluation of its held-out prompts: worker.trainer.methods.policy_gradient.
_OWN_SAMPLES = 2
_UNKNOWN: Mapping[str, int] = {}
_NOTHING = InCommon(0, 0, 0)


@dataclass(frozen=True)
class Reading:
    """A number with its own 95 % interval, if it has one.

    `step`: that of the run that measured itself; None for what an evaluation found.
    """

    value: float
    low: float | None = None
    high: float | None = None
    step: int | None = None


@dataclass(frozen=True)
class PromptSet:
    """A set of prompts: its name in metrics (empty: the prompts of the run itself), its data.

    Texts that are only read stand here too, with TEXTS as their split.
    """

    name: str
    data: str
    split: str

    @property
    def is_texts(self) -> bool:
        """Whether nothing was sampled on it."""
        return self.split == TEXTS


@dataclass(frozen=True)
class Seen:
    """What policies have seen: the snapshots that they were trained on.

    `divided`: the snapshots that have held-out prompts beside those to be trained on. `common`: of
    sets of other snapshots, the prompts that they have in common with one that was trained on; None
    = nobody has counted them.
    """

    data: frozenset[str] = frozenset()
    divided: frozenset[str] = frozenset()
    common: Mapping[PromptSet, InCommon | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        configs: Iterable[Mapping[str, Any]],
        divided: frozenset[str],
        common: Mapping[PromptSet, InCommon | None] | None = None,
    ) -> "Seen":
        """What the policies among the runs with these configs have seen."""
        return cls(trained_data(configs), divided, common or {})

    def is_trained(self, prompts: PromptSet) -> bool:
        """Whether a policy was trained on prompts of this set, all or some."""
        if prompts.data in self.data:
            return prompts.split != "heldout"
        return self._common(prompts).training > 0

    def is_partly(self, prompts: PromptSet) -> bool:
        """Whether other prompts are in this set, too, beside those that were trained on."""
        if prompts.data in self.data:
            return prompts.split == "all" and prompts.data in self.divided
        found = self._common(prompts)
        return 0 < found.training < found.of

    def has_chosen(self, prompts: PromptSet) -> bool:
        """Whether a policy kept its best checkpoint by prompts of this set, all or some."""
        if prompts.data in self.data:
            return prompts.split == "heldout"
        return self._common(prompts).heldout > 0

    def is_unchecked(self, prompts: PromptSet) -> bool:
        """Whether it is not known if a policy was trained on prompts of this set."""
        if prompts.data in self.data:
            return False
        return prompts in self.common and self.common[prompts] is None

    def counted(self, prompts: PromptSet) -> InCommon | None:
        """How many prompts a set of another snapshot has in common with what was trained on."""
        return None if prompts.data in self.data else self.common.get(prompts)

    def _common(self, prompts: PromptSet) -> InCommon:
        found = self.common.get(prompts)
        return _NOTHING if found is None else found


def trained_data(configs: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The snapshots of prompts that the policies among runs with these configs are trained on."""
    trained = (key_of(config.get("prompts")) for config in configs if "estimator" in config)
    return frozenset(filter(None, trained))


# What a run has measured under the names that it has itself, whichever prompts that was on.
ITSELF = PromptSet("", "", "")


@dataclass(frozen=True)
class MeasuredRun:
    """A run as far as tables read it. `number` is the order of creation.

    `values` are the newest by metric that belong together (`newest`), `steps` the steps that they
    are of, where known; `first` are the values of step 0. `draw`: which seed it is of; None = that
    of its config.
    """

    id: str
    number: int
    method: str
    config: Mapping[str, Any]
    values: Mapping[str, float]
    first: Mapping[str, float] = field(default_factory=dict)
    has_ended: bool = True
    commit: str | None = None
    name: str = ""
    draw: Draw | None = None
    steps: Mapping[str, int] = field(default_factory=dict)

    @property
    def drawn(self) -> Draw:
        """The seed that the run is of, with what decides whether it counts."""
        return self.draw or Draw(self.id, self.config.get("seed"))

    @property
    def model(self) -> str:
        """The model that it begins with or evaluates, as `key_of` names it; empty for none."""
        return key_of(self.config.get("model"))

    @property
    def trained(self) -> Mapping[str, float]:
        """Its values without what it measured before its first step, which is its start's.

        What was attached at step 0 stays: its output may be of that step.
        """
        return {
            name: value
            for name, value in self.values.items()
            if self.steps.get(name) != 0 or not name.startswith(_BEFORE)
        }

    @property
    def reference(self) -> str:
        """The model that a policy is compared with, as `key_of` names it."""
        return key_of(self.config.get("reference")) or self.model


@dataclass(frozen=True)
class Measurement:
    """What the run `by` found of a model on one set. `subject`: the model's maker, or its key.

    `seed`: that of a run which measured its start before its first step; empty for all others.
    `each`: of such a start one measurement for each seed; empty for all others.
    """

    subject: str
    prompts: PromptSet
    sampling: Mapping[str, Any]
    readings: Mapping[str, Reading]
    by: str
    number: int
    is_own: bool = False
    baseline: str = ""
    seed: str = ""
    each: Sequence["Measurement"] = ()

    @property
    def step(self) -> int | None:
        """The step of the run that measured itself; None if that is not known."""
        return max((one.step for one in self.readings.values() if one.step is not None),
                   default=None)  # fmt: skip


def key_of(reference: Mapping[str, Any] | None) -> str:
    """How a config names a model: by its id, or by its name on a hub."""
    found = reference or {}
    return str(found.get("id") or found.get("hub_id") or "")


def of_evaluation(run: MeasuredRun, subject: str, baseline: str) -> list[Measurement]:
    """What an evaluate run says of the model of `subject`, by set."""
    return list(_measured(run, run.values, subject, baseline=baseline))


def of_itself(run: MeasuredRun, start: str, reference: str = "") -> list[Measurement]:
    """What a policy run says of its own policy, and before its first step of the start.

    `reference`: the subject that it was compared with if it asked for it, response by response.
    """
    return [
        *_measured(run, run.trained, run.id, is_own=True, baseline=reference, steps=run.steps),
        *(
            replace(one, seed=json.dumps(run.drawn.seed))
            for one in _measured(run, run.first, start, is_own=True)
        ),
    ]


def _measured(
    run: MeasuredRun,
    values: Mapping[str, float],
    subject: str,
    *,
    is_own: bool = False,
    baseline: str = "",
    steps: Mapping[str, int] = _UNKNOWN,
) -> Iterator[Measurement]:
    for prompts, sampling in sets_of(run.config):
        found = readings_of(values, prompts.name, run.config.get("breakdown") or [], steps)
        if found:
            how = sampling | _penalty_in(found, prompts, run.config)
            yield Measurement(subject, prompts, how, found, run.id, run.number, is_own, baseline)
    texts = key_of(run.config.get("texts"))
    names = [name for name in TEXT_MEASURES if f"eval/{name}" in values]
    if texts and names:
        found = {name: reading(values, f"eval/{name}", steps) for name in names}
        where, how = PromptSet("", texts, TEXTS), _prompted(run.config)
        yield Measurement(subject, where, how, found, run.id, run.number, is_own, baseline)


def _penalty_in(
    found: Mapping[str, Reading], prompts: PromptSet, config: Mapping[str, Any]
) -> dict[str, Any]:
    """The over-long penalty, where it is part of the reward that these readings are compared by.

    Named sets are scored without it, and no penalty changes what passes.
    """
    if prompts.name or "pass@1" in found or config.get("overlong") != "penalize":
        return {}
    return {name: config.get(name) for name in ("overlong", "overlong_penalty")}


def sets_of(config: Mapping[str, Any]) -> Iterator[tuple[PromptSet, dict[str, Any]]]:
    """The sets that a config measures on, each with how its responses are sampled and judged."""
    is_policy = config.get("method") == Method.POLICY_GRADIENT
    own = {
        "name": "",
        "prompts": config.get("prompts"),
        "split": "heldout" if is_policy else config.get("split", "all"),
        "samples_per_prompt": _OWN_SAMPLES if is_policy else config.get("samples_per_prompt", 1),
    }
    for one in (own, *(config.get("evaluation_sets") or [])):
        data = key_of(one.get("prompts"))
        yield PromptSet(one["name"], data, one.get("split", "all")), _sampling(config, one)


def _sampling(config: Mapping[str, Any], one: Mapping[str, Any]) -> dict[str, Any]:
    rollout = config.get("rollout") or {}
    said = {name: one[name] if one.get(name) is not None else rollout.get(name)
            for name in _SAMPLING}  # fmt: skip
    return {
        "samples_per_prompt": one.get("samples_per_prompt", 1),
        **said,
        "stop": rollout.get("stop") or "",
        **_prompted(config),
        "reward": config.get("reward"),
        "pass_reward": config.get("pass_reward"),
    }


def _prompted(config: Mapping[str, Any]) -> dict[str, Any]:
    rollout = config.get("rollout") or {}
    return {name: rollout.get(name) or "" for name in _PROMPT}


def readings_of(
    values: Mapping[str, float],
    set_name: str,
    breakdown: Sequence[str],
    steps: Mapping[str, int] = _UNKNOWN,
) -> dict[str, Reading]:
    """The measures of a set: `pass@1`, and `pass@1/level.3` of a part of it."""
    prefix = f"eval/{set_name}/" if set_name else "eval/"
    found = {
        name.removeprefix(prefix): reading(values, name, steps)
        for name in values
        if name.startswith(prefix) and not name.endswith(("_low", "_high"))
    }
    return {name: one for name, one in found.items() if _is_measure(name, breakdown)}


def _is_measure(name: str, breakdown: Sequence[str]) -> bool:
    measure, _, part = name.partition("/")
    key = part.partition(".")[0]
    return _MEASURE.fullmatch(measure) is not None and (not part or key in breakdown)


def metric_on(prompts: PromptSet, measure: str) -> str:
    """The metric that a measure of a set is: `eval/heldout/pass@1`."""
    return f"eval/{prompts.name}/{measure}" if prompts.name else f"eval/{measure}"


def reading(values: Mapping[str, float], name: str, steps: Mapping[str, int] = _UNKNOWN) -> Reading:
    """The value of a metric with the ends of its interval, and the step that it is of."""
    low, high = values.get(f"{name}_low"), values.get(f"{name}_high")
    return Reading(values[name], low, high, steps.get(name))


Chosen = Mapping[tuple[str, PromptSet], Measurement]


def chosen(
    measurements: Sequence[Measurement], records: Mapping[str, str]
) -> tuple[Chosen, dict[PromptSet, list[str]]]:
    """One measurement of each model on each set, and by set what is left out, and why.

    Evaluations come before what runs measured themselves, the sampling that measured the most
    models before others, with which it cannot be compared, and the newest before older ones; what
    several runs measured of one start is joined. `records`: what is said for the ids in configs.
    """
    by_set: defaultdict[PromptSet, list[Measurement]] = defaultdict(list)
    for one in sorted(measurements, key=lambda one: one.number):
        by_set[one.prompts].append(one)
    kept: dict[tuple[str, PromptSet], Measurement] = {}
    remarks: dict[PromptSet, list[str]] = {}
    for prompts, found in by_set.items():
        evaluated = [one for one in found if not one.is_own] or found
        alike, others = _most_alike(evaluated)
        kept |= {(one.subject, prompts): one for one in _with_starts(alike)}
        remarks[prompts] = [_left_out(alike[0], other, records) for other in others]
    return kept, remarks


def _with_starts(found: Sequence[Measurement]) -> Iterator[Measurement]:
    """Join what runs measured of their start, the newest of each seed; the rest as it is.

    It is one model, sampled anew with each seed: none of these numbers is truer than the others.
    """
    starts: defaultdict[str, dict[str, Measurement]] = defaultdict(dict)
    for one in found:
        if one.seed:
            starts[one.subject][one.seed] = one
    yield from (one for one in found if one.subject not in starts)
    for by_seed in starts.values():
        each = [by_seed[seed] for seed in sorted(by_seed, key=in_order)]
        readings = {name: it for one in each for name, it in one.readings.items()}
        yield replace(each[0], readings=readings, seed="", each=each)


def in_order(seed: str) -> tuple[int, str]:
    """Orders seeds, as JSON, by their numbers."""
    return len(seed), seed


def _most_alike(
    found: Sequence[Measurement],
) -> tuple[list[Measurement], list[list[Measurement]]]:
    """Split measurements by sampling: those of the one that measured most models, then the others.

    Of equals the newest comes first.
    """
    groups: defaultdict[str, list[Measurement]] = defaultdict(list)
    for one in found:
        groups[json.dumps(one.sampling, sort_keys=True)].append(one)
    ordered = sorted(
        groups.values(), key=lambda group: (len({one.subject for one in group}), group[-1].number)
    )
    return ordered[-1], ordered[:-1]


def _left_out(kept: Measurement, others: Sequence[Measurement], records: Mapping[str, str]) -> str:
    apart = differences([with_names(one.sampling, records) for one in (kept, others[0])])
    path, (ours, theirs) = min(apart.items(), key=_what_first)
    runs = len({one.by for one in others})
    many = f"{runs} evaluations are" if runs > 1 else "1 evaluation is"
    return (
        f"{many} left out as not comparable: `{path}` is {_said(theirs)} instead of {_said(ours)}."
    )


def _what_first(item: tuple[str, Sequence[Any]]) -> tuple[bool, bool, str]:
    """Order differences: what kind of thing it is, then what both have, then what only one has."""
    path, values = item
    return not path.endswith(".kind"), any(value is None for value in values), path


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return as_set(value)
    text = "none" if value in (None, "", []) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
