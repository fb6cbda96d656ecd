"""A model's tokenizer: with padding, a chat template and the ids that end a response.

Loaded once by every method. No code of a tokenizer is ever run.
"""

from collections.abc import Mapping
from pathlib import Path

from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import cached_file

from backend.schemas.references import Reference
from worker.trainer.data.ends import closing_id, hidden_tokens
from worker.trainer.errors import ConfigError, MissingModel
from worker.trainer.models import templates
from worker.trainer.models.files import LOAD_ERRORS, locate, unloadable, vocabulary_size

# Files that hold a vocabulary, each of which is enough for some tokenizers.
_READABLE = ("tokenizer.json", "vocab.json", "vocab.txt", "tekken.json", "spiece.model")
# Of files that hold one which cannot be read here.
_FOREIGN = {".model", ".spm", ".tiktoken", ".vocab"}


def load_tokenizer(reference: Reference, template: str = "model") -> PreTrainedTokenizerBase:
    """The tokenizer of a model, with a padding token and the chat template that a config asks for.

    Raises MissingModel if there is none or it cannot be loaded, ConfigError if it has no
    end-of-sequence token.
    """
    name, options = locate(reference)
    options.pop("use_safetensors", None)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, **options
        )
    except LOAD_ERRORS as error:
        raise _without_tokenizer(name, options) or unloadable(reference, error) from error
    # Without files transformers makes a tokenizer of the architecture's special tokens alone.
    if len(tokenizer) <= len(hidden_tokens(tokenizer)):
        raise _without_tokenizer(name, options) or _empty(name)
    if tokenizer.eos_token_id is None:
        raise ConfigError(
            f"the tokenizer of {name} has no end-of-sequence token",
            "Use a model whose tokenizer has an eos_token.",
        )
    rows = vocabulary_size(reference)
    # A padding token that was added to the tokenizer alone has no embedding.
    if tokenizer.pad_token_id is None or (rows is not None and tokenizer.pad_token_id >= rows):
        tokenizer.pad_token = tokenizer.eos_token
    templates.install(template, tokenizer)
    return tokenizer


def _without_tokenizer(name: str, options: Mapping[str, object]) -> MissingModel | None:
    """The error for a model without the file of a tokenizer; None where it has one."""
    if "gguf_file" in options or any(_has(name, file) for file in _READABLE):
        return None
    if _has(name, "tokenizer.model"):
        return MissingModel(
            f"model: {name} has tokenizer.model but no tokenizer.json",
            "Where sentencepiece is installed, load it with AutoTokenizer and save it into the "
            "folder with save_pretrained, which writes tokenizer.json.",
        )
    folder = Path(name)
    # Of a hub, a file that is not found may mean that the hub is away.
    if not folder.is_dir() or any(one.suffix in _FOREIGN for one in folder.iterdir()):
        return None
    return _empty(name)


def _empty(name: str) -> MissingModel:
    return MissingModel(
        f"model: {name} has no tokenizer",
        "Save the tokenizer beside the model (tokenizer.save_pretrained writes tokenizer.json and "
        "tokenizer_config.json).",
    )


def _has(name: str, file: str) -> bool:
    found = cached_file(
        name,
        file,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return found is not None


def end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Token ids that end a response: the template's, the tokenizer's own, those of the model."""
    return list(dict.fromkeys([closing_id(tokenizer), *declared_ends(model, tokenizer)]))


def declared_ends(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The end tokens that the tokenizer and the generation config of the model name."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    more = declared if isinstance(declared, list) else [declared]
    # load_tokenizer has made sure that there is an eos_token.
    return [int(tokenizer.eos_token_id), *(int(i) for i in more if i is not None)]


def number_of_ids(reference: Reference, tokenizer: PreTrainedTokenizerBase) -> int:
    """How many ids a model has embeddings for; often some more than its tokenizer has tokens."""
    return vocabulary_size(reference) or len(tokenizer)
