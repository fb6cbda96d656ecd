"""Whether what a model is loaded from leads nowhere else: neither to other files nor to a pickle.

The service has asked the same when the model was registered and before the run. Files may change,
and a model by hub id has been seen by nobody: it is asked again by `weights`, just before loading.
"""

import json
from pathlib import Path

from transformers.utils import cached_file

from backend.schemas.model_folder import pointers, weight_index
from backend.schemas.references import Reference
from worker.trainer.errors import MissingModel
from worker.trainer.models.files import unloadable

_CONFIG = "config.json"
_SMALL = 32 << 20


def check(reference: Reference, name: str, *, is_gguf: bool) -> None:
    """Raise MissingModel if weights would be read from other files than those of the model."""
    try:
        has_adapter = _content(name, pointers.ADAPTER) is not None
        if not is_gguf:
            _check_files(reference, name)
    except (OSError, ValueError, RecursionError) as error:
        raise unloadable(reference, error) from error
    if has_adapter:
        raise MissingModel(
            f"model: {name} has an {pointers.ADAPTER}; expected a whole model without adapters",
            "Merge the adapters into the model (merge_and_unload of peft does) and save it in a "
            "folder of its own.",
        )


def _check_files(reference: Reference, name: str) -> None:
    pointers.refuse_pointers(json.loads(_content(name, _CONFIG) or b"{}"))
    index = _content(name, weight_index.INDEX)
    if reference.hub_id is None:
        weight_index.holding([file.name for file in Path(name).glob("*.safetensors")], index)
    elif index is not None:
        weight_index.named(index)


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
