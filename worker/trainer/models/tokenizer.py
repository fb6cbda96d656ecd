"""A model's tokenizer: with padding, a chat template and the ids that end a response.

Loaded once by every method. No code of a tokenizer is ever run.
"""

from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.references import Reference
from worker.trainer.data.ends import closing_id
from worker.trainer.errors import ConfigError
from worker.trainer.models import templates
from worker.trainer.models.files import LOAD_ERRORS, locate, unloadable, vocabulary_size


def load_tokenizer(reference: Reference, template: str = "model") -> PreTrainedTokenizerBase:
    """The tokenizer of a model, with a padding token and the chat template that a config asks for.

    Raises MissingModel if it cannot be loaded, ConfigError if it has no end-of-sequence token.
    """
    name, options = locate(reference)
    options.pop("use_safetensors", None)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, **options
        )
    except LOAD_ERRORS as error:
        raise unloadable(reference, error) from error
    if tokenizer.eos_token_id is None:
        raise ConfigError(
            f"the tokenizer of {name} has no end-of-sequence token",
            "Use a model whose tokenizer has an eos_token.",
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    templates.install(template, tokenizer)
    return tokenizer


def end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Token ids that end a response: the template's, the tokenizer's own, those of the model."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    more = declared if isinstance(declared, list) else [declared]
    # load_tokenizer has made sure that there is an eos_token.
    own = [closing_id(tokenizer), int(tokenizer.eos_token_id)]
    return list(dict.fromkeys([*own, *(int(i) for i in more if i is not None)]))


def number_of_ids(reference: Reference, tokenizer: PreTrainedTokenizerBase) -> int:
    """How many ids a model has embeddings for; often some more than its tokenizer has tokens."""
    return vocabulary_size(reference) or len(tokenizer)
