"""Blocks that are computed again: the same numbers to the bit, and much less that is held."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, PreTrainedModel

from backend.schemas.references import Reference
from backend.schemas.sections import Lora, Optim
from backend.schemas.training import SftConfig
from tests.trainer.conftest import Finished, Workshop
from tests.trainer.test_resume import METHODS, exact_metrics, undisturbed, weights
from worker.trainer import precision
from worker.trainer.data.tokens import Batch, Tokens, collate
from worker.trainer.events import Events
from worker.trainer.models import adapters, loading
from worker.trainer.models.logprobs import action_logp
from worker.trainer.run import Run, StopWish

CPU = torch.device("cpu")
PROMPT = list(range(3, 23))
ROWS = [Tokens(PROMPT, [5, 6, 7, 8]), Tokens(PROMPT, [9, 10]), Tokens([1, 2], [3, 4, 5])]
LORA = Lora(r=4, alpha=8, dropout=0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama of six blocks."""
    made = tmp_path_factory.mktemp("model") / "llama"
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=61,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    LlamaForCausalLM(config).save_pretrained(made)
    return made


def loaded(folder: Path, *, again: bool, lora: Lora | None = None) -> PreTrainedModel:
    config = SftConfig(
        model=Reference(path=str(folder)),
        demonstrations=Reference(path="inputs/demonstrations.jsonl"),
        lora=lora,
        optim=Optim(gradient_checkpointing=again),
    )
    events = Events(folder.with_name("events.jsonl"))
    run = Run(folder.parent, config, 1, CPU, torch.float32, events, StopWish())
    try:
        return loading.load_to_train(run, config, longest=64)
    finally:
        events.close()


def descended(
    causal: PreTrainedModel, trained: nn.Module, batch: Batch, dtype: torch.dtype
) -> tuple[Tensor, dict[str, Tensor], int]:
    """Log-probabilities, gradients, and the bytes that were held between forward and backward."""
    held: dict[int, int] = {}
    own = {parameter.data_ptr() for parameter in trained.parameters()}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            held[storage.data_ptr()] = storage.nbytes()
        return tensor

    torch.manual_seed(1)
    with saved_tensors_hooks(keep, lambda tensor: tensor), precision.autocast(CPU, dtype):
        found = action_logp(causal, batch, temperature=0.7)
    n_bytes = sum(held.values())
    found.logp_N.sum().backward()
    gradients = {name: p.grad for name, p in adapters.trainable(trained).items()}
    assert all(gradient is not None for gradient in gradients.values())
    return found.logp_N.detach(), gradients, n_bytes  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("packing", [True, False])
@pytest.mark.parametrize("lora", [None, LORA])
def test_gradients_are_the_same_to_the_bit_and_a_third_is_held(
    folder: Path, dtype: torch.dtype, packing: bool, lora: Lora | None
) -> None:
    found = []
    for again in (False, True):
        causal = loaded(folder, again=again, lora=lora)
        trained: nn.Module = causal
        if lora is not None:
            trained = adapters.add_lora(causal, lora, seed=0).train()
        batch = collate(ROWS, pad_id=0, device=CPU, packing=packing)
        found.append(descended(causal, trained, batch, dtype))

    (logp, gradients, n_bytes), (logp_again, gradients_again, n_bytes_again) = found
    assert torch.equal(logp, logp_again)
    assert gradients.keys() == gradients_again.keys()
    for name, gradient in gradients.items():
        assert torch.equal(gradient, gradients_again[name]), name
    assert n_bytes_again < n_bytes / 3


def test_sampling_with_a_cache_is_as_before(folder: Path) -> None:
    ids = torch.tensor([PROMPT])
    plain, again = loaded(folder, again=False), loaded(folder, again=True)

    for model in (plain, again):
        model.requires_grad_(True)
    with torch.enable_grad():
        caches = [DynamicCache(), DynamicCache()]
        logits = [
            model(input_ids=ids, past_key_values=cache, use_cache=True).logits
            for model, cache in zip((plain, again), caches, strict=True)
        ]

    assert torch.equal(*logits)
    assert [cache.get_seq_length() for cache in caches] == [len(PROMPT), len(PROMPT)]


@pytest.mark.parametrize("make_config", METHODS)
def test_every_method_comes_to_the_same_weights(
    workshop: Workshop,
    tiny_model: Path,
    finished: Finished,
    make_config: Callable[..., dict[str, Any]],
) -> None:
    config = make_config(tiny_model)
    optim = config["optim"] | {"gradient_checkpointing": True}
    again = workshop.lay_out("again", config | {"optim": optim})

    plain = undisturbed(finished, config)

    assert workshop.run_here(again)["code"] == 0
    assert weights(plain) == weights(again)
    assert exact_metrics(plain) == exact_metrics(again)
