"""Models as they are held and saved: halves that change no number, adapters that are merged."""

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    OPTConfig,
    Phi3Config,
    PretrainedConfig,
    Qwen3Config,
)

from backend.schemas.references import Reference
from backend.schemas.sections import Lora
from tests.tiny_model import make_tiny_model
from worker.trainer import precision
from worker.trainer.errors import ConfigError
from worker.trainer.models import adapters, loading

CPU = torch.device("cpu")
IDS_B_T = torch.tensor([[1, 5, 9, 2, 7]])


def test_halved_linear_layers_compute_what_autocast_does(tmp_path: Path) -> None:
    model = loading.load_whole(Reference(path=str(make_tiny_model(tmp_path / "tiny"))))
    with torch.no_grad(), precision.autocast(CPU, torch.bfloat16):
        expected = model(input_ids=IDS_B_T).logits
        precision.halve_linears(model, torch.bfloat16)
        found = model(input_ids=IDS_B_T).logits
    assert model.get_decoder().layers[0].mlp.up_proj.weight.dtype == torch.bfloat16
    assert model.get_input_embeddings().weight.dtype == torch.float32
    assert torch.equal(found, expected)


def test_a_fully_trained_model_is_saved_without_a_copy(tmp_path: Path) -> None:
    model = loading.load_whole(Reference(path=str(make_tiny_model(tmp_path / "tiny"))))

    assert adapters.full_model(model, lambda: loading.load_whole(Reference(path="none"))) is model


SMALL = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "vocab_size": 32}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (LlamaConfig(**SMALL, intermediate_size=32), {"q_proj", "k_proj", "v_proj", "o_proj"}),
        (Qwen3Config(**SMALL, intermediate_size=32), {"q_proj", "k_proj", "v_proj", "o_proj"}),
        (
            OPTConfig(**SMALL, ffn_dim=32, word_embed_proj_dim=16),
            {"q_proj", "k_proj", "v_proj", "out_proj"},
        ),
        (Phi3Config(**SMALL, intermediate_size=32, pad_token_id=0), {"qkv_proj", "o_proj"}),
        (GPTNeoXConfig(**SMALL, intermediate_size=32), {"query_key_value", "dense"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_adapters_on_attention_are_on_all_of_its_projections(
    config: PretrainedConfig, expected: set[str]
) -> None:
    model = AutoModelForCausalLM.from_config(config)
    adapted = adapters.add_lora(model, Lora(r=2, targets="attention"), seed=0)
    found = {name.split(".lora_")[0] for name in adapters.trainable(adapted)}
    assert {name.rsplit(".", 1)[-1] for name in found} == expected
    assert {name.rsplit(".", 2)[-2] for name in found} <= {"self_attn", "attention"}


@pytest.mark.parametrize("targets", ["attention", "linear"])
def test_a_model_without_layers_for_adapters_is_told_of(targets: str) -> None:
    model = AutoModelForCausalLM.from_config(GPT2Config(n_layer=1, n_embd=16, n_head=2))
    with pytest.raises(ConfigError, match=f"lora.targets is {targets}, but GPT2LMHeadModel has no"):
        adapters.add_lora(model, Lora.model_validate({"r": 2, "targets": targets}), seed=0)


def test_adapters_are_added_to_the_starting_weights_in_fp32(tmp_path: Path) -> None:
    start = Reference(path=str(make_tiny_model(tmp_path / "tiny")))
    base = loading.load_causal_lm(start, dtype=torch.bfloat16, device=CPU)
    adapted = adapters.add_lora(base, Lora(r=2, alpha=4, targets="attention"), seed=0)
    with torch.no_grad():
        for name, parameter in adapters.trainable(adapted).items():
            parameter.fill_(0.5 if "lora_A" in name else 0.25)

    whole = adapters.full_model(adapted, lambda: loading.load_whole(start))

    before = loading.load_whole(start).get_decoder().layers[1]
    after = whole.get_decoder().layers[1]
    # scale 4 / 2, times B A = 2 * .25 * .5
    expected = before.self_attn.q_proj.weight + 0.5
    assert torch.allclose(after.self_attn.q_proj.weight, expected, atol=1e-6)
    assert torch.equal(after.mlp.up_proj.weight, before.mlp.up_proj.weight)


@pytest.mark.parametrize("targets", ["attention", "linear"])
def test_with_its_adapters_off_a_model_is_the_one_it_was(targets: str, tmp_path: Path) -> None:
    start = Reference(path=str(make_tiny_model(tmp_path / "tiny")))
    base = loading.load_causal_lm(start, dtype=torch.float32, device=CPU).eval()
    ids = torch.arange(12).reshape(2, 6)
    with torch.no_grad():
        plain = base(ids).logits
        adapted = adapters.add_lora(base, Lora.model_validate({"r": 2, "targets": targets}), seed=0)
        for parameter in adapters.trainable(adapted).values():
            parameter.fill_(0.1)
        trained = adapted(ids).logits
        names = set(adapters.trainable(adapted))

        with adapters.switched_off(adapted):
            with pytest.raises(KeyError), adapters.switched_off(adapted):
                raise KeyError
            assert torch.equal(adapted(ids).logits, plain)

        assert torch.equal(adapted(ids).logits, trained)
    assert not torch.allclose(trained, plain)
    assert set(adapters.trainable(adapted)) == names


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")
def test_a_module_that_is_trained_beside_adapters_is_switched_off_with_them(tmp_path: Path) -> None:
    start = Reference(path=str(make_tiny_model(tmp_path / "tiny")))
    base = loading.load_causal_lm(start, dtype=torch.float32, device=CPU).eval()
    with torch.no_grad():
        plain = base(IDS_B_T).logits
        lora = LoraConfig(target_modules=["q_proj"], modules_to_save=["norm"])
        adapted = get_peft_model(base, lora)
        for parameter in adapters.trainable(adapted).values():
            parameter.fill_(0.1)

        with adapters.switched_off(adapted):
            assert torch.equal(adapted(IDS_B_T).logits, plain)
        assert not torch.allclose(adapted(IDS_B_T).logits, plain)
