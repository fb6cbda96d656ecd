"""The angles of a saved model are those that it was trained with, whichever version reads them."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoConfig,
    Gemma3TextConfig,
    GPTNeoXConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Phi3Config,
    PreTrainedConfig,
)

from tests.tiny_model import make_tiny_tokenizer
from tests.trainer.conftest import Workshop, sft_config
from worker.trainer.models import rope
from worker.trainer.models.loading import save_model
from worker.trainer.sampling.vllm_engine import _write_config

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 128,
}
FACTORS = {"short_factor": [1.0] * 4, "long_factor": [2.0] * 4}
SMALL = {
    "vocab_size": 259,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 512,
    "pad_token_id": 2,
}


def llama(**more: Any) -> LlamaConfig:
    return LlamaConfig(**SMALL | more)


def phi3() -> Phi3Config:
    scaling = FACTORS | {"type": "longrope"}
    return Phi3Config(**SMALL | {"original_max_position_embeddings": 64, "rope_scaling": scaling})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (llama(), {"rope_theta": 10_000.0}),
        (llama(rope_theta=500_000.0), {"rope_theta": 500_000.0}),
        (
            llama(rope_theta=500_000.0, rope_scaling=dict(LLAMA3)),
            {"rope_theta": 500_000.0, "rope_scaling": LLAMA3},
        ),
        (
            phi3(),
            {"rope_theta": 10_000.0, "rope_scaling": FACTORS | {"type": "longrope"}},
        ),
        (GPTNeoXConfig(rotary_pct=0.5), {"rope_theta": 10_000.0, "partial_rotary_factor": 0.5}),
        (Gemma3TextConfig(), {}),  # two kinds of layers, each with angles of its own
    ],
    ids=["default", "theta", "llama3", "longrope", "partial", "by layer"],
)
def test_a_saved_config_says_its_angles_as_older_readers_want_them(
    tmp_path: Path, config: PreTrainedConfig, expected: dict[str, Any]
) -> None:
    config.save_pretrained(tmp_path)
    before = AutoConfig.from_pretrained(tmp_path).rope_parameters

    rope.write_for_older_readers(tmp_path)

    said = json.loads((tmp_path / "config.json").read_text())
    names = ("rope_theta", "rope_scaling", "partial_rotary_factor")
    told = {name: said[name] for name in names if said.get(name) is not None}
    if "partial_rotary_factor" not in expected:
        told.pop("partial_rotary_factor", None)
    assert told == expected
    assert AutoConfig.from_pretrained(tmp_path).rope_parameters == before


def test_the_output_of_a_run_and_what_vllm_reads_say_them(tmp_path: Path) -> None:
    model = LlamaForCausalLM(llama(rope_theta=500_000.0, rope_scaling=dict(LLAMA3)))
    for folder in (tmp_path / "output", tmp_path / "vllm"):
        folder.mkdir()
    _write_config(model, tmp_path / "vllm")
    save_model(model, make_tiny_tokenizer(), tmp_path / "output")

    for folder in (tmp_path / "output", tmp_path / "vllm"):
        said = json.loads((folder / "config.json").read_text())
        assert (said["rope_theta"], said["rope_scaling"]) == (500_000.0, LLAMA3)
    again = LlamaForCausalLM.from_pretrained(tmp_path / "output")
    assert torch.equal(again.model.rotary_emb.inv_freq, model.model.rotary_emb.inv_freq)


def test_rows_are_refused_that_change_the_angles_of_all_rows_beside_them(
    workshop: Workshop, tmp_path: Path
) -> None:
    """A response would have other log-probabilities beside a longer one than alone."""
    assert rope.length_of_change(phi3()) == 64
    assert rope.length_of_change(llama(rope_scaling=dict(LLAMA3))) is None
    assert rope.length_of_change(Gemma3TextConfig()) is None
    phi3().save_pretrained(tmp_path / "model")

    report = workshop.run_here(
        workshop.lay_out("run", sft_config(tmp_path / "model", max_tokens=65))
    )

    assert (report["code"], report["cause"]) == (2, "config")
    assert "LongRoPE" in report["message"]
    assert "may need 65 tokens, but beyond 64 the model" in report["message"]
    assert "Lower" in report["advice"]
