"""What configs name by an id, models and snapshots, under the names that people gave them; pure."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

_ID = "id"


def ids_in(config: Any) -> set[str]:
    """All ids that a config, or a part of one, names."""
    if isinstance(config, Mapping):
        own = {config[_ID]} if isinstance(config.get(_ID), str) else set()
        return own.union(*map(ids_in, config.values()))
    if isinstance(config, list):
        return set[str]().union(*map(ids_in, config))
    return set()


def called(names: Mapping[str, str]) -> dict[str, str]:
    """Each id's name in quotes; of several with one name, with the end of the id."""
    often = Counter(names.values())
    return {
        one: f"“{name}”" if often[name] == 1 else f"“{name}” …{one[-4:]}"
        for one, name in names.items()
    }


def with_names(config: Any, names: Mapping[str, str]) -> Any:
    """The config with names in the place of the ids that `names` has."""
    if isinstance(config, Mapping):
        return {
            key: names.get(value, value)
            if key == _ID and isinstance(value, str)
            else with_names(value, names)
            for key, value in config.items()
        }
    return [with_names(one, names) for one in config] if isinstance(config, list) else config
