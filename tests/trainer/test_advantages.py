"""Advantages: laws, and what is refused."""

import math
from typing import Any

import pytest
import torch

from backend.schemas.vocabulary import (
    CRITIC_ESTIMATORS,
    GREEDY_ESTIMATORS,
    GROUPED_ESTIMATORS,
    Estimator,
)
from worker.trainer.advantages import (
    are_equal,
    estimate,
    masked_whiten,
    place_rewards,
    returns_to_go,
    shape_rewards,
)

GROUPED = sorted(GROUPED_ESTIMATORS)
EVERY = [str(estimator) for estimator in Estimator]
# They need neither values nor greedy rewards.
PLAIN = [one for one in EVERY if one not in CRITIC_ESTIMATORS | GREEDY_ESTIMATORS]


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


@pytest.mark.parametrize("estimator", PLAIN)
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
    for rewards, groups in (([1.0, 2.0], [0, 1]), ([1.0], [0])):
        with pytest.raises(ValueError, match="each prompt has only one"):
            estimate(estimator, **one_token_each(rewards, groups))


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


def test_remax_leaves_out_a_response_without_a_reward_whose_greedy_one_has_one() -> None:
    batch = one_token_each([math.nan, 3.0])
    result = estimate("remax", **batch, greedy_reward_B=torch.tensor([0.5, 4.0]))
    assert result.advantage_B_T.tolist() == [[0.0], [-1.0]]


def test_remax_leaves_out_a_response_whose_greedy_one_has_no_reward() -> None:
    batch, greedy = one_token_each([1.0, 3.0]), torch.tensor([math.nan, 4.0])
    result = estimate("remax", **batch, greedy_reward_B=greedy)
    assert result.advantage_B_T[:, 0].tolist() == [0, -1.0]
    assert estimate("rloo", **batch, greedy_reward_B=greedy).return_B_T.tolist() == [[-2.0], [2.0]]


def test_ppo_alone_reads_the_values() -> None:
    batch = one_token_each([1.0, 3.0])
    found = estimate("dr_grpo", **batch, value_B_T=torch.tensor([[5.0], [7.0]]))
    assert found.advantage_B_T.tolist() == found.return_B_T.tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (Estimator.REINFORCE_PP, [1.0, 4.0, 0.0, 0.0]),
        (Estimator.REMAX, [0.5, 3.0, 0.0, 0.0]),
        (Estimator.DR_GRPO, [-1.5, 1.5, 0.0, 0.0]),
    ],
)
def test_rewards_that_do_not_count_are_shaped_to_zero(
    estimator: Estimator, expected: list[float]
) -> None:
    """1 and 4 count, their greedy responses have .5 and 1."""
    found = shape_rewards(
        estimator,
        torch.tensor([1.0, 4.0, 9.0, math.nan]),
        torch.tensor([True, True, False, False]),
        torch.zeros(4),
        torch.tensor([0.5, 1.0, 1.0, 1.0]),
    )
    assert found.tolist() == expected


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


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], True),
        ([7.0], True),
        ([0.0, 1e-6], True),
        ([0.0, 1.1e-6], False),
        ([-0.6e-6, 0.6e-6], False),
        ([1e6, 1e6 + 0.9], True),
        ([1e6, 1e6 + 1.1], False),
        ([-1e6, -1e6 - 0.9], True),
        ([0.5, 0.5 + 0.9e-6, 0.5 + 0.3e-6], True),
    ],
)
def test_values_are_equal_within_a_millionth_of_one_or_of_their_mean(
    values: list[float], expected: bool
) -> None:
    assert are_equal(torch.tensor(values, dtype=torch.float64)) is expected


def test_grpo_divides_by_a_little_more_than_the_deviation() -> None:
    """Rewards 0 and 2e-6: 1e-6 / (sqrt(2) * 1e-6 + 1e-9)."""
    found = estimate("grpo", **one_token_each([0.0, 2e-6])).advantage_B_T[:, 0].tolist()
    assert found == pytest.approx([-0.706607, 0.706607], abs=1e-5)


def test_whitening_does_not_blow_up_a_small_spread() -> None:
    """Values of +-1e-5 have variance 1e-10, below the floor of 1e-8: +-0.1."""
    value_B_T = torch.tensor([[1e-5, 7.0], [-1e-5, math.nan]], dtype=torch.float64)
    mask_B_T = torch.tensor([[True, False], [True, False]])
    found = masked_whiten(value_B_T, mask_B_T).tolist()
    assert found == [pytest.approx([0.1, 0.0]), pytest.approx([-0.1, 0.0])]


def test_the_reward_stands_at_the_last_action_and_the_kl_at_all() -> None:
    """KL 1, 2, 4, 8 by 0.5; the second row has no action and so no reward."""
    found = place_rewards(
        torch.tensor([3.0, 5.0]),
        torch.tensor([[1.0, 2.0, 4.0, 8.0]]).repeat(2, 1),
        torch.tensor([[True, False, True, False], [False] * 4]),
        kl_coef=0.5,
    )
    assert found.tolist() == [[-0.5, 0.0, 1.0, 0.0], [0.0] * 4]


def test_the_return_is_discounted_per_action() -> None:
    """Rewards 1, 9 at a masked place, 4, discount a half: 1 + 4 / 2."""
    reward_B_T, mask_B_T = torch.tensor([[1.0, 9.0, 4.0]]), torch.tensor([[True, False, True]])
    assert returns_to_go(reward_B_T, mask_B_T, gamma=0.5).tolist() == [[3.0, 0.0, 4.0]]


def test_sums_are_in_float64() -> None:
    """In float32 100,000,000 + 1 is 100,000,000, and the mean of the three rewards is whole."""
    one = one_token_each([0.0]) | {"mask_B_T": torch.ones(1, 3)}
    kl = {"kl_B_T": torch.tensor([[1e8, 1.0, -1e8]]), "kl_coef": 1.0}
    assert estimate("reinforce_pp", **one | kl).return_B_T[0, 0].item() == -1

    # 0.1 of each rounds in float32, and their difference would be a quarter.
    kl = {"kl_B_T": torch.tensor([[16777216.0, -16777214.0, 0.0]]), "kl_coef": 0.1}
    found = estimate("reinforce_pp", **one | kl).return_B_T[0, 0].item()
    assert found == pytest.approx(-0.2)

    rewards = one_token_each([16777216.0, 16777218.0, 16777300.0])
    found = estimate("dr_grpo", **rewards).return_B_T[:, 0].tolist()
    assert found == pytest.approx([-86 / 3, -80 / 3, 166 / 3])

    values = {"kl_B_T": torch.zeros(1, 3), "value_B_T": torch.tensor([[1.0, 1e8, 0.0]])}
    assert estimate("ppo", **one | values).return_B_T[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("estimator", EVERY)
def test_no_gradient_passes_through_an_advantage(estimator: str) -> None:
    batch = ragged(5, [3, 4])
    for name in ("reward_B", "kl_B_T"):
        batch[name].requires_grad_()
    more = {}
    if estimator in GREEDY_ESTIMATORS:
        more["greedy_reward_B"] = torch.zeros(2, requires_grad=True)
    if estimator in CRITIC_ESTIMATORS:
        more["value_B_T"] = torch.zeros(2, 6, requires_grad=True)
    found = estimate(estimator, **batch, **more)
    assert not found.advantage_B_T.requires_grad
    assert not found.return_B_T.requires_grad
    assert found.advantage_B_T.any()


@pytest.mark.parametrize("estimator", PLAIN)
def test_of_no_response_there_is_no_advantage(estimator: str) -> None:
    nothing = one_token_each([]) | {"group_B": torch.zeros(0)}
    assert estimate(estimator, **nothing).advantage_B_T.shape == (0, 1)


def test_groups_are_told_by_any_numbers_in_any_order() -> None:
    """Prompts -4 and 9: rewards 1 and 3, 10 and 20; one alone gives no signal."""
    rewards = one_token_each([1.0, 10.0, 5.0, 3.0, 20.0], [-4, 9, 7, -4, 9])
    found = estimate("rloo", **rewards).return_B_T[:, 0].tolist()
    assert found == [-2.0, -10.0, 0.0, 2.0, 10.0]
