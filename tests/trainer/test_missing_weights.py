"""A model starts from its files alone: a weight that they lack is never made up."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFWriter
from safetensors.torch import load_file, save_file
from torch import Tensor

from backend.schemas.methods import METHODS
from backend.schemas.model_folder.reward_card import HEAD_FILE
from backend.schemas.references import Reference
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import (
    SMALL_CONFIGS,
    Workshop,
    lines,
    policy_gradient_config,
    reward_model_config,
)
from worker.trainer.errors import MissingModel
from worker.trainer.events import Events
from worker.trainer.models import loading
from worker.trainer.models.heads import load_reward_model

CPU = torch.device("cpu")
Weights = dict[str, Tensor]


def rewritten(
    folder: Path, change: Callable[[Weights], Weights], *, file: str = "model.safetensors"
) -> Path:
    """The folder, its weights changed."""
    save_file(change(load_file(folder / file)), folder / file, metadata={"format": "pt"})
    return folder


def untied(folder: Path) -> Path:
    """A tiny model with a head of its own, which is the embeddings twice as large."""
    config = json.loads((make_tiny_model(folder) / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    return rewritten(
        folder, lambda all_: all_ | {"lm_head.weight": 2 * all_["model.embed_tokens.weight"]}
    )


def without(*parts: str) -> Callable[[Weights], Weights]:
    """Leave the weights out whose names have one of these parts."""
    return lambda all_: {k: v for k, v in all_.items() if not any(part in k for part in parts)}


def under_module(weights: Weights) -> Weights:
    """The names that DistributedDataParallel gives."""
    return {f"module.{name}": weight for name, weight in weights.items()}


def load(folder: Path) -> None:
    loading.load_whole(Reference(path=str(folder)))


@pytest.mark.parametrize("method", METHODS)
def test_a_wrapped_model_ends_every_method_before_it_trains(
    workshop: Workshop, tmp_path: Path, method: str
) -> None:
    folder = rewritten(make_tiny_model(tmp_path / "wrapped"), under_module)

    run_dir = workshop.lay_out("run", SMALL_CONFIGS[method](folder))
    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "missing_model"), report
    assert f"model: {folder} is incomplete: its files lack " in report["message"]
    assert "(lm_head.weight, model.embed_tokens.weight, " in report["message"]
    assert "(module.model.embed_tokens.weight, " in report["message"]
    assert "begins with `module.`" in report["advice"]
    assert not lines(run_dir, "metric")


@pytest.mark.parametrize("lora", [None, {"r": 4, "alpha": 8}])
def test_a_truncated_reference_is_named(
    workshop: Workshop, tmp_path: Path, tiny_model: Path, lora: dict[str, int] | None
) -> None:
    folder = rewritten(
        make_tiny_model(tmp_path / "cut"), without("layers.0.mlp", "layers.1.mlp.up")
    )
    config = policy_gradient_config(tiny_model, reference={"path": str(folder)}, lora=lora)

    report = workshop.run_here(workshop.lay_out("run", config))

    assert (report["code"], report["cause"]) == (2, "missing_model"), report
    assert report["message"] == (
        f"model: {folder} is incomplete: its files lack 4 weights "
        "(model.layers.0.mlp.down_proj.weight, model.layers.0.mlp.gate_proj.weight, "
        "model.layers.0.mlp.up_proj.weight and 1 more)"
    )
    assert "save_pretrained" in report["advice"]


def test_a_head_of_its_own_is_missed_and_a_tied_one_is_not(tmp_path: Path) -> None:
    load(make_tiny_model(tmp_path / "tied"))
    folder = untied(tmp_path / "untied")
    load(folder)
    with pytest.raises(MissingModel, match=r"lack 1 weight \(lm_head\.weight\)"):
        load(rewritten(folder, without("lm_head")))


def test_weights_of_another_shape_are_named_with_both(tmp_path: Path) -> None:
    folder = rewritten(
        make_tiny_model(tmp_path / "tiny"),
        lambda all_: all_ | {"model.norm.weight": torch.ones(31)},
    )
    with pytest.raises(
        MissingModel,
        match=r": 1 weight of its files has another shape "
        r"\(model\.norm\.weight, 31 in the files and 32 by the config\)",
    ):
        load(folder)


def test_an_empty_file_of_weights_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(MissingModel):
        load(rewritten(make_tiny_model(tmp_path / "tiny"), lambda _: {}))


def test_weights_that_the_model_has_no_place_for_are_told_once(tmp_path: Path) -> None:
    folder = rewritten(
        make_tiny_model(tmp_path / "tiny"),
        lambda all_: all_ | {f"vision.{i}.weight": torch.ones(2) for i in range(5)},
    )
    events = Events(tmp_path / "events.jsonl")
    for _ in range(2):
        loading.load_causal_lm(
            Reference(path=str(folder)), dtype=torch.float32, device=CPU, events=events
        )
    events.close()

    (alert,) = lines(tmp_path, "alert")
    assert (alert["rule"], alert["level"]) == ("unused_weights", "warning")
    assert alert["message"] == (
        f"The files of {folder} have 5 weights (vision.0.weight, vision.1.weight, vision.2.weight "
        "and 2 more), which LlamaForCausalLM has no place for: the run does without. Check that "
        "this is the model that you mean."
    )


def test_a_reward_model_is_whole_and_needs_no_head_to_begin_with(
    workshop: Workshop, tmp_path: Path
) -> None:
    start = rewritten(untied(tmp_path / "start"), without("lm_head"))
    run_dir = workshop.lay_out("run", reward_model_config(start))
    assert workshop.run_here(run_dir)["code"] == 0
    trained = run_dir / "output"

    def loaded() -> None:
        load_reward_model(Reference(path=str(trained)), dtype=torch.float32, device=CPU)

    loaded()
    whole = (trained / HEAD_FILE).read_bytes()
    rewritten(trained, lambda all_: {"weight": all_["weight"][:, 1:]}, file=HEAD_FILE)
    with pytest.raises(MissingModel, match=r"is not a head of 32 numbers: .*size mismatch"):
        loaded()
    rewritten(trained, lambda _: {}, file=HEAD_FILE)
    with pytest.raises(MissingModel, match=r"is not a head of 32 numbers: .*[Mm]issing key"):
        loaded()
    (trained / HEAD_FILE).unlink()
    with pytest.raises(MissingModel, match=r"is not a head of 32 numbers"):
        loaded()
    (trained / HEAD_FILE).write_bytes(whole)
    rewritten(trained, without("layers.1.mlp.up"))
    with pytest.raises(MissingModel, match=r"lack 1 weight \(layers\.1\.mlp\.up_proj\.weight\)"):
        loaded()


@pytest.mark.parametrize("dropped", [None, "blk.0.ffn_up.weight", "token_embd.weight"])
def test_a_gguf_file_is_whole(tmp_path: Path, dropped: str | None) -> None:
    path = gguf_llama(tmp_path / "tiny.gguf", dropped)
    if dropped is None:
        load(path)  # its head is the embeddings
        return
    with pytest.raises(MissingModel, match=r"tiny\.gguf is incomplete: its files lack ") as raised:
        load(path)
    assert raised.value.advice == "Download or convert the file again."


@pytest.mark.parametrize(
    ("scaling", "factors", "said"),
    [
        (None, {}, None),
        ("none", {"rope_freqs.weight": 1.0}, None),
        ("yarn", {}, "yarn"),
        ("longrope", {"rope_factors_long.weight": 4.0}, "longrope"),
        (None, {"rope_factors_short.weight": 1.0, "rope_factors_long.weight": 4.0},
         "rope_factors_long.weight"),
        (None, {"rope_freqs.weight": 8.0}, "rope_freqs.weight"),
    ],
)  # fmt: skip
def test_a_gguf_file_whose_angles_would_be_lost_is_refused(
    tmp_path: Path, scaling: str | None, factors: dict[str, float], said: str | None
) -> None:
    """Without LongRoPE, YaRN or the factors of Llama 3.1 it would be another model."""
    path = gguf_llama(tmp_path / "tiny.gguf", None, scaling=scaling, factors=factors)
    if said is None:
        load(path)
        return
    with pytest.raises(MissingModel, match=rf"scales the angles of its positions \({said}\)"):
        load(path)


def gguf_llama(
    path: Path,
    dropped: str | None,
    *,
    scaling: str | None = None,
    factors: Mapping[str, float] | None = None,
) -> Path:
    """One layer of a Llama without a head of its own; `factors` of its angles, as tensors."""
    writer = GGUFWriter(path, "llama")
    if scaling is not None:
        writer.add_string("llama.rope.scaling.type", scaling)
    for name, factor in (factors or {}).items():
        writer.add_tensor(name, np.full(4, factor, np.float32))
    writer.add_context_length(64)
    writer.add_embedding_length(16)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(40)
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (40, 16), "output_norm": (16,)}
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        shapes[f"blk.0.{part}"] = (16, 16)
    shapes |= {"blk.0.ffn_gate": (32, 16), "blk.0.ffn_up": (32, 16), "blk.0.ffn_down": (16, 32)}
    shapes |= {"blk.0.attn_norm": (16,), "blk.0.ffn_norm": (16,)}
    for name, shape in shapes.items():
        if f"{name}.weight" != dropped:
            writer.add_tensor(f"{name}.weight", np.full(shape, 0.5, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
