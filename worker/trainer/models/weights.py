"""Load a model's weights, every one from its files.

Transformers gives random numbers to a weight that the files lack, and goes on. A run would then
start from another model than it names, and policy and reference would differ: here that is an
error. Used by `loading` and `heads`.
"""

from collections.abc import Collection, Sequence
from typing import Any

import torch
from transformers import AutoModel, AutoModelForCausalLM, PreTrainedModel

from backend.schemas.references import Reference
from worker.trainer.errors import MissingModel
from worker.trainer.events import Events
from worker.trainer.models import sources
from worker.trainer.models.files import LOAD_ERRORS, locate, unloadable

# As many names as an error shows.
_SHOWN = 3


def load(
    kind: type[AutoModelForCausalLM] | type[AutoModel],
    reference: Reference,
    *,
    dtype: torch.dtype,
    attention: str,
    events: Events | None,
    body_only: bool = False,
) -> PreTrainedModel:
    """A model on the processor; an alert says which weights of its files it has no place for.

    With `body_only` the files may lack the output embeddings, which are then random.
    Raises MissingModel if the model cannot be loaded, or a weight is missing or of another shape.
    """
    name, options = locate(reference)
    sources.check(reference, name, gguf_file=options.get("gguf_file"))
    try:
        model, told = kind.from_pretrained(
            name,
            dtype=dtype,
            trust_remote_code=False,
            attn_implementation=attention,
            output_loading_info=True,
            # Only so that they are told like those that are missing.
            ignore_mismatched_sizes=True,
            **options,
        )
    except LOAD_ERRORS as error:
        raise unloadable(reference, error) from error
    assert isinstance(model, PreTrainedModel)
    wanted = _of_body(model, told["missing_keys"]) if body_only else told["missing_keys"]
    _require_all(
        reference, sorted(wanted), sorted(told["mismatched_keys"]), told["unexpected_keys"]
    )
    if told["unexpected_keys"] and events is not None:
        events.alert_once("unused_weights", _unused(reference, model, told["unexpected_keys"]))
    return model


def _of_body(model: PreTrainedModel, names: Collection[str]) -> list[str]:
    """Those that the decoder needs; tensors of the head alone are left out."""
    inside = {id(tensor) for tensor in model.get_decoder().state_dict(keep_vars=True).values()}
    every = model.state_dict(keep_vars=True)
    return [name for name in names if name not in every or id(every[name]) in inside]


def _require_all(
    reference: Reference,
    missing: Sequence[str],
    mismatched: Sequence[tuple[str, Any, Any]],
    unexpected: Collection[str],
) -> None:
    """Raise MissingModel unless every weight of the model was found in its shape."""
    problems = []
    if missing:
        problems.append(f"its files lack {_counted(missing)}")
    if mismatched:
        shapes = [
            f"{weight}, {_shape(found)} in the files and {_shape(expected)} by the config"
            for weight, found, expected in mismatched
        ]
        have = "has" if len(shapes) == 1 else "have"
        problems.append(f"{_noun(shapes)} of its files {have} another shape ({_first_few(shapes)})")
    if not problems:
        return
    if unexpected:
        problems.append(
            f"its files also have {_counted(sorted(unexpected))}, which it has no place for"
        )
    raise MissingModel(
        f"model: {_name(reference)} is incomplete: {'; '.join(problems)}",
        _advice(_name(reference), _prefix(missing, unexpected)),
    )


def _advice(name: str, prefix: str | None) -> str:
    if prefix is not None:
        return (
            f"Every name begins with `{prefix}`, which a wrapper such as DistributedDataParallel "
            "adds: save the model inside the wrapper, or rename the weights."
        )
    if name.endswith(".gguf"):
        return "Download or convert the file again."
    return (
        "Give a folder that save_pretrained wrote, with all of its files and the config.json that "
        "belongs to them."
    )


def _name(reference: Reference) -> str:
    return str(reference.path or reference.hub_id)


def _prefix(missing: Collection[str], unexpected: Collection[str]) -> str | None:
    """What all unexpected names begin with, if what follows it are names of missing weights."""
    wanted = set(missing)
    parts = min(unexpected, default="").split(".")
    for n_parts in range(1, len(parts)):
        prefix = ".".join(parts[:n_parts]) + "."
        if all(found.startswith(prefix) and found[len(prefix) :] in wanted for found in unexpected):
            return prefix
    return None


def _unused(reference: Reference, model: PreTrainedModel, unexpected: Collection[str]) -> str:
    return (
        f"The files of {_name(reference)} have {_counted(sorted(unexpected))}, which "
        f"{type(model).__name__} has no place for: the run does without. Check that this is the "
        "model that you mean."
    )


def _counted(names: Sequence[str]) -> str:
    """How many weights, and the first few."""
    return f"{_noun(names)} ({_first_few(names)})"


def _noun(names: Sequence[str]) -> str:
    return f"{len(names)} {'weight' if len(names) == 1 else 'weights'}"


def _first_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _shape(sizes: Sequence[int]) -> str:
    return " x ".join(str(size) for size in sizes)
