"""Values of a run config by their dotted path, as problems and advice name them."""

from collections.abc import Mapping
from typing import Any


def value_at(config: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as `optim.lr`; None where a part of the path is missing."""
    here: Any = config
    for part in path.split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return here
