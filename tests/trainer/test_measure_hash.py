"""What makes two evaluations comparable, and what a clone under another reward does without."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.run_config import merged
from backend.schemas.policy_gradient import PolicyGradientConfig
from tests.trainer.conftest import Workshop, policy_gradient_config, series
from worker.trainer.methods.policy_gradient import measure_hash
from worker.trainer.sampling.prompts import Prompt

HELDOUT = [Prompt("p0", "say a", [1, 2], is_heldout=True)]
TERM = {"kind": "regex", "pattern": "[a-m]"}


def config_with(**changes: Any) -> PolicyGradientConfig:
    """The small run, changed key by key."""
    config = policy_gradient_config(Path("/models/start"))
    return PolicyGradientConfig.model_validate(merged(config, changes))


def measures(config: PolicyGradientConfig) -> tuple[str, str]:
    """Of the sums and of the evaluations."""
    return measure_hash.of_sums(config), measure_hash.of_evaluations(config, HELDOUT)


@pytest.mark.parametrize(
    "change",
    [
        {"kl": {"coef": 0.3, "target": None, "max": 5.0}},
        {"optim": {"lr": 1e-5}, "steps": 99, "estimator": "rloo"},
        {"rollout": {"prompts_per_step": 2, "max_prompt_tokens": 99}},
        {"reference": {"path": "/models/start"}},
        {"eval_every": 5, "resources": {"threads": 2}},
    ],
)
def test_what_is_of_training_alone_leaves_evaluations_comparable(change: dict[str, Any]) -> None:
    assert measures(config_with(**change)) == measures(config_with())


@pytest.mark.parametrize(
    "change",
    [
        {"reward": {"terms": [TERM | {"weight": 10.0}]}},
        {"reward": {"terms": [TERM | {"pattern": "[a-z]"}]}},
        {"reward": {"terms": [TERM, {"kind": "finished"}]}},
        {"overlong": "penalize"},
    ],
)
def test_another_sum_is_another_measure_of_both(change: dict[str, Any]) -> None:
    for mine, other in zip(measures(config_with(**change)), measures(config_with()), strict=True):
        assert mine != other


@pytest.mark.parametrize(
    "change",
    [
        {"reward": {"normalize": "none"}},
        {"reward": {"clip": 1.0}},
        {"reference": {"path": "/models/other"}},
        {"rollout": {"temperature": 0.5}},
        {"rollout": {"max_new_tokens": 9}},
        {"seed": 1},
    ],
)
def test_the_same_sum_may_be_evaluated_otherwise(change: dict[str, Any]) -> None:
    sums, evaluations = measures(config_with(**change))

    assert sums == measures(config_with())[0]
    assert evaluations != measures(config_with())[1]


def test_held_out_prompts_are_known_by_what_the_model_reads() -> None:
    config = config_with()
    edited = [Prompt("p0", "say a", [1, 3], is_heldout=True)]

    found = [measure_hash.of_evaluations(config, prompts) for prompts in (HELDOUT, edited, [])]
    # A response that ends at one more token is another.
    found += [measure_hash.of_evaluations(config, HELDOUT, ends) for ends in ([7], [7, 8])]

    assert len(set(found)) == 5


def test_a_model_is_known_by_its_content_wherever_it_lies() -> None:
    here = {"path": "/here", "sha256": "a" * 64}
    reward = {"terms": [{"kind": "model", "model": here}]}
    there = {"terms": [{"kind": "model", "model": here | {"path": "/there"}}]}
    other = {"terms": [{"kind": "model", "model": here | {"sha256": "b" * 64}}]}

    found = [measures(config_with(reward=one)) for one in (reward, there, other)]

    assert found[0] == found[1] != found[2]


def test_a_clone_under_another_reward_keeps_its_own_training(
    workshop: Workshop, tiny_model: Path
) -> None:
    """A tenth of the weight: no evaluation reaches what the parent had under its own.

    The running statistics begin anew too, and so hold the rollouts of two steps and not of four.
    """
    more = {"steps": 2, "checkpoint_every": 2, "reward": {"normalize": "running"}}
    given = policy_gradient_config(tiny_model)
    parent = merged(given, more | {"reward": {"terms": [TERM | {"weight": 10.0}]}})
    run_dir = workshop.lay_out("run", parent)
    assert workshop.run_here(run_dir)["code"] == 0
    old = series(run_dir, "eval/reward")

    clone = merged(parent, {"steps": 4, "reward": {"terms": [TERM]}})
    (run_dir / "config.json").write_bytes(
        (workshop.lay_out("clone", clone) / "config.json").read_bytes()
    )
    assert workshop.run_here(run_dir)["code"] == 0

    assert series(run_dir, "eval/reward")[2] == pytest.approx(old[2] / 10)
    assert series(run_dir, "eval/best_step")[2] == 2
    assert series(run_dir, "eval/best_step")[4] in (2, 4)
    state = json.loads((run_dir / "checkpoints" / "step-4" / "state.json").read_text())
    assert state["parts"]["reward"]["n"] == 2 * 32
    assert state["best"]["values"]["eval/reward"] <= 1
