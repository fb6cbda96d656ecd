"""Models whose config has parts, text beside images: their numbers are those of the text."""

from pathlib import Path

import pytest
import torch
from transformers import Gemma3Config, Gemma3ForConditionalGeneration

from backend.schemas.references import Reference
from tests.tiny_model import make_tiny_tokenizer
from tests.trainer.conftest import SMALL_CONFIGS, Workshop
from worker.trainer.models.heads import load_reward_model

CPU = torch.device("cpu")


@pytest.fixture
def with_images(tmp_path: Path) -> Path:
    """A tiny model built as Gemma 3 4B is."""
    folder = tmp_path / "gemma"
    layers = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    text = {"num_hidden_layers": 2, "num_key_value_heads": 1, "head_dim": 16, "vocab_size": 259}
    config = Gemma3Config(
        text_config=layers | text | {"max_position_embeddings": 512, "sliding_window": 64},
        vision_config=layers | {"num_hidden_layers": 1, "image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
        eos_token_id=2,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        Gemma3ForConditionalGeneration(config).save_pretrained(folder)
    make_tiny_tokenizer().save_pretrained(folder)
    return folder


@pytest.mark.parametrize("adapters", [True, False])
def test_a_reward_model_of_such_a_model_is_trained_and_read_again(
    workshop: Workshop, with_images: Path, adapters: bool
) -> None:
    config = SMALL_CONFIGS["reward_model"](with_images)
    run_dir = workshop.lay_out("run", config if adapters else config | {"lora": None})

    assert workshop.run_here(run_dir)["code"] == 0

    reference = Reference(path=str(run_dir / "output"))
    model, _, _ = load_reward_model(reference, dtype=torch.float32, device=CPU)
    assert model.head.weight.shape == (1, 32)


@pytest.mark.parametrize("method", ["sft", "dpo", "policy_gradient"])
def test_such_a_model_is_trained(workshop: Workshop, with_images: Path, method: str) -> None:
    config = SMALL_CONFIGS[method](with_images)
    if method == "policy_gradient":
        config |= {"steps": 1, "eval_every": 0}
    assert workshop.run_here(workshop.lay_out("run", config))["code"] == 0
