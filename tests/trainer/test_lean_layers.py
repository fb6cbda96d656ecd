"""Layers that keep less for the backward pass are those of the model, bit by bit."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from transformers import (
    AutoModelForCausalLM,
    GemmaConfig,
    GemmaForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from backend.schemas.references import Reference
from backend.schemas.sections import Lora
from worker.trainer import precision
from worker.trainer.models import adapters, layers, loading
from worker.trainer.models.layers import GatedMlp, Linear, RmsNorm

CPU = torch.device("cpu")
SIZES = {
    "vocab_size": 61,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "max_position_embeddings": 64,
}
KIN = [
    (LlamaConfig, LlamaForCausalLM),
    (MistralConfig, MistralForCausalLM),
    (Qwen2Config, Qwen2ForCausalLM),
    (Qwen3Config, Qwen3ForCausalLM),
]
IDS = torch.arange(30).view(2, 15) % 61


def pair(config: type, kind: type) -> tuple[PreTrainedModel, PreTrainedModel]:
    """The same random model as it comes, and with lean layers."""
    torch.manual_seed(0)
    own = kind(config(**SIZES))
    with torch.no_grad():
        for name, parameter in own.named_parameters():
            if "norm" in name or "bias" in name:
                parameter.add_(torch.randn_like(parameter) / 4)
    lean = kind(config(**SIZES))
    lean.load_state_dict(own.state_dict())
    layers.install(lean)
    return own, lean


def computing_in(name: str) -> AbstractContextManager[object]:
    return precision.autocast(CPU, torch.bfloat16 if name == "bf16" else torch.float32)


def learn(model: PreTrainedModel, name: str) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits, and the gradients of something that depends on all of them."""
    model.zero_grad()
    with computing_in(name):
        logits = model(IDS, use_cache=False).logits
    logits.float().log_softmax(-1)[..., ::7].mean().backward()
    return logits.detach(), {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("name", ["fp32", "bf16"])
@pytest.mark.parametrize(("config", "kind"), KIN)
def test_lean_layers_give_the_same_logits_to_the_bit_and_the_same_gradients(
    config: type, kind: type, name: str
) -> None:
    own, lean = pair(config, kind)
    assert {RmsNorm, GatedMlp, Linear} <= {type(module) for module in lean.modules()}

    expected, gradients = learn(own, name)
    found, found_gradients = learn(lean, name)

    assert torch.equal(found, expected)
    assert found_gradients.keys() == gradients.keys() == dict(own.named_parameters()).keys()
    tolerance = 1e-5 if name == "fp32" else 2e-2
    for parameter, gradient in gradients.items():
        distance = (found_gradients[parameter] - gradient).norm()
        assert distance <= tolerance * gradient.norm(), parameter
    with torch.no_grad(), computing_in(name):
        assert torch.equal(lean(IDS, use_cache=False).logits, expected)


def test_bf16_gradients_are_as_near_to_float64_as_those_of_the_plain_layers() -> None:
    own, lean = pair(*KIN[0])
    exact = LlamaForCausalLM(LlamaConfig(**SIZES)).double()
    exact.load_state_dict(own.state_dict())
    _, expected = learn(exact, "fp32")

    def distance(model: PreTrainedModel) -> float:
        _, found = learn(model, "bf16")
        squares = [(found[name].double() - g).square().sum() for name, g in expected.items()]
        return float(torch.stack(squares).sum().sqrt())

    assert distance(lean) <= 1.05 * distance(own)


def test_a_model_of_other_layers_stays_as_it_is() -> None:
    own, lean = pair(GemmaConfig, GemmaForCausalLM)
    assert [type(module) for module in lean.modules()] == [type(m) for m in own.modules()]


@pytest.mark.parametrize("name", ["fp32", "bf16"])
def test_with_adapters_the_gradients_are_those_of_the_plain_layers(
    tiny_model: Path, name: str
) -> None:
    plain = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    lean = loading.load_causal_lm(Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU)
    found = []
    for model in (plain, lean):
        adapted = adapters.add_lora(model.eval(), Lora(r=2, targets="linear"), seed=1)
        with torch.no_grad():
            for place, parameter in adapted.named_parameters():
                if "lora_B" in place:
                    parameter.copy_(torch.linspace(-0.1, 0.1, parameter.numel()).view_as(parameter))
        found.append(learn(adapted, name))
    (own_logits, own), (lean_logits, gradients) = found
    assert torch.equal(lean_logits, own_logits)
    assert own.keys() == gradients.keys()
    assert all("lora" in parameter for parameter in own)
    tolerance = 1e-5 if name == "fp32" else 2e-2
    for parameter, gradient in own.items():
        distance = (gradients[parameter] - gradient).norm()
        assert distance <= tolerance * gradient.norm(), parameter


def test_the_weights_are_saved_under_the_names_of_the_model(tmp_path: Path) -> None:
    own, lean = pair(*KIN[0])
    lean.save_pretrained(tmp_path)
    again = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    assert again.state_dict().keys() == own.state_dict().keys()
    assert all(torch.equal(again.state_dict()[name], w) for name, w in own.state_dict().items())


def test_under_autocast_half_as_many_bytes_are_kept_for_the_backward_pass() -> None:
    own, lean = pair(*KIN[0])
    kept = []
    for model in (own, lean):
        with count_kept(model) as storages, computing_in("bf16"):
            model.get_decoder()(IDS, use_cache=False)
        kept.append(sum(storages.values()))
    assert kept[1] < 0.5 * kept[0]


@contextmanager
def count_kept(model: nn.Module) -> Iterator[dict[int, int]]:
    """Bytes of each storage that autograd keeps, but for the parameters themselves."""
    own = {parameter.data_ptr() for parameter in model.parameters()}
    kept: dict[int, tuple[int, Tensor]] = {}
    sizes: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            # The tensor too, so that its place in memory is not given away.
            kept[storage.data_ptr()] = (storage.nbytes(), tensor)
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        yield sizes


@pytest.mark.parametrize("layer", ["norm", "mlp", "linear"])
def test_the_gradients_of_each_layer_pass_gradcheck(layer: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    function, rest = {
        "norm": (layers._RmsNorm, (torch.randn(4), 1e-5, torch.float64)),
        "mlp": (layers._GatedLinear, (torch.randn(2, 3, 4), torch.randn(5, 4))),
        "linear": (layers._Linear, (torch.randn(5, 4), torch.randn(5))),
    }[layer]
    arguments = [a.double().requires_grad_() if isinstance(a, Tensor) else a for a in rest]
    assert torch.autograd.gradcheck(function.apply, (x, *arguments))
