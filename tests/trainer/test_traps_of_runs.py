"""Those of the fifteen traps that only a run shows; the others stand in `test_traps`."""

from pathlib import Path

import pytest
import torch

from tests.trainer.conftest import Workshop, lines, policy_gradient_config, series
from tests.trainer.test_resume import EVERY_SAMPLE, sampled
from worker.trainer.checkpoint import load_newest


def test_05_a_nucleus_below_one_is_warned_of(workshop: Workshop, tiny_model: Path) -> None:
    config = policy_gradient_config(tiny_model, steps=1)
    config["rollout"] = config["rollout"] | {"top_p": 0.9}
    run_dir = workshop.lay_out("run", config)
    assert workshop.run_here(run_dir)["code"] == 0
    assert "top_p" in {line["rule"] for line in lines(run_dir, "alert")}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None])
def test_13_before_the_weights_move_the_ratio_is_one(
    workshop: Workshop, tiny_model: Path, lora: dict[str, int] | None, precision: str
) -> None:
    """Four updates that change nothing: old log-probs from a pass of their own, ratios still 1."""
    change = {"minibatch_size": 16, "epochs_per_rollout": 2, "optim": {"lr": 1e-30}}
    config = policy_gradient_config(tiny_model, steps=1, lora=lora, precision=precision) | change
    run_dir = workshop.lay_out("run", config)
    assert workshop.run_here(run_dir)["code"] == 0

    values = lines(run_dir, "metric")[1]["values"]
    assert values["optimizer_steps"] == 4
    assert values["ratio/max"] == pytest.approx(1.0, abs=1e-4)
    assert values["ratio/mean"] == pytest.approx(1.0, abs=1e-4)
    assert values["clip_fraction/low"] == values["clip_fraction/high"] == 0.0
    assert values["approx_kl"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None], ids=["lora", "full"])
def test_15_a_resume_loses_nothing_and_the_reference_is_still_the_start(
    workshop: Workshop, tiny_model: Path, lora: dict[str, int] | None
) -> None:
    """1 + 1 steps are 2 to the bit, with a checkpoint between them that was torn.

    Weights, moments, the weight of the KL, the normalizer, the prompts taken; of the tokens their
    KL, too, which a reference loaded from the trained weights would make 0. Every method and the
    kill while it saves stand in `test_resume` and `test_kill`.
    """
    config = policy_gradient_config(tiny_model, steps=2, eval_every=0, lora=lora)
    # The shorter run evaluates once more, at its own end.
    config |= {"checkpoint_every": 1, "log": EVERY_SAMPLE | {"probes": 0}}
    whole = workshop.lay_out("whole", config)
    halves = workshop.lay_out("halves", config | {"steps": 1})
    assert workshop.run_here(whole)["code"] == workshop.run_here(halves)["code"] == 0
    (halves / "config.json").write_bytes((whole / "config.json").read_bytes())
    torn = halves / "checkpoints" / "step-2"
    torn.mkdir()
    (torn / "weights.safetensors").write_bytes(b"torn")

    assert workshop.run_here(halves)["code"] == 0

    assert [line["step"] for line in lines(halves, "start")] == [0, 1]
    (found, _), (expected, _) = (load_newest(run / "checkpoints") for run in (halves, whole))
    assert found is not None
    assert expected is not None
    assert found.state == expected.state
    assert set(found.state["parts"]) >= {"kl", "reward", "prompts"}
    assert found.tensors.keys() == expected.tensors.keys() >= {"weights", "optimizer"}
    for group, tensors in expected.tensors.items():
        for name, tensor in tensors.items():
            assert torch.equal(found.tensors[group][name], tensor), name
    assert sampled(halves) == sampled(whole)
    assert series(halves, "kl/response")[2] == series(whole, "kl/response")[2] != 0
