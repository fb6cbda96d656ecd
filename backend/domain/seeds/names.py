"""What groups of seeds are called: what sets each apart from the others, in few words; pure."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.dotted_path import value_at
from backend.domain.seeds.groups import WITHOUT_EFFECT, group_differences, without_seed
from backend.domain.seeds.named_ids import with_names
from backend.schemas.vocabulary import Method

# Sections whose settings nobody takes for those of another.
_KNOWN_WITHOUT_SECTION = frozenset({"optim", "rollout"})
# What comes with an estimator is not said beside it.
_UNSAID = frozenset({"estimator", "critic", "gae"}) | WITHOUT_EFFECT
_MOST_IN_NAME = 4
# Of one list: more settings that differ are told as one, such as other reward terms.
_MOST_OF_A_LIST = 3
_LONGEST_VALUE = 40
_SMALL = 1e-3


def sha256_of(config: Mapping[str, Any]) -> str:
    """Hash a config without seed and devices: alike for all seeds of a group."""
    return hashlib.sha256(without_seed(config).encode()).hexdigest()


def names_of(
    configs: Sequence[Mapping[str, Any]], records: Mapping[str, str] | None = None
) -> list[str]:
    """What sets each group apart from the others of its method, the estimator first.

    `records`: what the models and snapshots are called that the configs name by their ids.
    """
    told = [with_names(config, records or {}) for config in configs]
    methods = Counter(config.get("method") for config in configs)
    by_place: dict[int, str] = {}
    for method in methods:
        places = [i for i, config in enumerate(configs) if config.get("method") == method]
        by_place |= zip(places, _names([told[i] for i in places], len(methods)), strict=True)
    often = Counter(by_place.values())
    return [
        name if often[name] == 1 else f"{name} ({sha256_of(configs[place])[:6]})"
        for place, name in sorted(by_place.items())
    ]


def _names(alike: Sequence[Mapping[str, Any]], n_methods: int) -> list[str]:
    """Name the groups of one method, each by one of its configs."""
    by_place = {str(place): one for place, one in enumerate(alike)}
    apart = _lists_as_one(alike, group_differences(by_place, [[place] for place in by_place]))
    own = {path for path in apart[0] if any(one[path] is None for one in apart)}
    beside = {_parent(path) for path in apart[0] if path not in own}
    # What only some have comes with what all have beside it, as a function with its kind of reward.
    hanging = {path for path in own if _parent(path) in beside}
    told = [{p: value for p, value in one.items() if p not in hanging} for one in apart]
    short, full = (_named(alike, many, n_methods) for many in (told, apart))
    often = Counter(short)
    return [a if often[a] == 1 else b for a, b in zip(short, full, strict=True)]


def _named(
    alike: Sequence[Mapping[str, Any]], apart: Sequence[Mapping[str, Any]], n_methods: int
) -> list[str]:
    first = _telling(alike, apart)[:_MOST_IN_NAME]
    return [_name(c, one, first, n_methods) for c, one in zip(alike, apart, strict=True)]


def _telling(alike: Sequence[Mapping[str, Any]], apart: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings, those first that set most groups apart which the ones before leave alike."""
    left = [path for path in apart[0] if _is_said(path)]
    known = [_head(config) for config in alike]
    ordered: list[str] = []
    while left:
        told = {path: _with(known, path, apart) for path in left}
        best = max(left, key=lambda path: len(set(told[path])))
        if len(set(told[best])) == len(set(known)):
            break
        ordered.append(best)
        left.remove(best)
        known = told[best]
    return [*ordered, *left]


def _with(known: Sequence[str], path: str, apart: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"{one}, {json.dumps(own[path])}" for one, own in zip(known, apart, strict=True)]


def _is_said(path: str) -> bool:
    return not path.endswith(".sha256") and path.split(".")[0] not in _UNSAID


def _lists_as_one(
    alike: Sequence[Mapping[str, Any]], apart: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Differences of which those within a list, if they are many, are one; that comes first."""
    many = {
        root: leaves
        for root in dict.fromkeys(filter(None, map(_list_of, apart[0])))
        if len(leaves := [path for path in apart[0] if _list_of(path) == root]) > _MOST_OF_A_LIST
    }
    gone = {path for leaves in many.values() for path in leaves}
    return [
        {f"{root}.kind": _kinds(value_at(config, root)) for root in many}
        | {path: value for path, value in one.items() if path not in gone}
        for config, one in zip(alike, apart, strict=True)
    ]


def _list_of(path: str) -> str:
    """The path of the list that a setting lies in; empty for none."""
    words = path.split(".")
    place = next((i for i, word in enumerate(words) if word.isdecimal()), 0)
    return ".".join(words[:place])


def _kinds(items: Any) -> str:
    """What is in a list, each kind once: model + regex ×6."""
    known = [one.get("kind", "other") for one in items or [] if isinstance(one, Mapping)]
    counts = Counter(known)
    return (
        " + ".join(f"{kind} ×{n}" if n > 1 else str(kind) for kind, n in counts.items()) or "none"
    )


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _name(
    config: Mapping[str, Any], apart: Mapping[str, Any], first: Sequence[str], n_methods: int
) -> str:
    """Name a group by the first of the settings that set it apart, in the order of the config."""
    own = [path for path, value in apart.items() if value is not None and _is_said(path)]
    has_head = not own or "estimator" in apart or n_methods > 1
    most = _MOST_IN_NAME - has_head
    kept = sorted(own, key=lambda path: first.index(path) if path in first else len(first))[:most]
    settings = [setting_of(path, apart[path]) for path in own if path in kept]
    said = ", ".join([_head(config), *settings] if has_head else settings)
    rest = len(own) - len(kept)
    return f"{said} and {rest} more settings" if rest > 1 else said


def _head(config: Mapping[str, Any]) -> str:
    if config.get("method") == Method.POLICY_GRADIENT and config.get("estimator"):
        return str(config["estimator"])
    return str(config.get("method", ""))


def setting_of(path: str, value: Any) -> str:
    """A setting in few words: its section and the last word of its path.

    Of an id that nobody called by a name, the end.
    """
    first, last = path.split(".")[0], path.split(".")[-1]
    if last == "id" and isinstance(value, str):
        return f"{first} {value}" if value.startswith("“") else f"{first} …{value[-4:]}"
    # The kind of a reward term; the word alone says nothing.
    if last == "kind":
        return f"{first} {value_of(value)}"
    is_known = first in (*_KNOWN_WITHOUT_SECTION, last)
    return f"{last if is_known else f'{first}.{last}'} {value_of(value)}"


def value_of(value: Any) -> str:
    """A value of a config in few words; small numbers as people say them: 5e-5."""
    if isinstance(value, float) and 0 < abs(value) < _SMALL:
        mantissa, exponent = f"{value:.6e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
