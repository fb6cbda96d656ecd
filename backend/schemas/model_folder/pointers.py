"""What in a folder makes whoever loads it read weights, or run code, from elsewhere."""

from collections.abc import Iterator
from typing import Any

ADAPTER = "adapter_config.json"
_OTHER_WEIGHTS = "transformers_weights"
# Transformers reads one of these instead: nobody would look at it.
_OTHER_CONFIGS = "configuration_files"
# Both are read at any depth, and win over what a caller of transformers asks for.
_ATTENTION = ("_attn_implementation", "attn_implementation")


def refuse_pointers(config: Any) -> None:
    """Raise ValueError if a config.json names weights, other configs or a kernel of a repository.

    Transformers would load that file, from a folder below or pickled, instead of what is hashed,
    and run the code of that repository.
    """
    for key, value in _entries(config):
        if key == _OTHER_WEIGHTS and value is not None:
            raise ValueError(f"config.json names a file of weights in {key}; expected none")
        if key == _OTHER_CONFIGS and value:
            raise ValueError(f"config.json names other configs in {key}; expected none")
        if key in _ATTENTION and any("/" in text for text in _texts(value)):
            raise ValueError(
                f"config.json names a kernel of a repository in {key}; expected eager or sdpa"
            )


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Every entry of every object in it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one.items()
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _texts(value: Any) -> list[str]:
    """It, or what stands in it for each part of a model, at any depth."""
    parts = (part for _, part in _entries(value)) if isinstance(value, dict) else [value]
    return [part for part in parts if isinstance(part, str)]
