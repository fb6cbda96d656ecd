"""Advantages made of rewards: every estimator of `policy_gradient` as a pure function.

Called once per rollout, by `policy_gradient` and by anybody who checks the mathematics; it knows no
config and no model. Computes in float64 and returns float32. Axes: B sequences, T tokens,
G samples of one prompt, N values of any list.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from backend.schemas.vocabulary import (
    DISCOUNTED_ESTIMATORS,
    GROUPED_ESTIMATORS,
    WHITENED_ESTIMATORS,
    Estimator,
)

# Values that differ by less (relative to 1 or their mean) are equal up to rounding: dividing such
# a difference by its own standard deviation would make signal out of nothing.
EQUAL_WITHIN = 1e-6
SMALLEST_VARIANCE = 1e-8


@dataclass(frozen=True)
class Advantages:
    """Advantages and returns, both zero where the mask is False; `return_B_T` is not whitened."""

    advantage_B_T: Tensor
    return_B_T: Tensor


def estimate(
    estimator: str,
    *,
    reward_B: Tensor,
    kl_B_T: Tensor,
    mask_B_T: Tensor,
    group_B: Tensor,
    kl_coef: float,
    gamma: float = 1.0,
    lam: float = 1.0,
    value_B_T: Tensor | None = None,
    greedy_reward_B: Tensor | None = None,
    shaped_clip: float | None = None,
) -> Advantages:
    """Turn one reward per response into one advantage per action token.

    The reward (normalized and clipped) is shaped by `shape_rewards`, placed at the last action
    token, -kl_coef * kl is added at every action token, and the return-to-go over action tokens is
    the advantage; for reinforce_pp, reinforce_pp_baseline and ppo it is whitened over all action
    tokens of the batch (population variance). ppo uses generalized advantage estimation.
    `shaped_clip` clips the shaped reward to [-shaped_clip, shaped_clip]: OpenRLHF's order, for
    rewards that were not clipped before.
    `kl_B_T` is the KL placed in the reward (zeros if it is in the loss); `group_B` numbers the
    prompt of each sequence.
    Masking: masked places count nowhere, NaN included; a sequence without an action token or with a
    non-finite reward (remax: or greedy reward) is left out of all statistics and gets zeros.
    Raises ValueError for gamma or lam that the estimator does not use, a missing value_B_T (ppo) or
    greedy_reward_B (remax), or a grouped estimator with one response per prompt.
    Source: REINFORCE++ (arXiv 2501.03262), eq. 3-10; the reward's order follows OpenRLHF, except
    that the clip comes before the group's baseline.
    """
    kind = Estimator(estimator)
    _check(kind, gamma, lam, value_B_T, greedy_reward_B)
    reward_B, kl_B_T = reward_B.detach().double(), kl_B_T.detach().double()
    usable_B = mask_B_T.any(dim=1) & torch.isfinite(reward_B)
    if kind is Estimator.REMAX and greedy_reward_B is not None:
        usable_B = usable_B & torch.isfinite(greedy_reward_B)
    mask_B_T = mask_B_T.bool() & usable_B[:, None]
    shaped_B = shape_rewards(kind, reward_B, usable_B, group_B, greedy_reward_B)
    if shaped_clip is not None:
        shaped_B = shaped_B.clamp(-shaped_clip, shaped_clip)
    reward_B_T = place_rewards(shaped_B, kl_B_T, mask_B_T, kl_coef=kl_coef)
    if kind is Estimator.PPO and value_B_T is not None:
        value_B_T = value_B_T.detach()
        advantage_B_T = gae(reward_B_T, value_B_T, mask_B_T, gamma=gamma, lam=lam)
        return_B_T = torch.where(mask_B_T, advantage_B_T + value_B_T, 0.0)
    else:
        advantage_B_T = return_B_T = returns_to_go(reward_B_T, mask_B_T, gamma=gamma)
    if kind in WHITENED_ESTIMATORS:
        advantage_B_T = masked_whiten(advantage_B_T, mask_B_T)
    return Advantages(advantage_B_T.float(), return_B_T.float())


def shape_rewards(
    kind: Estimator,
    reward_B: Tensor,
    usable_B: Tensor,
    group_B: Tensor,
    greedy_reward_B: Tensor | None = None,
) -> Tensor:
    """Subtract the estimator's baseline from the rewards and, for grpo, divide by the deviation.

    reinforce_pp, ppo: nothing. reinforce_pp_baseline, dr_grpo: - mean of the group. rloo: - mean of
    the others. grpo: (- mean) / (standard deviation with ddof 1, + 1e-9). remax: - reward of the
    greedy response. A group whose usable rewards are equal up to rounding, or fewer than two, gives
    exactly zero; so do unusable rewards.
    Raises ValueError if a grouped estimator sees no group of at least two.
    Source: REINFORCE++ (arXiv 2501.03262), eq. 4, 6, 7 and the appendix for the baseline; RLOO
    (arXiv 2402.14740), GRPO (arXiv 2402.03300), Dr. GRPO (arXiv 2503.20783), ReMax
    (arXiv 2310.10505).
    """
    if kind is Estimator.REMAX and greedy_reward_B is not None:
        return torch.where(usable_B, reward_B - greedy_reward_B.detach(), 0.0)
    if kind not in GROUPED_ESTIMATORS:
        return torch.where(usable_B, reward_B, 0.0)
    groups = group_B.unique()
    if 0 < len(groups) == len(group_B):
        raise ValueError(
            f"{kind} compares the responses of one prompt, but each prompt has only one; sample "
            "at least 2 per prompt, or use reinforce_pp"
        )
    shaped_B = torch.zeros_like(reward_B)
    for group in groups:
        members_B = (group_B == group) & usable_B
        shaped_B[members_B] = _shape_group(kind, reward_B[members_B])
    return shaped_B


def are_equal(value_N: Tensor) -> bool:
    """True if the values differ by no more than rounding; also for fewer than two."""
    if len(value_N) == 0:
        return True
    spread = float(value_N.max() - value_N.min())
    return spread <= EQUAL_WITHIN * max(1.0, abs(float(value_N.mean())))


def place_rewards(shaped_B: Tensor, kl_B_T: Tensor, mask_B_T: Tensor, *, kl_coef: float) -> Tensor:
    """Reward per token: -kl_coef * kl, plus the response's reward at its last action token.

    Source: REINFORCE++ (arXiv 2501.03262), eq. 8, whose sum is made by `returns_to_go`.
    """
    n_left_B_T = mask_B_T.flip(1).cumsum(1).flip(1)
    is_last_B_T = mask_B_T & (n_left_B_T == 1)
    reward_B_T = torch.where(mask_B_T, -kl_coef * kl_B_T, 0.0)
    return reward_B_T + torch.where(is_last_B_T, shaped_B[:, None], 0.0)


def returns_to_go(reward_B_T: Tensor, mask_B_T: Tensor, *, gamma: float) -> Tensor:
    """Sum of this and all later rewards, discounted per action token; zero where masked.

    Masked columns (a tool's answer in the middle, padding) neither discount nor end the sum.
    """
    return_B_T = torch.zeros_like(reward_B_T)
    carry_B = reward_B_T.new_zeros(len(reward_B_T))
    for t in reversed(range(reward_B_T.shape[1])):
        is_action_B = mask_B_T[:, t]
        carry_B = torch.where(is_action_B, reward_B_T[:, t] + gamma * carry_B, carry_B)
        return_B_T[:, t] = torch.where(is_action_B, carry_B, 0.0)
    return return_B_T


def gae(
    reward_B_T: Tensor, value_B_T: Tensor, mask_B_T: Tensor, *, gamma: float, lam: float
) -> Tensor:
    """Generalized advantage estimates over action tokens; zero where masked.

    The recursion runs from one action token to the next: masked columns neither discount nor
    bootstrap, and the value after the last action token is 0.
    Source: Schulman et al. 2016 (arXiv 1506.02438), eq. 16.
    """
    advantage_B_T = torch.zeros_like(reward_B_T)
    advantage_B = reward_B_T.new_zeros(len(reward_B_T))
    next_value_B = torch.zeros_like(advantage_B)
    for t in reversed(range(reward_B_T.shape[1])):
        is_action_B = mask_B_T[:, t]
        delta_B = reward_B_T[:, t] + gamma * next_value_B - value_B_T[:, t]
        advantage_B = torch.where(is_action_B, delta_B + gamma * lam * advantage_B, advantage_B)
        next_value_B = torch.where(is_action_B, value_B_T[:, t], next_value_B)
        advantage_B_T[:, t] = torch.where(is_action_B, advantage_B, 0.0)
    return advantage_B_T


def masked_whiten(value_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Shift and scale to mean 0 and variance 1 (ddof 0) over the mask; zero elsewhere.

    Values that are equal up to rounding give exactly zero.
    Source: REINFORCE++ eq. 10; ddof 0 and the floor of the variance (1e-8) as in OpenRLHF.
    """
    value_N = value_B_T[mask_B_T]
    if are_equal(value_N):
        return torch.zeros_like(value_B_T)
    mean = value_N.mean()
    variance = (value_N - mean).square().mean().clamp(min=SMALLEST_VARIANCE)
    return torch.where(mask_B_T, (value_B_T - mean) * variance.rsqrt(), 0.0)


def _shape_group(kind: Estimator, reward_G: Tensor) -> Tensor:
    if are_equal(reward_G):
        return torch.zeros_like(reward_G)
    centred_G = reward_G - reward_G.mean()
    if kind is Estimator.RLOO:
        return reward_G - (reward_G.sum() - reward_G) / (len(reward_G) - 1)
    if kind is Estimator.GRPO:
        return centred_G / (reward_G.std(correction=1) + 1e-9)
    return centred_G


def _check(
    kind: Estimator,
    gamma: float,
    lam: float,
    value_B_T: Tensor | None,
    greedy_reward_B: Tensor | None,
) -> None:
    if gamma != 1.0 and kind not in DISCOUNTED_ESTIMATORS:
        raise ValueError(f"{kind} does not discount; gamma must be 1, found {gamma}")
    if lam != 1.0 and kind is not Estimator.PPO:
        raise ValueError(f"{kind} has no lambda; lam must be 1, found {lam}")
    if kind is Estimator.PPO and value_B_T is None:
        raise ValueError("ppo needs the critic's values: pass value_B_T")
    if kind is Estimator.REMAX and greedy_reward_B is None:
        raise ValueError("remax needs the rewards of the greedy responses: pass greedy_reward_B")
