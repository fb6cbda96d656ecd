"""Load, adapt and save language models: folder, hub id or GGUF file; LoRA; precision.

The loops ask here for a policy and its tokenizer and hand the result back for saving. Only
safetensors and GGUF are read, and no code of a model is ever run.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
from gguf import GGUFReader
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora import LoraLayer
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from backend.schemas.references import Reference
from backend.schemas.sections import Lora, Optim
from worker.trainer.errors import ConfigError, MissingModel
from worker.trainer.models import checkpointing, layers
from worker.trainer.models.body import install_trees

ATTENTION_TARGETS = ["k_proj", "o_proj", "q_proj", "v_proj"]

# For models that were never trained to chat.
PLAIN_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] | capitalize + ': ' + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
# IndexError: a GGUF file that ends within its header.
_LOAD_ERRORS = (OSError, ValueError, KeyError, IndexError, SafetensorError)


def compute_dtype(precision: str, device: torch.device) -> torch.dtype:
    """The dtype of the computation; `auto` = bf16 where the processor multiplies it natively.

    Measured on an EPYC with avx512_bf16 and no AMX, SmolLM2-135M: bf16 is 2.5 times as fast as fp32
    in long passes and 1.5 times in decoding. Without such instructions bf16 is emulated and slower.
    """
    if precision != "auto":
        return torch.bfloat16 if precision == "bf16" else torch.float32
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    native = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return torch.bfloat16 if native else torch.float32


def autocast(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[object]:
    """Compute in `dtype` whatever the weights are stored in."""
    if dtype == torch.float32:
        return nullcontext()
    return torch.autocast(device.type, dtype=dtype)


def attention_for(device: torch.device, longest: int) -> str:
    """The attention to train with: `eager` for rows of at most 512 tokens on a CPU, else `sdpa`.

    Measured on SmolLM2-135M, 60 tokens a row, forward and backward: a quarter faster than sdpa,
    whose backward pass on CPUs is slow. Memory grows with the square of the length.
    """
    return "eager" if device.type == "cpu" and longest <= 512 else "sdpa"


def load_causal_lm(
    reference: Reference, *, dtype: torch.dtype, device: torch.device, attention: str = "sdpa"
) -> PreTrainedModel:
    """A causal language model in eval mode.

    Raises MissingModel naming it and what to do if it cannot be loaded, ConfigError if its logits
    are more than its output embeddings of its last hidden states.
    """
    name, options = locate(reference)
    try:
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            name, dtype=dtype, trust_remote_code=False, attn_implementation=attention, **options
        )
    except _LOAD_ERRORS as error:
        raise _unloadable(reference, error) from error
    _forget_quantization(model)
    _check_logits(model, name)
    model.to(device).eval()
    layers.install(model)
    install_trees(model)
    return model


def load_to_train(
    reference: Reference,
    lora: Lora | None,
    optim: Optim,
    *,
    dtype: torch.dtype,
    device: torch.device,
    longest: int,
) -> PreTrainedModel:
    """A causal language model to be trained on rows of at most `longest` tokens, in eval mode.

    Its weights are fp32; where adapters are trained instead, in `dtype`, that of the computation.
    """
    model = load_causal_lm(
        reference,
        dtype=torch.float32 if lora is None else dtype,
        device=device,
        attention=attention_for(device, longest),
    )
    if optim.gradient_checkpointing:
        checkpointing.install(model)
    return model


def load_whole(reference: Reference) -> PreTrainedModel:
    """A model in fp32 on the processor, as it is saved."""
    return load_causal_lm(reference, dtype=torch.float32, device=torch.device("cpu"))


def context_length(reference: Reference) -> int | None:
    """Most tokens that a model reads, by its config or GGUF header; None where that does not say.

    Raises MissingModel if it cannot be found.
    """
    return _stated(reference, "max_position_embeddings", _gguf_context_length)


def vocabulary_size(reference: Reference) -> int | None:
    """Number of a model's logits, by its config or GGUF header; None where that does not say.

    Often more than the tokenizer has tokens: rows are added to make the number round.
    Raises MissingModel if it cannot be found.
    """
    return _stated(reference, "vocab_size", _gguf_vocabulary_size)


def _stated(
    reference: Reference, entry: str, of_gguf: Callable[[GGUFReader], int | None]
) -> int | None:
    name, options = locate(reference)
    try:
        if "gguf_file" in options:
            # Maps the file, and reads its header alone.
            return of_gguf(GGUFReader(Path(name) / str(options["gguf_file"])))
        config = AutoConfig.from_pretrained(name, trust_remote_code=False)
    except _LOAD_ERRORS as error:
        raise _unloadable(reference, error) from error
    number = getattr(config.get_text_config(), entry, None)
    return int(number) if number else None


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


def load_tokenizer(reference: Reference) -> PreTrainedTokenizerBase:
    """The tokenizer of a model, with a padding token and a chat template.

    Raises MissingModel if it cannot be loaded, ConfigError if it has no end-of-sequence token.
    """
    name, options = locate(reference)
    options.pop("use_safetensors", None)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, **options
        )
    except _LOAD_ERRORS as error:
        raise _unloadable(reference, error) from error
    if tokenizer.eos_token_id is None:
        raise ConfigError(f"the tokenizer of {name} has no end-of-sequence token")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if not tokenizer.chat_template:
        tokenizer.chat_template = PLAIN_TEMPLATE
    return tokenizer


def locate(reference: Reference) -> tuple[str, dict[str, object]]:
    """What `from_pretrained` needs to find a model: a name and options.

    Raises ConfigError for an id, MissingModel for a path that leads to no model.
    """
    if reference.hub_id is not None:
        return reference.hub_id, {"use_safetensors": True}
    if reference.path is None:
        raise ConfigError(
            f"model: the trainer cannot look up the id {reference.id}", 'write {"path": "FOLDER"}'
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
        "give the absolute path of a folder with config.json and *.safetensors, or of a .gguf file",
    )


def is_reward_model(reference: Reference) -> bool:
    """True if the folder holds a reward model of ours."""
    return reference.path is not None and (Path(reference.path) / "reward_model.json").is_file()


def add_lora(model: PreTrainedModel, lora: Lora, *, seed: int) -> PeftModel:
    """Put fp32 adapters on a model; only they are trainable. They change nothing at first."""
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        # peft asks for an attribute that transformers has renamed.
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*")
        torch.manual_seed(seed)
        adapted = get_peft_model(
            model,
            LoraConfig(
                r=lora.r,
                lora_alpha=lora.alpha,
                lora_dropout=lora.dropout,
                target_modules=(
                    ATTENTION_TARGETS if lora.targets == "attention" else linear_names(model)
                ),
                bias="none",
            ),
            autocast_adapter_dtype=True,
        )
    assert isinstance(adapted, PeftModel)
    return adapted


def linear_names(model: nn.Module) -> list[str]:
    """Last names of the linear layers of a model without its head, sorted."""
    head = model.get_output_embeddings() if isinstance(model, PreTrainedModel) else None
    return sorted(
        {
            name.rsplit(".", 1)[-1]
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear) and module is not head
        }
    )


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, by name, in the model's order."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def trained_weights(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Weights that training has changed, by their name without adapters, fp32 and merged."""
    if not any(isinstance(module, LoraLayer) for module in model.modules()):
        yield from ((name, p.detach().float()) for name, p in model.named_parameters())
        return
    for name, module in model.named_modules():
        if isinstance(module, LoraLayer):
            weight = module.get_base_layer().weight.detach().float()
            yield _plain_name(name) + ".weight", weight + delta(module)


def all_weights(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Every weight by its name without adapters, merged; a shared one under each of its names."""
    changed = dict(trained_weights(model))
    for name, parameter in model.named_parameters(remove_duplicate=False):
        plain = _plain_name(name).replace(".base_layer.", ".")
        if ".lora_" not in plain:
            yield plain, changed.get(plain, parameter.detach())


def lora_deltas(model: nn.Module) -> dict[str, Tensor]:
    """What the adapters add to each weight, fp32, by the weight's name without adapters."""
    return {
        _plain_name(name) + ".weight": delta(module)
        for name, module in model.named_modules()
        if isinstance(module, LoraLayer)
    }


@torch.no_grad()
def delta(module: LoraLayer) -> Tensor:
    """scale * B A of an adapter, fp32."""
    a, b = module.lora_A["default"].weight, module.lora_B["default"].weight
    product: Tensor = b.float() @ a.float()
    return product * float(module.scaling["default"])


def full_model(trained: nn.Module, start: Callable[[], PreTrainedModel]) -> PreTrainedModel:
    """The trained model as a whole, in fp32: itself, or with adapters what they add to `start()`.

    `start` loads the starting model in fp32: beside adapters its weights may be of less precision.
    """
    deltas = lora_deltas(trained)
    if not deltas:
        assert isinstance(trained, PreTrainedModel)  # only adapters wrap a model
        return trained
    fresh = start()
    weights = dict(fresh.named_parameters())
    with torch.no_grad():
        for name, value in deltas.items():
            weights[name].add_(value.to(weights[name].device))
    return fresh


def halve_linears(model: PreTrainedModel, dtype: torch.dtype) -> None:
    """Store the weights of linear layers in `dtype`, in which autocast computes them anyway.

    For frozen models that run under autocast: equal numbers, half the memory. Weights that are
    shared with the token embeddings stay as they are.
    """
    embedded = model.get_input_embeddings().weight
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.weight is not embedded:
            module.to(dtype)


def save_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Save a whole model as fp32 safetensors with its tokenizer."""
    model.float()
    model.config.dtype = torch.float32
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Token ids that end a response; the tokenizer's own comes first."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    more = declared if isinstance(declared, list) else [declared]
    own = int(tokenizer.eos_token_id)  # load_tokenizer has made sure that there is one
    return [own, *(int(i) for i in more if i is not None and i != own)]


def read_json(path: Path) -> dict[str, object]:
    """A JSON object from a file of a model folder."""
    content: dict[str, object] = json.loads(path.read_text())
    return content


def _plain_name(name: str) -> str:
    return name.removeprefix("base_model.model.")


def _forget_quantization(model: PreTrainedModel) -> None:
    # A de-quantized GGUF model still claims to be quantized, and saving it is refused then.
    for holder, name in (
        (model, "hf_quantizer"),
        (model, "is_quantized"),
        (model, "quantization_method"),
        (model.config, "quantization_config"),
    ):
        if name in vars(holder):
            delattr(holder, name)


@torch.no_grad()
def _check_logits(model: PreTrainedModel, name: str) -> None:
    # The trainer applies the head itself, to few of the places: a model that caps or scales its
    # logits afterwards would be trained on numbers that it never gives.
    ids_B_T = torch.tensor([[0, 1]])
    hidden_B_T_H = model.get_decoder()(input_ids=ids_B_T, use_cache=False).last_hidden_state
    expected = model(input_ids=ids_B_T, use_cache=False).logits
    ours = model.get_output_embeddings()(hidden_B_T_H)
    # Broken weights are told by the loss, which names the step.
    if not torch.allclose(ours, expected, rtol=1e-3, equal_nan=True):
        raise ConfigError(
            f"model: {name} changes its logits after the output embeddings (soft-capping or a "
            "scale), which Podium does not follow",
            "take a model without it",
        )


def _unloadable(reference: Reference, error: Exception) -> MissingModel:
    name = reference.path or reference.hub_id
    return MissingModel(
        f"model: {name} could not be loaded: {str(error).strip().splitlines()[0][:500]}",
        "check that the folder holds config.json, *.safetensors (no pickle) and a tokenizer"
        if reference.path
        else "check the name, and that this machine reaches the hub; or give a folder by path",
    )
