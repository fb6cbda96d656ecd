"""How often a step runs the policy over its responses, and that it tells the same either way."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import torch

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.training import parse_run_config
from tests.trainer.conftest import Workshop, lines, policy_gradient_config
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.run import StopWish, open_run

K3_IN_THE_LOSS = {"kl": {"coef": 0.05, "place": "loss", "estimator": "k3"}}
NO_KL = {"kl": {"coef": 0.0}}
IN_THE_REWARD = {"kl": {"coef": 0.05}}
TWO_UPDATES = K3_IN_THE_LOSS | {"epochs_per_rollout": 2}


@pytest.fixture(autouse=True)
def _deterministic() -> Any:
    before = torch.are_deterministic_algorithms_enabled()
    yield
    torch.use_deterministic_algorithms(before)


class Passes:
    """Counts the policy's forwards over micro-batches: with a gradient, and without one."""

    def __init__(self, training: PolicyGradient) -> None:
        self.with_gradient = self.without = 0
        layer = training.policy.causal.get_decoder().layers[0]
        layer.mlp.register_forward_hook(self._count)

    def _count(self, *_: object) -> None:
        if torch.is_grad_enabled():
            self.with_gradient += 1
        elif not torch.is_inference_mode_enabled():  # as sampling does
            self.without += 1


def step(
    workshop: Workshop, name: str, config: dict[str, Any]
) -> tuple[dict[str, float], list[Mapping[str, float]], Passes]:
    """What one step says, its samples' scores, and its passes."""
    run_dir = workshop.lay_out(name, config)
    complete = parse_run_config(json.loads((run_dir / "config.json").read_text()))
    assert isinstance(complete, PolicyGradientConfig)
    run = open_run(run_dir, complete, StopWish())
    training = PolicyGradient(run, complete)
    passes = Passes(training)
    values = training.take_step(1)
    run.events.close()
    return values, [line["scores"] for line in lines(run_dir, "sample")], passes


@pytest.mark.parametrize(
    ("more", "runs_before"),
    [
        (K3_IN_THE_LOSS, False),
        (NO_KL, False),
        (IN_THE_REWARD, True),
        (TWO_UPDATES, True),
    ],
    ids=["k3 in the loss", "no kl", "kl in the reward", "two updates"],
)
def test_the_policy_runs_before_the_update_only_where_something_needs_it(
    workshop: Workshop, tiny_model: Any, more: dict[str, Any], runs_before: bool
) -> None:
    """With one micro-batch it is the very forward of the update that tells; with several, too."""
    config = policy_gradient_config(tiny_model, estimator="grpo", lora=None) | more
    config |= {"steps": 1, "log": {"samples_per_step": 4, "tokens": "none"}}
    whole, whole_samples, _ = step(workshop, "whole", config | budget_of(4096))
    parts, parts_samples, passes = step(workshop, "parts", config | budget_of(256))

    n_groups = passes.with_gradient // config.get("epochs_per_rollout", 1)
    assert n_groups > 1
    assert passes.without == (n_groups if runs_before else 0)
    measured = {"loss", "grad_norm", "kl/response", "kl/k3", "entropy", "logp_drift"}
    for name in measured & whole.keys():
        assert parts[name] == pytest.approx(whole[name], rel=1e-3, abs=1e-4), name
    assert parts["entropy"] > 0
    assert ("kl/response" in parts) == ("kl/k3" in parts) == (more is not NO_KL)
    for ours, theirs in zip(parts_samples, whole_samples, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)


def test_a_step_that_trains_nothing_still_tells_of_its_samples(
    workshop: Workshop, tiny_model: Any
) -> None:
    """Every response is cut and left out; before any training they have a KL of 0."""
    config = policy_gradient_config(tiny_model, estimator="grpo", lora=None, overlong="mask")
    config |= K3_IN_THE_LOSS | {"steps": 1} | budget_of(64)
    config["rollout"] |= {"max_new_tokens": 1}

    _, samples, passes = step(workshop, "run", config)

    assert passes.with_gradient == 0
    assert [sample["kl"] for sample in samples] == pytest.approx([0.0] * len(samples), abs=1e-6)


def budget_of(micro_batch_tokens: int) -> dict[str, Any]:
    """A part of a config: tokens of a micro-batch."""
    return {"optim": {"lr": 1e-2, "micro_batch_tokens": micro_batch_tokens}}


@pytest.mark.parametrize(
    ("more", "is_weighed"),
    [
        ({"precision": "bf16"}, True),
        ({"precision": "bf16", "importance": None}, False),
        ({"precision": "fp32"}, False),
    ],
    ids=["bf16", "bf16, off", "fp32"],
)
def test_what_bf16_has_sampled_is_weighed_without_another_pass(
    workshop: Workshop, tiny_model: Any, more: dict[str, Any], is_weighed: bool
) -> None:
    """In bf16 the trainer's own sampler rounds otherwise than its update does."""
    config = policy_gradient_config(tiny_model, estimator="grpo", lora=None) | more
    config |= K3_IN_THE_LOSS | {"steps": 1, "log": {"tokens": "none"}} | budget_of(256)

    values, _, passes = step(workshop, "run", config)

    assert passes.without == 0
    assert ("importance/mean" in values) is is_weighed
    if is_weighed:
        assert values["importance/mean"] == pytest.approx(1, abs=0.02)
        assert values["importance/mean"] != 1
        assert values["importance/cut_fraction"] == 0
