"""Advantages: laws, and what is refused."""

import math
from typing import Any

import pytest
import torch

from worker.trainer.advantages import estimate

GROUPED = ["reinforce_pp_baseline", "rloo", "grpo", "dr_grpo"]


def one_token_each(reward: list[float], group: list[int] | None = None) -> dict[str, Any]:
    """Responses of one token without KL."""
    n = len(reward)
    return {
        "reward_B": torch.tensor(reward),
        "kl_B_T": torch.zeros(n, 1),
        "mask_B_T": torch.ones(n, 1, dtype=torch.bool),
        "group_B": torch.tensor(group or [0] * n),
        "kl_coef": 0.0,
    }


def ragged(seed: int, lengths: list[int], *, group_size: int = 2) -> dict[str, Any]:
    """Random rewards and KL for rows of these lengths, with holes in some rows."""
    generator = torch.Generator().manual_seed(seed)
    n, width = len(lengths), max([*lengths, 1]) + 2
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    holes = torch.rand((n, width), generator=generator) < 0.2
    return {
        "reward_B": torch.randn(n, generator=generator),
        "kl_B_T": torch.randn((n, width), generator=generator),
        "mask_B_T": mask & ~holes,
        "group_B": torch.arange(n) // group_size,
        "kl_coef": 0.3,
    }


@pytest.mark.parametrize("estimator", ["reinforce_pp", *GROUPED])
def test_masked_places_and_rows_without_a_token_change_nothing(estimator: str) -> None:
    batch = ragged(4, [5, 3, 6, 2])
    dirty = {**batch, "kl_B_T": batch["kl_B_T"].masked_fill(~batch["mask_B_T"], math.nan)}
    dirty = {
        "reward_B": torch.cat([dirty["reward_B"], torch.tensor([math.nan, 9.0])]),
        "kl_B_T": torch.cat([dirty["kl_B_T"], dirty["kl_B_T"][:2]]),
        "mask_B_T": torch.cat([dirty["mask_B_T"], torch.tensor([[True], [False]]).expand(2, 8)]),
        "group_B": torch.cat([dirty["group_B"], torch.tensor([0, 1])]),
        "kl_coef": 0.3,
    }

    clean_result, dirty_result = estimate(estimator, **batch), estimate(estimator, **dirty)

    assert torch.equal(dirty_result.advantage_B_T[:4], clean_result.advantage_B_T)
    assert not dirty_result.advantage_B_T[4:].any()


@pytest.mark.parametrize("estimator", GROUPED)
def test_a_constant_added_to_all_rewards_changes_no_grouped_advantage(estimator: str) -> None:
    batch = ragged(8, [4, 4, 3, 5])
    moved = {**batch, "reward_B": batch["reward_B"] + 3}
    before, after = estimate(estimator, **batch), estimate(estimator, **moved)
    assert torch.allclose(before.advantage_B_T, after.advantage_B_T, atol=1e-5)


@pytest.mark.parametrize("estimator", GROUPED)
def test_grouped_estimators_refuse_one_response_per_prompt(estimator: str) -> None:
    with pytest.raises(ValueError, match="each prompt has one"):
        estimate(estimator, **one_token_each([1.0, 2.0], [0, 1]))


@pytest.mark.parametrize(
    ("estimator", "more", "word"),
    [
        ("grpo", {"gamma": 0.9}, "gamma"),
        ("reinforce_pp", {"lam": 0.9}, "lam"),
        ("ppo", {}, "value_B_T"),
        ("remax", {}, "greedy_reward_B"),
    ],
)
def test_what_an_estimator_cannot_use_or_lacks_is_refused(
    estimator: str, more: dict[str, float], word: str
) -> None:
    with pytest.raises(ValueError, match=word):
        estimate(estimator, **one_token_each([1.0, 2.0]), **more)


def test_remax_subtracts_the_greedy_reward() -> None:
    result = estimate(
        "remax", **one_token_each([1.0, 3.0]), greedy_reward_B=torch.tensor([0.5, 4.0])
    )
    assert result.advantage_B_T[:, 0].tolist() == [0.5, -1.0]


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [("dr_grpo", [10.0, -10.0, -10.0, -10.0]), ("rloo", [10.0, -10.0, -10.0, -10.0])],
)
def test_the_clip_of_openrlhf_comes_after_the_baseline(
    estimator: str, expected: list[float]
) -> None:
    """Of 50, 0, 0, 0 the mean is 12.5, that of the others 0 or 16.67; clipped before: 7.5, -2.5."""
    reward_B = torch.tensor([50.0, 0.0, 0.0, 0.0])
    arguments = {
        "kl_B_T": torch.zeros(4, 1),
        "mask_B_T": torch.ones(4, 1, dtype=torch.bool),
        "group_B": torch.zeros(4, dtype=torch.long),
        "kl_coef": 0.0,
    }
    found = estimate(estimator, reward_B=reward_B, shaped_clip=10.0, **arguments)
    assert found.return_B_T[:, 0].tolist() == pytest.approx(expected)
    before = estimate("dr_grpo", reward_B=reward_B.clamp(max=10), **arguments)
    assert before.return_B_T[:, 0].tolist() == pytest.approx([7.5, -2.5, -2.5, -2.5])
