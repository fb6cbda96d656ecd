"""What is refused before weights are loaded, and what is only warned of."""

import json
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFWriter

from backend.schemas.methods import METHODS
from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import Reference
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import (
    SMALL_CONFIGS,
    SYSTEM,
    Workshop,
    lines,
    policy_gradient_config,
    sft_config,
)
from worker.trainer.errors import ConfigError
from worker.trainer.models import files


def without_weights(folder: Path) -> Path:
    """A model folder whose weights are gone: whoever wants to load them must fail."""
    make_tiny_model(folder)
    (folder / "model.safetensors").unlink()
    return folder


@pytest.mark.parametrize(
    ("method", "change"),
    [
        (sft_config, {"max_tokens": 513}),
        (policy_gradient_config, {"rollout": {"max_prompt_tokens": 256, "max_new_tokens": 257}}),
    ],
)
def test_what_does_not_fit_into_the_window_is_refused(
    workshop: Workshop, tmp_path: Path, method: Any, change: dict[str, Any]
) -> None:
    """The tiny model reads 512 tokens."""
    run_dir = workshop.lay_out("run", method(without_weights(tmp_path / "model")) | change)

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "config")
    assert "has a context length of 512 tokens" in report["message"]
    assert "513" in report["message"]
    assert "Lower" in report["advice"]


def gguf_header(
    path: Path, *, window: int | None, tokens: list[str] | None = None, rows: int | None = None
) -> Path:
    """A GGUF file without weights, the header of a Llama; `rows` of its embeddings."""
    writer = GGUFWriter(path, "llama")
    if tokens is not None:
        writer.add_token_list(tokens)
    if rows is not None:
        writer.add_vocab_size(rows)
    if window is not None:
        writer.add_context_length(window)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_the_window_of_a_gguf_file_is_that_of_its_header(
    workshop: Workshop, tmp_path: Path
) -> None:
    model = gguf_header(tmp_path / "model.gguf", window=512)

    report = workshop.run_here(workshop.lay_out("run", sft_config(model, max_tokens=513)))

    assert (report["code"], report["cause"]) == (2, "config")
    assert "has a context length of 512 tokens" in report["message"]


def test_a_gguf_file_may_leave_its_window_open_but_must_be_one(tmp_path: Path) -> None:
    silent, broken = gguf_header(tmp_path / "silent.gguf", window=None), tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    assert files.context_length(Reference(path=str(silent))) is None
    with pytest.raises(ConfigError, match=r"broken\.gguf could not be loaded"):
        files.context_length(Reference(path=str(broken)))


FEW = {"max_tokens": 8}, "max_tokens is 8"
FEW_IN_PROMPT = (
    {"rollout": {"max_prompt_tokens": 4, "max_new_tokens": 4}},
    "max_prompt_tokens is 4",
)
REFERRED = [
    SMALL_CONFIGS[method]
    for method, spec in METHODS.items()
    if "reference" in spec.config.model_fields
]


@pytest.mark.parametrize("method", METHODS)
def test_a_record_that_is_too_long_is_told_before_weights_are_loaded(
    workshop: Workshop, tmp_path: Path, method: str
) -> None:
    samples = "rollout" in METHODS[method].config.model_fields
    change, words = FEW_IN_PROMPT if samples else FEW
    config = SMALL_CONFIGS[method](without_weights(tmp_path / "model"), **change)
    run_dir = workshop.lay_out("run", config)

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "data")
    assert words in report["message"]
    assert report["advice"]


@pytest.mark.parametrize("method", REFERRED)
def test_a_reference_with_another_vocabulary_is_refused(
    workshop: Workshop, tmp_path: Path, method: Any
) -> None:
    model, other = (without_weights(tmp_path / name) for name in ("model", "other"))
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["new"] = len(vocabulary)
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    config = method(model, reference={"path": str(other)})

    report = workshop.run_here(workshop.lay_out("run", config))

    assert (report["code"], report["cause"]) == (2, "config")
    assert report["message"].startswith(
        "reference: its vocabulary differs from the model's: 1 of its 260 tokens are not"
    )
    assert report["advice"]


@pytest.mark.parametrize("method", REFERRED)
def test_a_reference_with_another_number_of_logits_is_refused(
    workshop: Workshop, tmp_path: Path, method: Any
) -> None:
    """One tokenizer, but rows added to the embeddings, as sizes of one family often differ."""
    model, other = (without_weights(tmp_path / name) for name in ("model", "other"))
    config = json.loads((other / "config.json").read_text())
    assert config["vocab_size"] == 259
    (other / "config.json").write_text(json.dumps(config | {"vocab_size": 320}))

    report = workshop.run_here(
        workshop.lay_out("run", method(model, reference={"path": str(other)}))
    )

    assert (report["code"], report["cause"]) == (2, "config")
    assert report["message"].startswith("reference: it has 320 logits and the model has 259")
    assert report["advice"]


def test_the_number_of_logits_of_a_gguf_file_is_that_of_its_header(
    tiny_model: Path, tmp_path: Path
) -> None:
    def header(name: str, **said: Any) -> Reference:
        return Reference(path=str(gguf_header(tmp_path / name, window=512, **said)))

    assert files.vocabulary_size(header("silent.gguf")) is None
    assert files.vocabulary_size(header("counted.gguf", tokens=["a", "b", "c"])) == 3
    assert files.vocabulary_size(header("said.gguf", tokens=["a", "b"], rows=4)) == 4
    assert files.vocabulary_size(Reference(path=str(tiny_model))) == 259


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({}, []),
        ({"kl": {"coef": 0.1, "estimator": "k1", "place": "loss"}}, ["k1_in_loss"]),
        ({"kl": {"coef": 0.0, "estimator": "k1", "place": "loss"}}, []),
        ({"kl": {"coef": 0.1, "estimator": "k2", "place": "loss"}}, []),
        ({"kl": {"coef": 0.1, "estimator": "k2", "place": "reward"}}, ["k2_in_reward"]),
        ({"kl": {"coef": 0.1, "estimator": "k3", "place": "reward"}}, ["k3_in_reward"]),
        ({"kl": {"coef": 0.0, "target": 1.0}}, ["kl_coef"]),
        ({"kl": {"max": 3.0}, "eval_every": 5}, []),
        ({"kl": {"max": 3.0}, "eval_every": 0}, ["kl_max_unevaluated"]),
        ({"minibatch_size": 16}, []),
        ({"minibatch_size": 20}, ["uneven_minibatches"]),
        ({"minibatch_size": 64}, ["uneven_minibatches"]),
        ({"rollout": {"top_p": 0.9}}, ["top_p"]),
        ({"rollout": {"prompts_per_step": 31}}, ["small_batch"]),
        ({"rollout": {"prompts_per_step": 31}, "estimator": "remax"}, []),
    ],
)
def test_a_config_says_what_one_should_mind(change: dict[str, Any], rules: list[str]) -> None:
    config = PolicyGradientConfig.model_validate(policy_gradient_config(Path("model")) | change)
    found = config.cautions()
    assert [caution.rule for caution in found] == rules
    assert all(caution.advice for caution in found)


def test_the_trainer_warns_and_goes_on(workshop: Workshop, tiny_model: Path) -> None:
    config = policy_gradient_config(tiny_model, steps=1, eval_every=0)
    config["kl"] = {"coef": 0.1, "place": "loss"}
    config["rollout"] = {"prompts_per_step": 4, "max_new_tokens": 4, "system": SYSTEM}
    run_dir = workshop.lay_out("run", config | {"rollout": config["rollout"] | {"top_p": 0.5}})

    assert workshop.run_here(run_dir)["code"] == 0

    alerts = {line["rule"]: line["message"] for line in lines(run_dir, "alert")}
    assert {"k1_in_loss", "top_p", "small_batch", "rendered_prompt"} <= set(alerts)
    assert alerts["k1_in_loss"].startswith("kl.estimator is k1 with kl.place loss")


def test_the_window_is_that_of_the_models_config(tiny_model: Path) -> None:
    from_folder = files.context_length(
        PolicyGradientConfig.model_validate(policy_gradient_config(tiny_model)).model
    )
    assert from_folder == 512
