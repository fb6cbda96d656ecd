"""Which runs measure the same by a metric, so that a higher number is a better policy; pure."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.domain.dotted_path import value_at
from backend.domain.seeds.groups import without_seed

Config = Mapping[str, Any]

# What a number is a measure of, and on what.
_OF = ("method", "reward")
_ON = ("prompts", "demonstrations", "preferences", "solutions", "split")
_SETS = "evaluation_sets"
# Those that say how much was written, whatever it is worth.
_WHATEVER_THE_REWARD = re.compile(
    r"eval/(.*/)?(length|truncated_fraction|distinct|distinct_2|text_.*)"
)
# Those that another baseline changes.
_BESIDE_A_BASELINE = re.compile(r"eval/(win_rate|win_rate_lc|gain|pass_gain|text_change)(/.*)?")

# Those that the over-long penalty is part of.
_WITH_THE_PENALTY = re.compile(r"(eval/(reward|objective)|reward/(mean|std))(/.*)?")
# The penalty begins so many tokens before the limit.
_PENALTY = ("overlong", "overlong_penalty", "rollout.max_new_tokens")


def measured_apart(metric: str, configs: Sequence[Config]) -> str | None:
    """The section that differs, so that a metric measures something else in each config.

    Only what runs measure themselves depends on their configs; `gold/NAME` does not.
    """
    first, *others = (_measured(metric, config) for config in configs)
    return next(
        (one for one, value in first.items() if any(o.get(one) != value for o in others)), None
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
    name = _of_a_set(metric)
    sets = {one["name"]: one for one in config.get(_SETS) or () if one["name"] == name}
    if not sections or not sets:
        return sections
    return {one: sections[one] for one in sections if one not in _ON} | {_SETS: sets[name]}


def _section(config: Config, name: str) -> Any:
    if name not in _PENALTY:
        return config.get(name)
    return value_at(config, name) if config.get("overlong") == "penalize" else None


def _sections(metric: str) -> tuple[str, ...]:
    if not metric.startswith(("eval/", "reward/")):
        return ()
    of = _OF if _WHATEVER_THE_REWARD.fullmatch(metric) is None else ("method",)
    beside = ("baseline_model",) if _BESIDE_A_BASELINE.fullmatch(metric) else ()
    penalty = _PENALTY if _WITH_THE_PENALTY.fullmatch(metric) else ()
    return (*of, *_ON, *beside, *penalty)


def _of_a_set(metric: str) -> str:
    """The name that a set would have whose metric this is; empty if it can be of none."""
    parts = metric.split("/")
    return parts[1] if parts[0] == "eval" and len(parts) > 2 else ""
