"""Load and save language models: folder, hub id or GGUF file.

The loops ask here for a policy and hand the result back for saving. Only safetensors and GGUF are
read, and no code of a model is ever run.
"""

from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import Reference
from backend.schemas.training import (
    DpoConfig,
    ProcessRewardModelConfig,
    RewardModelConfig,
    SftConfig,
)
from worker.trainer.errors import ConfigError
from worker.trainer.models import checkpointing, layers
from worker.trainer.models.body import install_trees
from worker.trainer.models.files import LOAD_ERRORS, locate, unloadable
from worker.trainer.run import Run

# The configs of the methods that train a model.
TrainingConfig = (
    SftConfig | RewardModelConfig | ProcessRewardModelConfig | DpoConfig | PolicyGradientConfig
)


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
    except LOAD_ERRORS as error:
        raise unloadable(reference, error) from error
    _forget_quantization(model)
    _check_logits(model, name)
    model.to(device).eval()
    layers.install(model)
    install_trees(model)
    return model


def load_to_train(run: Run, config: TrainingConfig, *, longest: int) -> PreTrainedModel:
    """A causal language model to be trained on rows of at most `longest` tokens, in eval mode.

    Its weights are fp32; where adapters are trained instead, in the dtype of the computation.
    """
    model = load_causal_lm(
        config.model,
        dtype=torch.float32 if config.lora is None else run.dtype,
        device=run.device,
        attention=attention_for(run.device, longest),
    )
    if config.optim.gradient_checkpointing:
        checkpointing.install(model)
    return model


def load_whole(reference: Reference) -> PreTrainedModel:
    """A model in fp32 on the processor, as it is saved."""
    return load_causal_lm(reference, dtype=torch.float32, device=torch.device("cpu"))


def save_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Save a whole model as fp32 safetensors with its tokenizer."""
    model.float()
    model.config.dtype = torch.float32
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


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
            "scale), which Podium cannot train",
            "Use another model.",
        )
