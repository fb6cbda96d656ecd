"""The critic of ppo: where it starts, what it learns, what it leaves alone."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.trainer.conftest import (
    SYSTEM,
    Workshop,
    lines,
    policy_gradient_config,
    reward_model_config,
    series,
)
from worker.trainer.methods.policy_gradient.critic import explained_variance


def run(workshop: Workshop, name: str, config: dict[str, Any]) -> Path:
    """Run a config to its end, which must be good."""
    run_dir = workshop.lay_out(name, config)
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    return run_dir


def checkpoint(run_dir: Path, step: int, name: str) -> dict[str, torch.Tensor]:
    """A file of tensors from a checkpoint."""
    return load_file(run_dir / "checkpoints" / f"step-{step}" / f"{name}.safetensors")


def test_explained_variance_by_hand() -> None:
    """Returns 1, 3, 5 have variance 8/3; errors 0, 0, 1 have 2/9: 1 - 1/12."""
    return_B_T = torch.tensor([[1.0, 3.0], [5.0, 100.0]])
    value_B_T = torch.tensor([[1.0, 3.0], [4.0, float("nan")]])
    mask_B_T = torch.tensor([[True, True], [True, False]])
    assert explained_variance(value_B_T, return_B_T, mask_B_T) == pytest.approx(11 / 12)
    assert explained_variance(value_B_T + 7, return_B_T, mask_B_T) == pytest.approx(11 / 12)
    small = explained_variance(0.1 * value_B_T, 0.1 * return_B_T, mask_B_T)
    assert small == pytest.approx(11 / 12)
    assert explained_variance(torch.zeros(2, 2), return_B_T, mask_B_T) == 0
    assert explained_variance(value_B_T, torch.ones(2, 2), mask_B_T) == 0


def test_the_variance_is_explained_in_float64() -> None:
    """Returns 1e8 and 0, values 1 and 0: 1 - (1 - 1e-8)^2; in float32 the 1 is lost."""
    return_B_T, value_B_T = torch.tensor([[1e8, 0.0]]), torch.tensor([[1.0, 0.0]])
    found = explained_variance(value_B_T, return_B_T, torch.ones(1, 2, dtype=torch.bool))
    assert found == pytest.approx(2e-8, rel=1e-3)


def test_the_critic_comes_to_foresee_the_return(workshop: Workshop, tiny_model: Path) -> None:
    """The policy stands still; whether a letter of a-m has come is seen before the end."""
    config = policy_gradient_config(
        tiny_model,
        estimator="ppo",
        critic={"lr": 3e-3},
        lora=None,
        optim={"lr": 1e-9},
        steps=16,
        eval_every=0,
        epochs_per_rollout=4,
        reward={"terms": [{"kind": "regex", "pattern": "[a-m]"}]},
    )
    config["rollout"] = {
        "prompts_per_step": 12,
        "samples_per_prompt": 8,
        "max_new_tokens": 8,
        "system": SYSTEM,
    }
    run_dir = run(workshop, "ppo", config)

    explained = series(run_dir, "value/explained_variance")
    assert explained[1] == 0  # the head starts at 0
    assert explained[16] > 0.2
    assert series(run_dir, "value/loss")[16] < 0.7 * series(run_dir, "value/loss")[1]
    assert series(run_dir, "value/clip_fraction")[16] > 0


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None])
def test_the_first_step_of_ppo_with_lambda_one_is_that_of_reinforce_pp(
    workshop: Workshop, tiny_model: Path, lora: dict[str, int] | None
) -> None:
    """REINFORCE++ (arXiv 2501.03262), eq. 15; a trunk of its own leaves the policy alone."""
    config = policy_gradient_config(tiny_model, steps=1, checkpoint_every=1, lora=lora)
    config["log"] = {"samples_per_step": 100, "tokens": "all"}
    plain = run(workshop, "plain", config)
    own = run(workshop, "own", config | {"estimator": "ppo", "gae": {"lam": 1.0}})
    shared = run(
        workshop,
        "shared",
        config | {"estimator": "ppo", "gae": {"lam": 1.0}, "critic": {"trunk": "shared"}},
    )

    expected = [line["advantage"] for line in lines(plain, "sample")]
    assert [line["advantage"] for line in lines(own, "sample")] == expected
    assert [line["advantage"] for line in lines(shared, "sample")] == expected
    before, after = checkpoint(plain, 1, "weights"), checkpoint(own, 1, "weights")
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert "weight/head.weight" in checkpoint(shared, 1, "critic")
    assert not any("trunk" in name for name in checkpoint(shared, 1, "critic"))


def test_a_shared_trunk_moves_with_the_value_loss(workshop: Workshop, tiny_model: Path) -> None:
    """From the second step on: at first the head is 0 and passes no gradient down."""
    config = policy_gradient_config(tiny_model, steps=2, checkpoint_every=1, estimator="ppo")
    light = run(workshop, "light", config | {"critic": {"trunk": "shared", "loss_coef": 1e-3}})
    heavy = run(workshop, "heavy", config | {"critic": {"trunk": "shared", "loss_coef": 10}})

    first, second = (
        [checkpoint(run_dir, step, "weights") for run_dir in (light, heavy)] for step in (1, 2)
    )
    assert all(torch.equal(first[0][name], first[1][name]) for name in first[0])
    assert not all(torch.equal(second[0][name], second[1][name]) for name in second[0])


def test_the_critic_can_start_from_the_reward_model(workshop: Workshop, tiny_model: Path) -> None:
    rewards = run(workshop, "rm", reward_model_config(tiny_model, lora=None)) / "output"
    terms = [{"kind": "model", "model": {"path": str(rewards)}}]
    config = policy_gradient_config(
        tiny_model,
        estimator="ppo",
        critic={"trunk": "reward_model", "lr": 1e-12},
        lora=None,
        steps=1,
        checkpoint_every=1,
        reward={"terms": terms},
    )
    trunk = checkpoint(run(workshop, "ppo", config), 1, "critic")

    start = load_file(rewards / "model.safetensors")
    found = {n.removeprefix("weight/trunk."): t for n, t in trunk.items() if "trunk" in n}
    found = {name: tensor for name, tensor in found.items() if "exp_avg" not in name}
    assert len(found) > 10
    for name, tensor in found.items():
        assert torch.allclose(tensor, start[name], atol=1e-6), name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"estimator": "grpo", "critic": {}}, "critic has an effect only with estimator ppo"),
        (
            {"estimator": "ppo", "critic": {"trunk": "reward_model"}},
            "no reward term is a reward model",
        ),
    ],
)
def test_a_critic_that_does_not_fit_is_refused(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any], words: str
) -> None:
    run_dir = workshop.lay_out("run", policy_gradient_config(tiny_model) | change)
    report = workshop.run_here(run_dir)
    assert report["code"] == 2
    assert words in report["message"]


@pytest.mark.parametrize(
    ("before", "after"),
    [({"trunk": "shared"}, {"trunk": "model"}), ({"trunk": "model"}, {"trunk": "shared"})],
)
def test_a_critic_does_not_go_on_with_another_trunk(
    workshop: Workshop, tiny_model: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    config = policy_gradient_config(tiny_model, estimator="ppo", eval_every=0, checkpoint_every=1)
    run_dir = run(workshop, "ppo", config | {"critic": before, "steps": 1})
    other = workshop.lay_out("other", config | {"critic": after, "steps": 2})
    (run_dir / "config.json").write_bytes((other / "config.json").read_bytes())

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "config")
    assert f"critic.trunk is {after['trunk']}" in report["message"]
    assert "as it was in the run of the checkpoint" in report["advice"]
