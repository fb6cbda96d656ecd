"""Whether what a model is loaded from leads nowhere else: neither to other files nor to a pickle.

The service has asked the same when the model was registered and before the run. Files may change,
and a model by hub id has been seen by nobody: it is asked again by `weights`, just before loading.
Here alone: whether its weights are plain numbers, not quantized ones.
"""

import json
from pathlib import Path
from typing import Any

from gguf import GGUFReader
from transformers.utils import cached_file

from backend.schemas.model_folder import pointers, weight_index
from backend.schemas.references import Reference
from worker.trainer.errors import MissingModel
from worker.trainer.models import rope
from worker.trainer.models.files import unloadable

_CONFIG = "config.json"
_SMALL = 32 << 20


def check(reference: Reference, name: str, *, gguf_file: object) -> None:
    """Raise MissingModel if weights would be read from other files than those of the model.

    Also if they are quantized, but for GGUF files, whose numbers are plain once they are loaded;
    and for a GGUF file with angles that would be lost.
    """
    try:
        _refuse_adapters(name)
        if gguf_file is None:
            _check_files(reference, name)
        else:
            _refuse_scaled_angles(Path(name) / str(gguf_file))
    except MissingModel:
        raise
    except (OSError, ValueError, IndexError, KeyError, RecursionError) as error:
        raise unloadable(reference, error) from error


def _refuse_adapters(name: str) -> None:
    if _content(name, pointers.ADAPTER) is not None:
        raise MissingModel(
            f"model: {name} has an {pointers.ADAPTER}; expected a whole model without adapters",
            "Merge the adapters into the model (merge_and_unload of peft does) and save it in a "
            "folder of its own.",
        )


def _check_files(reference: Reference, name: str) -> None:
    config = json.loads(_content(name, _CONFIG) or b"{}")
    pointers.refuse_pointers(config)
    _refuse_quantized(name, config)
    index = _content(name, weight_index.INDEX)
    if reference.hub_id is None:
        weight_index.holding([file.name for file in Path(name).glob("*.safetensors")], index)
    elif index is not None:
        weight_index.named(index)


def _refuse_quantized(name: str, config: Any) -> None:
    """Raise MissingModel for quantized weights, before any are loaded.

    What transformers makes of them depends on the method, its libraries and the GPU: it may keep
    them, take their numbers for weights, or give plain ones.
    """
    parts = [part for part in (config, config.get("text_config")) if isinstance(part, dict)]
    said = next(filter(None, (part.get("quantization_config") for part in parts)), None)
    if said is not None:
        method = said.get("quant_method") if isinstance(said, dict) else said
        raise MissingModel(
            f"model: {name} is quantized ({str(method)[:80]}), and its weights cannot be trained "
            "or saved as they are",
            "Give the model as it was before it was quantized, or a GGUF file.",
        )


def _refuse_scaled_angles(file: Path) -> None:
    """Raise MissingModel if a GGUF file scales the angles of its positions, such as by LongRoPE.

    Transformers reads the base of the angles alone: the run would train and save another model.
    """
    scaling = rope.scaling_of(GGUFReader(file))
    if scaling is not None:
        raise MissingModel(
            f"model: {file} scales the angles of its positions ({scaling}), which cannot be read "
            "from a GGUF file: without it, it would be another model",
            "Give the folder with config.json and *.safetensors that the file was made from.",
        )


def _content(name: str, file: str) -> bytes | None:
    """A small file of a folder or of the hub; None where there is none."""
    found = cached_file(
        name,
        file,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    if found is None:
        return None
    with Path(found).open("rb") as opened:
        content = opened.read(_SMALL + 1)
    if len(content) > _SMALL:
        raise ValueError(f"{file} is larger than {_SMALL >> 20} MiB")
    return content
