"""The least that a config of any method must say, made from the registry."""

from collections.abc import Callable
from typing import Any

from backend.schemas.methods import METHODS
from backend.schemas.references import PointsTo, wanted
from backend.schemas.rewards import Reward


def least_config(method: str, refer: Callable[[str, PointsTo], dict[str, str]]) -> dict[str, Any]:
    """A config with no optional key; `refer` gives the reference for a field that wants this."""
    model = METHODS[method].config
    wants = wanted(model)
    config: dict[str, Any] = {"method": str(method)}
    for name, field in model.model_fields.items():
        if field.is_required() and name in wants:
            config[name] = refer(name, wants[name])
        elif field.is_required():
            assert field.annotation is Reward, f"nothing is known to put into {method}.{name}"
            config[name] = {"terms": [{"kind": "finished"}]}
    return config
