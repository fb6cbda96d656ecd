"""What importance weights of our own sampler in bf16 cost and how far off-policy it is without.

Two runs of the same seed, one with `importance`, one without, take their steps in turn in one
process; processor time is compared, so that a busy machine slows neither. The learning rate is next
to nothing, so that both sample the same tokens. The KL is in the loss: nothing but the weights
could ask for the trainer's log-probabilities before the update. The model is the demo's,
SmolLM2-135M-Instruct: PODIUM_BENCH_MODEL names its folder, else it is downloaded.
"""

import os
import time
from pathlib import Path
from statistics import median

import pytest
from torch import Tensor

from examples.demo_model import fetch
from tests.benchmarks.samples_cost import opened
from tests.trainer.conftest import policy_gradient_config
from worker.trainer import losses
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.methods.policy_gradient.rollout import Rollout

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(0)]

STEPS = int(os.environ.get("PODIUM_BENCH_TIMES", "8"))
MOST_PART = 0.03
ROLLOUT = {"prompts_per_step": 8, "samples_per_prompt": 4, "max_new_tokens": 24, "temperature": 1}


def test_weights_cost_less_than_three_percent_of_a_step(tmp_path: Path) -> None:
    named = os.environ.get("PODIUM_BENCH_MODEL")
    model = Path(named) if named else fetch(tmp_path / "demo")[0]
    config = policy_gradient_config(model, estimator="rloo", precision="bf16", lora=None)
    config |= {"optim": {"lr": 1e-12}, "kl": {"coef": 0.01, "place": "loss", "estimator": "k2"}}
    config["rollout"] |= ROLLOUT
    weighted = opened(tmp_path / "weighted", config)
    plain = opened(tmp_path / "plain", config | {"importance": None})
    rollouts = _kept(weighted)
    seconds: dict[PolicyGradient, list[float]] = {weighted: [], plain: []}
    told = []
    for step in range(1, STEPS + 1):
        for training in (weighted, plain) if step % 2 else (plain, weighted):
            began = time.process_time()
            values = training.take_step(step)
            seconds[training].append(time.process_time() - began)
            told += [values] if training is weighted else []
    for training in (weighted, plain):
        training.run.events.close()
    ratios = [one / two for one, two in zip(seconds[weighted], seconds[plain], strict=True)]
    least = min(seconds[weighted]) / min(seconds[plain])
    print(f"a step costs {median(ratios):.4f} times one without weights, the quickest {least:.4f}")
    print(f"k3 of sampler and trainer: {_k3(rollouts):.5f} a token")
    for name in ("logp_drift", "importance/mean", "importance/cut_fraction"):
        print(f"{name}: {median(values[name] for values in told):.5f}")
    assert min(median(ratios), least) < 1 + MOST_PART


def _kept(training: PolicyGradient) -> list[Rollout]:
    """The rollouts of a run, as they come."""
    kept: list[Rollout] = []
    collect = training.collector.collect

    def collected(step: int) -> Rollout:
        kept.append(collect(step))
        return kept[-1]

    training.collector.collect = collected  # type: ignore[method-assign]
    return kept


def _k3(rollouts: list[Rollout]) -> float:
    """Mean over tokens of the estimate of KL(sampler || trainer), nats."""

    def of(rollout: Rollout) -> Tensor:
        found = losses.kl(rollout.sampler_logp_B_T, rollout.logp_B_T, "k3")
        return found[rollout.mask_B_T]

    values = [float(value) for rollout in rollouts for value in of(rollout)]
    return sum(values) / len(values)
