"""Where a model lies - folder, hub id or GGUF file - and what its files say without its weights.

Asked before a model is loaded: by loading, the tokenizer, the heads and the preflight.
"""

import json
from collections.abc import Callable
from pathlib import Path

from gguf import GGUFReader
from safetensors import SafetensorError
from transformers import AutoConfig, PreTrainedConfig

from backend.schemas.model_folder.reward_card import CARD_FILE
from backend.schemas.references import Reference
from worker.trainer.errors import ConfigError, MissingModel
from worker.trainer.models import rope

# IndexError: a GGUF file that ends within its header. ImportError: a library that is not installed.
LOAD_ERRORS = (OSError, ValueError, KeyError, IndexError, ImportError, SafetensorError)


def locate(reference: Reference) -> tuple[str, dict[str, object]]:
    """What `from_pretrained` needs to find a model: a name and options.

    Raises ConfigError for an id, MissingModel for a path that leads to no model.
    """
    if reference.hub_id is not None:
        return reference.hub_id, {"use_safetensors": True}
    if reference.path is None:
        raise ConfigError(
            f"model: the trainer cannot look up the id {reference.id}", 'Write {"path": "FOLDER"}.'
        )
    path = Path(reference.path)
    gguf = sorted(path.glob("*.gguf")) if path.is_dir() else [path]
    if path.is_file() and path.suffix == ".gguf":
        return str(path.parent), {"gguf_file": path.name}
    if path.is_dir() and (path / "config.json").is_file():
        return str(path), {"use_safetensors": True}
    if path.is_dir() and len(gguf) == 1:
        return str(path), {"gguf_file": gguf[0].name}
    found = (
        "which does not exist" if not path.exists() else "with neither config.json nor one .gguf"
    )
    raise MissingModel(
        f"model: {path}, {found}",
        "Give the absolute path of a folder with config.json and *.safetensors, or of a .gguf "
        "file.",
    )


def is_reward_model(reference: Reference) -> bool:
    """True if the folder holds a reward model of ours."""
    return reference.path is not None and (Path(reference.path) / CARD_FILE).is_file()


def context_length(reference: Reference) -> int | None:
    """Most tokens that a model reads, by its config or GGUF header; None where that does not say.

    Raises MissingModel if it cannot be found.
    """
    return _stated(reference, _entry("max_position_embeddings"), _gguf_context_length)


def vocabulary_size(reference: Reference) -> int | None:
    """Number of a model's logits, by its config or GGUF header; None where that does not say.

    Often more than the tokenizer has tokens: rows are added to make the number round.
    Raises MissingModel if it cannot be found.
    """
    return _stated(reference, _entry("vocab_size"), _gguf_vocabulary_size)


def length_of_change(reference: Reference) -> int | None:
    """The length beyond which a model takes other angles for every position; None for most.

    Raises MissingModel if it cannot be found.
    """
    return _stated(reference, rope.length_of_change, lambda _: None)


def read_json(path: Path) -> dict[str, object]:
    """A JSON object from a file of a model folder."""
    content: dict[str, object] = json.loads(path.read_text())
    return content


def unloadable(reference: Reference, error: Exception) -> MissingModel:
    name = reference.path or reference.hub_id
    return MissingModel(
        f"model: {name} could not be loaded: {str(error).strip().splitlines()[0][:500]}",
        "Check that the folder holds config.json, *.safetensors (no pickle) and a tokenizer."
        if reference.path
        else (
            "Check the name and that this machine reaches the hub, or register a folder by its "
            "path."
        ),
    )


def _stated(
    reference: Reference,
    of_config: Callable[[PreTrainedConfig], int | None],
    of_gguf: Callable[[GGUFReader], int | None],
) -> int | None:
    name, options = locate(reference)
    try:
        if "gguf_file" in options:
            # Maps the file, and reads its header alone.
            return of_gguf(GGUFReader(Path(name) / str(options["gguf_file"])))
        config = AutoConfig.from_pretrained(name, trust_remote_code=False)
    except LOAD_ERRORS as error:
        raise unloadable(reference, error) from error
    return of_config(config.get_text_config())


def _entry(name: str) -> Callable[[PreTrainedConfig], int | None]:
    def of(config: PreTrainedConfig) -> int | None:
        number = getattr(config, name, None)
        return int(number) if number else None

    return of


def _gguf_context_length(header: GGUFReader) -> int | None:
    return _gguf_number(header, "context_length")


def _gguf_vocabulary_size(header: GGUFReader) -> int | None:
    tokens = header.get_field("tokenizer.ggml.tokens")
    # Transformers gives a model that does not say it as many rows as it has tokens.
    return _gguf_number(header, "vocab_size") or (None if tokens is None else len(tokens.data))


def _gguf_number(header: GGUFReader, entry: str) -> int | None:
    architecture = header.get_field("general.architecture")
    if architecture is None:
        return None
    number = header.get_field(f"{architecture.contents()}.{entry}")
    return None if number is None else int(number.contents())
