"""Advantages and importance weights, wired from config, rollout and KL controller: the reference's.

`advantages` and `importance` have tests of their own; here it is seen that they are given the right
things.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from backend.schemas.policy_gradient import Gae, Importance, Kl, PolicyGradientConfig
from backend.schemas.rewards import Reward
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import Estimator
from tests.tiny_model import make_tiny_model
from tests.trainer import reference
from tests.trainer.conftest import policy_gradient_config, write_inputs
from worker.trainer.methods.policy_gradient.kl_control import KlControl
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.methods.policy_gradient.rollout import Rollout
from worker.trainer.rewards.scorer import Scores
from worker.trainer.run import StopWish, open_run

KL_COEF = 0.3  # of the controller; the config's own is another
CLIP = 0.6
# Rows of three prompts. Row 1 has no score, row 4 a hole.
GROUP_B = torch.tensor([0, 0, 0, 1, 1, 2, 2])
MASK_B_T = torch.tensor(
    [
        [1, 1, 1, 1],
        [0, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 0, 0],
        [1, 0, 1, 1],
        [1, 1, 1, 0],
        [1, 1, 0, 0],
    ]
).bool()
REWARD = [2.0, math.nan, -1.0, 0.5, 0.3, 0.0, 1.5]
GREEDY = [0.4, 0.4, 0.4, 0.1, 0.1, 0.9, 0.9]
MEANINGLESS = 1000.0


@dataclass(frozen=True)
class Case:
    """Part of a config, and what the reference is told for it; `offset` is added to all rewards."""

    estimator: str
    kl: str = "k1"
    place: str = "reward"
    gae: Gae | None = None
    clip_after_baseline: bool = False
    gamma: float = 1.0
    lam: float = 1.0
    offset: float = 0.0


CASES = {
    **{name: Case(name) for name in map(str, Estimator) if name != "ppo"},
    "discounted": Case("reinforce_pp", gae=Gae(gamma=0.9, lam=0.5), gamma=0.9),
    "ppo": Case("ppo", lam=0.95),
    "ppo discounted": Case("ppo", gae=Gae(gamma=0.9, lam=0.5), gamma=0.9, lam=0.5),
    "k2": Case("rloo", kl="k2"),
    "k3": Case("rloo", kl="k3"),
    "in the loss": Case("rloo", kl="k3", place="loss"),
    "large rewards": Case("rloo", offset=1e5),
    "clipped after the baseline": Case("dr_grpo", clip_after_baseline=True),
}


def normal(name: str) -> Tensor:
    """Normal numbers where tokens count, B x T, elsewhere one that would show."""
    generator = torch.Generator().manual_seed(sum(name.encode()))
    value_B_T = torch.randn(MASK_B_T.shape, generator=generator, dtype=torch.float64)
    return value_B_T.masked_fill(~MASK_B_T, MEANINGLESS)


LOGP, REF, SAMPLER, VALUE = (normal(name) for name in ("logp", "ref", "sampler", "value"))


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyGradient]:
    """A policy, trained by nobody."""
    folder = tmp_path_factory.mktemp("policy_advantages")
    write_inputs(folder / "inputs", n_prompts=4)
    config = policy_gradient_config(make_tiny_model(folder / "model"), precision="fp32")
    config["resources"] = {"threads": 1}
    complete = parse_run_config(json.loads(json.dumps(config)))
    assert isinstance(complete, PolicyGradientConfig)
    deterministic = torch.are_deterministic_algorithms_enabled()
    run = open_run(folder, complete, StopWish())
    yield PolicyGradient(run, complete)
    run.events.close()
    torch.use_deterministic_algorithms(deterministic)


def set_up(training: PolicyGradient, **changes: Any) -> None:
    """Give it a config with these changes."""
    training.config = training.config.model_copy(update=changes)


def rewards_of(case: Case) -> list[float]:
    """The reward of each response; those far from 0 differ in their last places."""
    return [reward + case.offset for reward in REWARD]


def rollout_of(case: Case) -> Rollout:
    """A rollout of which all is known that an advantage is made of."""
    return Rollout(
        prompts=[],
        responses=[],
        answers=[],
        scores=Scores({}, [MEANINGLESS] * len(REWARD), [], rewards_of(case)),
        group_B=GROUP_B,
        mask_B_T=MASK_B_T,
        sampler_logp_B_T=SAMPLER,
        seconds={},
        n_sampled=0,
        greedy_reward_B=torch.tensor(GREEDY).double() if case.estimator == "remax" else None,
        value_B_T=VALUE if case.estimator == "ppo" else None,
        logp_B_T=LOGP,
        ref_logp_B_T=REF,
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_advantages_of_a_rollout_are_those_of_the_reference(
    training: PolicyGradient, case: Case
) -> None:
    reward = Reward.model_validate(
        {
            "terms": [{"kind": "finished"}],
            "clip": CLIP,
            "clip_after_baseline": case.clip_after_baseline,
        }
    )
    kl = Kl.model_validate({"coef": 0.05, "place": case.place, "estimator": case.kl})
    set_up(training, estimator=Estimator(case.estimator), kl=kl, gae=case.gae, reward=reward)
    training.kl_control = KlControl(Kl(coef=KL_COEF), n_samples=len(REWARD))

    found = training._advantages(rollout_of(case))

    advantage, returns = reference.estimate(
        case.estimator,
        reward=rewards_of(case),
        kl_rows=[
            [reference.kl(logp, ref, case.kl) for logp, ref in zip(*rows, strict=True)]
            for rows in zip(LOGP.tolist(), REF.tolist(), strict=True)
        ],
        mask=MASK_B_T.tolist(),
        group=GROUP_B.tolist(),
        kl_coef=KL_COEF if case.place == "reward" else 0.0,
        gamma=case.gamma,
        lam=case.lam,
        value=VALUE.tolist() if case.estimator == "ppo" else None,
        greedy_reward=GREEDY,
        shaped_clip=CLIP if case.clip_after_baseline else math.inf,
    )
    for rows, expected in ((found.advantage_B_T, advantage), (found.return_B_T, returns)):
        torch.testing.assert_close(rows, torch.tensor(expected), rtol=1e-5, atol=1e-6)


def test_tokens_of_another_sampler_weigh_what_this_policy_would_have_made_of_them(
    training: PolicyGradient,
) -> None:
    importance = Importance(level="token", action="truncate", cap=1.5)
    set_up(training, importance=importance, rollout=sampled_by(training, "vllm"))

    found = training._importance(rollout_of(Case("rloo")))

    expected = [
        [min(math.exp(ours - theirs), 1.5) if counts else 0.0 for ours, theirs, counts in row]
        for row in (
            zip(*rows, strict=True)
            for rows in zip(LOGP.tolist(), SAMPLER.tolist(), MASK_B_T.tolist(), strict=True)
        )
    ]
    assert found is not None
    torch.testing.assert_close(found.weight_B_T.double(), torch.tensor(expected).double())
    n_cut = sum(weight == 1.5 for row in expected for weight in row)
    assert 0 < n_cut < int(MASK_B_T.sum())
    assert found.cut_fraction == pytest.approx(n_cut / int(MASK_B_T.sum()))


@pytest.mark.parametrize(("importance", "engine"), [(Importance(), "transformers"), (None, "vllm")])
def test_nothing_is_weighed_that_this_program_has_sampled_or_that_is_not_to_be(
    training: PolicyGradient, importance: Importance | None, engine: str
) -> None:
    set_up(training, importance=importance, rollout=sampled_by(training, engine))
    assert training._importance(rollout_of(Case("rloo"))) is None


def sampled_by(training: PolicyGradient, engine: str) -> Any:
    """The rollout's config with another engine."""
    return training.config.rollout.model_copy(update={"engine": engine})
