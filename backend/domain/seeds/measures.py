"""Which runs measure the same by a metric, so that a higher number is a better policy; pure."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.domain.dotted_path import value_at
from backend.domain.seeds.groups import without_seed
from backend.schemas.metrics.metric import Aspect, is_of_part
from backend.schemas.metrics.registry import depends_on
from backend.schemas.references import DATA
from backend.schemas.vocabulary import Method

Config = Mapping[str, Any]

_SETS = "evaluation_sets"
_BASELINE = "baseline_model"
# Of a set these are its own.
_ON = (*DATA, "split")
# The penalty begins so many tokens before the limit.
_PENALTY = ("overlong", "overlong_penalty", "rollout.max_new_tokens")
# How responses are sampled, but for the token limit: a run may learn to do with another. A set may
# say the first ones itself.
_INHERITED = ("temperature", "top_p")
_PROMPTED = ("rollout.system", "rollout.template")
_SAMPLED = (*(f"rollout.{one}" for one in _INHERITED), "rollout.stop", *_PROMPTED)
# What the KL is measured against: the reference, or without one the model that the run began with.
_REFERENCE = "reference"

# The sections that say it, in the order in which the first that differs is named.
_SECTIONS: Mapping[Aspect, tuple[str, ...]] = {
    "method": ("method",),
    "reward": ("reward", "pass_reward"),
    "data": _ON,
    "sampling": _SAMPLED,
    "texts": ("texts",),
    "prompt": _PROMPTED,
    "baseline": (_BASELINE,),
    "penalty": _PENALTY,
    "loss": ("loss", "beta", "label_smoothing", "margin", "center"),
    "price": ("kl.coef", "kl.target"),
    "reference": (_REFERENCE,),
}


def measured_apart(metric: str, configs: Sequence[Config]) -> str | None:
    """The section that differs, so that a metric measures something else in each config.

    Only what runs measure themselves depends on their configs; `gold/NAME` does not.
    """
    first, *others = (_measured(metric, config) for config in configs)
    found = (one for one, value in first.items() if any(o.get(one) != value for o in others))
    section = next(found, None)
    return None if section is None else _as_written(section, metric, configs)


def _as_written(section: str, metric: str, configs: Sequence[Config]) -> str:
    """The section that says it, where a set or the reference has it from another one."""
    if section == _BASELINE and all(map(_is_policy, configs)):
        section = _REFERENCE
    if section == _REFERENCE and not any(config.get(_REFERENCE) for config in configs):
        return "model"
    sets = [_set_of(metric, config) for config in configs]
    if section != _SETS or any(one != sets[0] for one in sets):
        return section
    found = [one or {} for one in sets]
    return next(
        f"rollout.{setting}"
        for setting in _INHERITED
        if len({_sampled_by(*both, setting) for both in zip(found, configs, strict=True)}) > 1
    )


def all_measured_apart(metrics: Iterable[str], configs: Sequence[Config]) -> dict[str, str]:
    """Each of these metrics that measures something else in each config, with what differs."""
    known: dict[tuple[str, ...], str | None] = {}
    found = {}
    for metric in metrics:
        # A name has few forms, and runs may have hundreds of names.
        form = (*_sections(metric), _of_a_set(metric))
        if form not in known:
            known[form] = measured_apart(metric, configs)
        if (section := known[form]) is not None:
            found[metric] = section
    return found


def most_alike(metric: str, configs: Sequence[Config]) -> list[int]:
    """Places of the configs that measure the same: of most groups of seeds, the first of equals."""
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for place, config in enumerate(configs):
        alike[json.dumps(_measured(metric, config), sort_keys=True)].append(place)
    return max(alike.values(), key=lambda places: len({without_seed(configs[i]) for i in places}))


def apart_from_most(metric: str, configs: Sequence[Config]) -> list[str | None]:
    """Name the section that makes each config measure something else than most; None: none."""
    first = configs[most_alike(metric, configs)[0]]
    return [measured_apart(metric, [first, config]) for config in configs]


def _measured(metric: str, config: Config) -> dict[str, Any]:
    """What this metric measures in a run with this config, by section."""
    sections = {one: _section(config, one) for one in _sections(metric)}
    found = _set_of(metric, config)
    if not sections or found is None:
        return sections
    inherited = {f"rollout.{one}": _sampled_by(found, config, one) for one in _INHERITED}
    own = {name: value for name, value in found.items() if name not in _INHERITED}
    own |= {path: value for path, value in inherited.items() if path in sections}
    left_out = {*_ON, *inherited}
    return {one: sections[one] for one in sections if one not in left_out} | {_SETS: own}


def _set_of(metric: str, config: Config) -> Config | None:
    """The evaluation set of a config that a metric is of; None if it is of none."""
    name = _of_a_set(metric)
    return next((one for one in config.get(_SETS) or () if one["name"] == name), None)


def _sampled_by(one: Config, config: Config, setting: str) -> Any:
    """What a set says of its sampling, or else its run."""
    own = one.get(setting)
    return value_at(config, f"rollout.{setting}") if own is None else own


def _section(config: Config, name: str) -> Any:
    # A policy is compared with its reference.
    if name == _REFERENCE or (name == _BASELINE and _is_policy(config)):
        return config.get(_REFERENCE) or config.get("model")
    if name in _PENALTY:
        return value_at(config, name) if config.get("overlong") == "penalize" else None
    found = value_at(config, name)
    # Runs from before there was such a setting have none.
    return None if found in ("", []) else found


def _is_policy(config: Config) -> bool:
    return config.get("method") == Method.POLICY_GRADIENT


def _sections(metric: str) -> tuple[str, ...]:
    aspects = depends_on(metric)
    if _is_of_a_set(metric):
        aspects -= {"penalty"}
    return tuple(one for aspect in _SECTIONS if aspect in aspects for one in _SECTIONS[aspect])


def _is_of_a_set(metric: str) -> bool:
    """Whether it is of a named set, not of a part of the run's own prompts."""
    n_parts = metric.count("/") + 1 - is_of_part(metric)
    return metric.startswith(("eval/", "baseline/")) and n_parts > 2


def _of_a_set(metric: str) -> str:
    """The name that a set would have whose metric this is; empty if it can be of none."""
    return metric.split("/")[1] if _is_of_a_set(metric) else ""
