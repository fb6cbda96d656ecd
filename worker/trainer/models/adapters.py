"""LoRA: adapters on a model, and the weights that a model has with them merged.

The loops and the sampling engines ask here what is trained and what training has changed.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora import LoraLayer
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils.other import AuxiliaryTrainingWrapper
from torch import Tensor, nn
from transformers import PreTrainedModel

from backend.schemas.sections import Lora
from worker.trainer.errors import ConfigError

# By one of these layers a module is known as an attention; Phi-3, GPT-NeoX and others have one
# projection for queries, keys and values.
_QUERIES = {"q_proj", "q_b_proj", "qkv_proj", "query_key_value", "Wqkv"}


def add_lora(model: PreTrainedModel, lora: Lora, *, seed: int) -> PeftModel:
    """Put fp32 adapters on a model; only they are trainable. They change nothing at first.

    Raises ConfigError for a model without a layer of those that `targets` names.
    """
    names = attention_names(model) if lora.targets == "attention" else linear_names(model)
    if not names:
        raise ConfigError(
            f"lora.targets is {lora.targets}, but {type(model).__name__} has no linear layer of "
            "that kind to put an adapter on",
            "Set lora.targets to linear, or lora to null to train all weights."
            if lora.targets == "attention"
            else "Set lora to null to train all weights.",
        )
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
                target_modules=names,
                bias="none",
            ),
            autocast_adapter_dtype=True,
        )
    assert isinstance(adapted, PeftModel)
    return adapted


@contextmanager
def switched_off(model: nn.Module) -> Iterator[None]:
    """Let a model compute as it did before it had adapters.

    peft's own way looks through all modules six times and sets anew what is trained, which takes
    longer than a small model computes. Afterwards each layer is as it was before.
    """
    kinds = BaseTunerLayer, AuxiliaryTrainingWrapper
    layers = [module for module in model.modules() if isinstance(module, kinds)]
    before = [layer._disable_adapters for layer in layers]
    for layer in layers:
        layer._disable_adapters = True
    try:
        yield
    finally:
        for layer, was_off in zip(layers, before, strict=True):
            layer._disable_adapters = was_off


def attention_names(model: nn.Module) -> list[str]:
    """Whole names of the linear layers of each attention: the projections q, k, v and o.

    What they are called differs; they stand in one module with the projection of the queries.
    """
    found = []
    for name, module in model.named_modules():
        own = [part for part, child in module.named_children() if isinstance(child, nn.Linear)]
        if not _QUERIES.isdisjoint(own):
            found += [f"{name}.{part}" for part in own]
    return sorted(found)


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


@torch.no_grad()
def delta(module: LoraLayer) -> Tensor:
    """scale * B A of an adapter, fp32."""
    a, b = module.lora_A["default"].weight, module.lora_B["default"].weight
    product: Tensor = b.float() @ a.float()
    return product * float(module.scaling["default"])


def _plain_name(name: str) -> str:
    return name.removeprefix("base_model.model.")
