"""Presets put together from what each source gives, so that none says more than its config.

Used by the presets beside this file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.schemas.presets import Preset, PresetSource

PODIUM = "Podium's choice"


def sourced(name: str, description: str, parts: Mapping[str, Mapping[str, Any]]) -> Preset:
    """A preset whose config is all the parts together, each under its source.

    Raises ValueError if two sources give the same setting.
    """
    sources = [
        PresetSource(source=who, settings=dict(_leaves(part))) for who, part in parts.items()
    ]
    config: dict[str, Any] = {}
    for source in sources:
        for path, value in source.settings.items():
            _put(config, path.split("."), value)
    return Preset(name=name, description=description, config=config, sources=sources)


def _leaves(part: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting by its dotted path, as in `optim.lr`."""
    for key, value in part.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield before + key, value


def _put(config: dict[str, Any], path: list[str], value: object) -> None:
    *sections, name = path
    for section in sections:
        config = config.setdefault(section, {})
    if name in config:
        raise ValueError(f"two sources give {'.'.join(path)}")
    config[name] = value
