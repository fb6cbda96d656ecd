"""Rotary embeddings in a config: what older readers need of them, and where their angles change.

Transformers 5 says all of them in `rope_parameters`. Transformers 4, and what was built for it,
reads `rope_theta` and `rope_scaling` alone, and takes the defaults of the architecture where they
are missing: a model that was trained with another base would be another model there.
"""

import json
from pathlib import Path
from typing import Any

from gguf import GGUFReader
from transformers import PreTrainedConfig

_PARAMETERS = "rope_parameters"
_APART = ("rope_theta", "partial_rotary_factor")
# Of a GGUF file: what each angle is divided by, as in Llama 3.1 and with LongRoPE.
_GGUF_FACTORS = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")


def write_for_older_readers(folder: Path) -> None:
    """Add `rope_theta` and `rope_scaling` to the `config.json` of a saved model.

    Angles that differ between layers cannot be said in this way; they are left alone.
    """
    path = folder / "config.json"
    said = json.loads(path.read_text())
    found = False
    for part in (said, *(part for part in said.values() if isinstance(part, dict))):
        if _is_flat(part.get(_PARAMETERS)):
            part.update(_older(part))
            found = True
    if found:
        path.write_text(json.dumps(said, indent=2, sort_keys=True) + "\n")


def length_of_change(config: PreTrainedConfig) -> int | None:
    """The length beyond which a model takes other angles for every position (LongRoPE).

    None for a model that never does.
    """
    said = getattr(config, _PARAMETERS, None) or {}
    every = [said] if _is_flat(said) else [one for one in said.values() if isinstance(one, dict)]
    lengths = [
        int(one["original_max_position_embeddings"])
        for one in every
        if one.get("rope_type") == "longrope"
    ]
    return min(lengths, default=None)


def scaling_of(header: GGUFReader) -> str | None:
    """How a GGUF file scales the angles of its positions, as its header calls it; None: not."""
    architecture = header.get_field("general.architecture")
    said = architecture and header.get_field(f"{architecture.contents()}.rope.scaling.type")
    if said is not None and (kind := str(said.contents())) != "none":
        return kind[:80]
    factors = (one for one in header.tensors if one.name in _GGUF_FACTORS)
    return next((one.name for one in factors if (one.data != 1).any()), None)


def _is_flat(parameters: Any) -> bool:
    return isinstance(parameters, dict) and "rope_theta" in parameters


def _older(part: dict[str, Any]) -> dict[str, Any]:
    parameters = part[_PARAMETERS]
    apart = {name: parameters[name] for name in _APART if name in parameters}
    if parameters["rope_type"] == "default":
        return apart
    # Transformers 5 reads this before `rope_parameters`, and completes it in the same way.
    scaling = {name: value for name, value in parameters.items() if name not in _APART}
    length = "original_max_position_embeddings"
    if length in part and part[length] == scaling.get(length):
        del scaling[length]
    if scaling.get("type") == scaling["rope_type"]:
        del scaling["rope_type"]  # Phi-3 takes three entries of just these names
    return apart | {"rope_scaling": scaling}
