"""Which runs are seeds of the same: their configs differ in nothing else."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

_SEED = "seed"
# Where and how fast a run computes, and what it logs, changes no number that it measures.
WITHOUT_EFFECT = frozenset({"resources", "log", "checkpoint_every", "max_checkpoints"})


def seed_groups(configs: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The runs by what they are seeds of, in the order in which they were given."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for run_id, config in configs.items():
        groups[without_seed(config)].append(run_id)
    return list(groups.values())


def without_seed(config: Mapping[str, Any]) -> str:
    """A config in one spelling, without what changes no number: equal for seeds of the same."""
    rest = {k: v for k, v in config.items() if k != _SEED and k not in WITHOUT_EFFECT}
    return json.dumps(rest, sort_keys=True)


def differences(configs: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values by dotted path that are not the same in all configs; None where one has none."""
    flat = [dict(_leaves(config)) for config in configs]
    paths = sorted({path for leaves in flat for path in leaves})
    columns = {path: [leaves.get(path) for leaves in flat] for path in paths}
    return {path: values for path, values in columns.items() if any(v != values[0] for v in values)}


def group_differences(
    configs: Mapping[str, Mapping[str, Any]], groups: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """List of each group what is not the same in the configs of all groups, by dotted path."""
    firsts = [{k: v for k, v in configs[runs[0]].items() if k != _SEED} for runs in groups]
    apart = differences(firsts)
    return [{path: values[i] for path, values in apart.items()} for i in range(len(groups))]


def _leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    children: list[tuple[str, Any]] = []
    if isinstance(value, Mapping):
        children = list(value.items())
    elif isinstance(value, list):
        children = [(str(i), one) for i, one in enumerate(value)]
    if not children:
        return [(path, value)]
    return [
        leaf
        for name, child in children
        for leaf in _leaves(child, f"{path}.{name}" if path else str(name))
    ]
