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

from backend.schemas.references import Reference
from backend.schemas.training import SftConfig, TrainingConfig
from worker.trainer.data.ends import closing_id
from worker.trainer.errors import ConfigError
from worker.trainer.events import Events
from worker.trainer.models import gradient_checkpointing, layers, rope, weights
from worker.trainer.models.body import install_trees, takes_trees
from worker.trainer.models.tokenizer import end_ids
from worker.trainer.run import Run


def attention_for(device: torch.device, longest: int) -> str:
    """The attention to train with: `eager` for rows of at most 512 tokens on a CPU, else `sdpa`.

    Measured on SmolLM2-135M, 60 tokens a row, forward and backward: a quarter faster than sdpa,
    whose backward pass on CPUs is slow. Memory grows with the square of the length.
    """
    return "eager" if device.type == "cpu" and longest <= 512 else "sdpa"


def load_causal_lm(
    reference: Reference,
    *,
    dtype: torch.dtype,
    device: torch.device,
    attention: str = "sdpa",
    events: Events | None = None,
    body_only: bool = False,
) -> PreTrainedModel:
    """A causal language model in eval mode; alerts go to `events`.

    With `body_only` its files may lack the output embeddings.
    Raises MissingModel naming it and what to do if it cannot be loaded or its files lack a weight,
    ConfigError if its logits are more than its output embeddings of its last hidden states.
    """
    model = weights.load(
        AutoModelForCausalLM,
        reference,
        dtype=dtype,
        attention=attention,
        events=events,
        body_only=body_only,
    )
    _forget_quantization(model)
    _check_logits(model, str(reference.path or reference.hub_id))
    model.to(device).eval()
    layers.install(model)
    install_trees(model)
    return model


def load_to_train(
    run: Run, config: TrainingConfig, *, longest: int, body_only: bool = False
) -> PreTrainedModel:
    """A causal language model to be trained on rows of at most `longest` tokens, in eval mode.

    Its weights are fp32; where adapters are trained instead, in the dtype of the computation. With
    `body_only` its files may lack the output embeddings.
    """
    model = load_causal_lm(
        config.model,
        dtype=torch.float32 if config.lora is None else run.dtype,
        device=run.device,
        attention=attention_for(run.device, longest),
        events=run.events,
        body_only=body_only,
    )
    if config.optim.gradient_checkpointing:
        gradient_checkpointing.install(model)
    if not isinstance(config, SftConfig) and not takes_trees(model):
        _tell_padded(run)
    return model


def _tell_padded(run: Run) -> None:
    """Say that micro-batches are larger than they should be; sft makes its own of padded rows."""
    budget = run.config.optim.micro_batch_tokens
    run.events.alert_once(
        "padded_rows",
        "The layers of this model are not plain attention, so each row is computed whole and "
        "padded, and a prompt that several responses share is computed for each of them. A pass "
        f"may compute more tokens than optim.micro_batch_tokens ({budget}); if memory runs out, "
        "lower it.",
    )


def load_whole(reference: Reference, *, body_only: bool = False) -> PreTrainedModel:
    """A model in fp32 on the processor, as it is saved."""
    return load_causal_lm(
        reference, dtype=torch.float32, device=torch.device("cpu"), body_only=body_only
    )


def save_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Save a whole model as fp32 safetensors with its tokenizer.

    Its `generation_config` names the end tokens that it was trained with, for other programs.
    """
    model.float()
    _declare_ends(model, tokenizer)
    model.config.dtype = torch.float32
    model.save_pretrained(folder)
    rope.write_for_older_readers(folder)
    tokenizer.save_pretrained(folder)


def _declare_ends(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    if getattr(model, "generation_config", None) is None:
        return  # the body of a reward model
    said = model.generation_config.eos_token_id
    if closing_id(tokenizer) not in (said if isinstance(said, list) else [said]):
        model.generation_config.eos_token_id = end_ids(model, tokenizer)


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
