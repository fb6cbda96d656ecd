"""Models as they are held and saved: halves that change no number, adapters that are merged."""

from pathlib import Path

import torch

from backend.schemas.references import Reference
from backend.schemas.sections import Lora
from tests.tiny_model import make_tiny_model
from worker.trainer import precision
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
