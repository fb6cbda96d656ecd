"""What was not the same where runs were executed: their code, libraries and hardware."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.schemas.compared.differences import (
    EnvironmentDifference,
    EnvironmentDifferences,
    FactValue,
)

# What the trainer reports at the start of each attempt.
EXPECTED = (
    "code.commit",
    "code.sha256",
    "code.version",
    "device",
    "processor",
    "python",
    "torch_build",
    "versions.torch",
    "versions.transformers",
)
# By name their hashes: expected of what a run calls.
_FUNCTIONS = "reward_functions."
_MOST_FACTS = 200
_LONGEST = 500
_MOST_DEPTH = 8

Environment = Mapping[str, Any]


def environment_differences(
    attempts: Mapping[str, Sequence[Environment]],
) -> EnvironmentDifferences:
    """The facts that differ between these runs, or between the attempts of one of them.

    `attempts`: for each run what its attempts reported, in order.
    """
    facts = {run: [_facts(one) for one in found] for run, found in attempts.items()}
    everything = [one for found in facts.values() for one in found]
    paths = sorted({path for one in everything for path in one})
    items = [
        EnvironmentDifference(path=path, values=_values(path, facts, everything))
        for path in paths
        if any(one.get(path) != everything[0].get(path) for one in everything)
    ]
    return EnvironmentDifferences(items=items[:_MOST_FACTS], unrecorded=_unrecorded(attempts))


def _facts(environment: Environment) -> dict[str, Any]:
    """The values of an environment by dotted path; None says that nothing was found out."""
    return {path: value for path, value in _leaves(environment) if value is not None}


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping) or depth == _MOST_DEPTH:
        yield path[:_LONGEST], value
        return
    for name, inner in value.items():
        yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth + 1)


def _values(
    path: str, facts: Mapping[str, Sequence[Mapping[str, Any]]], everything: Sequence[Environment]
) -> list[FactValue]:
    """Each value of a fact with the runs that had it; of lists what not all of them have."""
    lists = [one[path] for one in everything if isinstance(one.get(path), list)]
    # One without the list, as with no edited file, shares nothing of it.
    is_shared = len(lists) == len(everything) > 0
    common = [part for part in lists[0] if all(part in one for one in lists)] if is_shared else []
    found: defaultdict[str, list[str]] = defaultdict(list)
    for run, attempts in facts.items():
        for words in dict.fromkeys(_words(one[path], common) for one in attempts if path in one):
            found[words].append(run)
    return [FactValue(value=words, runs=runs) for words, runs in found.items()]


def _words(value: Any, common: Sequence[Any]) -> str:
    if isinstance(value, list):
        value = ", ".join(str(part) for part in value if part not in common) or "nothing else"
    return str(value)[:_LONGEST]


def _unrecorded(attempts: Mapping[str, Sequence[Environment]]) -> dict[str, list[str]]:
    """List, by expected fact, the runs without it; `environment`: those that reported nothing."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for run, environments in attempts.items():
        facts = [_facts(one) for one in environments]
        if not any(facts):
            found["environment"].append(run)
            continue
        missing = [path for path in EXPECTED if not all(path in one for one in facts)]
        for path in dict.fromkeys([*missing, *_not_found(environments)]):
            found[path].append(run)
    return dict(found)


def _not_found(environments: Sequence[Environment]) -> list[str]:
    """The reward functions whose file an attempt did not find."""
    leaves = [leaf for one in environments for leaf in _leaves(one)]
    return [path for path, value in leaves if value is None and path.startswith(_FUNCTIONS)]
