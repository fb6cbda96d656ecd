"""The losses of every method, as pure functions on tensors.

Called by the training loops and by anybody who wants to check the mathematics; no config, no model
and no randomness in here. Axes: B sequences, T tokens, K responses of a ranking, E pairs of them,
M ends of steps. Masked places may hold anything, NaN included, and change neither a value nor a
gradient.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus

KlEstimator = Literal["k1", "k2", "k3"]
LossAverage = Literal["token", "sequence", "constant"]

# exp() of a difference of log-probabilities stays finite in fp32.
LARGEST_LOG_RATIO = 20.0


@dataclass(frozen=True)
class PolicyLoss:
    """The loss and what happened to the ratio, 0-dimensional; only `loss` has a gradient."""

    loss: Tensor
    clip_fraction: Tensor
    clip_fraction_low: Tensor
    clip_fraction_high: Tensor
    approx_kl: Tensor
    ratio_mean: Tensor
    ratio_max: Tensor


@dataclass(frozen=True)
class ValueLoss:
    """The critic's loss and the fraction of values held back by the clip."""

    loss: Tensor
    clip_fraction: Tensor


@dataclass(frozen=True)
class DpoLoss:
    """The loss and the implicit rewards, beta times the log-ratio to the reference."""

    loss: Tensor
    chosen_reward_B: Tensor
    rejected_reward_B: Tensor


def kl(logp: Tensor, ref_logp: Tensor, estimator: KlEstimator) -> Tensor:
    """Estimate KL(policy || reference) of each token from the sampled token alone.

    With d = logp - ref_logp: k1 = d, k2 = d^2 / 2, k3 = exp(-d) - 1 + d. Nats; k2 and k3 are >= 0.
    Only the argument of exp is clamped (+-20), never the value.
    Raises ValueError for another estimator.
    Source: Schulman 2020, "Approximating KL divergence"; REINFORCE++ (arXiv 2501.03262), eq. 9, 12.
    """
    difference = logp - ref_logp
    if estimator == "k1":
        return difference
    if estimator == "k2":
        return difference.square() / 2
    if estimator == "k3":
        return torch.expm1(_clamp(-difference)) + difference
    raise ValueError(f"unknown KL estimator {estimator!r}; expected k1, k2 or k3")


def policy_loss(
    logp_B_T: Tensor,
    old_logp_B_T: Tensor,
    advantage_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float | None = None,
    average: LossAverage = "token",
    denominator: float | None = None,
) -> PolicyLoss:
    """Penalise the policy by PPO's clipped objective, negated.

    L = -min(ratio * A, clip(ratio, 1 - clip_low, 1 + clip_high) * A), and where A < 0 not below
    dual_clip * A. The log-ratio is clamped to +-20.
    `average` and its default denominator: token = sum / number of action tokens; sequence = sum of
    the sequences' means / number of sequences with an action; constant = sum / denominator, which
    must then be given. A caller that splits a batch passes the denominator of the whole batch; the
    losses of the parts then add up to the loss of the batch. An empty mask gives loss 0.
    Clipped = the clipped term was the smaller one. approx_kl = mean of ratio - 1 - log ratio.
    Source: PPO (arXiv 1707.06347), eq. 7; REINFORCE++ eq. 1, where the average is `sequence`;
    dual clip: arXiv 1912.09729.
    """
    mask_B_T = mask_B_T.bool()
    # Nothing that a masked place holds comes through this or through the average below.
    log_ratio_B_T = _clamp(_keep(logp_B_T - old_logp_B_T, mask_B_T))
    ratio_B_T = log_ratio_B_T.exp()
    free_B_T = ratio_B_T * advantage_B_T
    clipped_B_T = ratio_B_T.clamp(1 - clip_low, 1 + clip_high) * advantage_B_T
    objective_B_T = torch.minimum(free_B_T, clipped_B_T)
    if dual_clip is not None:
        bounded_B_T = torch.maximum(objective_B_T, dual_clip * advantage_B_T)
        objective_B_T = torch.where(advantage_B_T < 0, bounded_B_T, objective_B_T)
    loss = aggregate(-objective_B_T, mask_B_T, average=average, denominator=denominator)
    with torch.no_grad():
        was_clipped_B_T = clipped_B_T < free_B_T
        return PolicyLoss(
            loss=loss,
            clip_fraction=masked_mean(was_clipped_B_T, mask_B_T),
            clip_fraction_low=masked_mean(was_clipped_B_T & (advantage_B_T < 0), mask_B_T),
            clip_fraction_high=masked_mean(was_clipped_B_T & (advantage_B_T > 0), mask_B_T),
            approx_kl=masked_mean(ratio_B_T - 1 - log_ratio_B_T, mask_B_T),
            ratio_mean=masked_mean(ratio_B_T, mask_B_T),
            ratio_max=_keep(ratio_B_T, mask_B_T).amax() if mask_B_T.any() else loss.new_zeros(()),
        )


def aggregate(
    loss_B_T: Tensor, mask_B_T: Tensor, *, average: LossAverage, denominator: float | None = None
) -> Tensor:
    """Reduce a loss per token to one number; see `policy_loss` for the three averages.

    Raises ValueError for `constant` without a denominator, or a denominator that is not positive.
    """
    if denominator is not None and denominator <= 0:
        raise ValueError(f"denominator is {denominator}; expected a positive number")
    if average == "constant" and denominator is None:
        raise ValueError("average is constant, which needs a denominator; pass one")
    mask_B_T = mask_B_T.bool()
    kept_B_T = _keep(loss_B_T, mask_B_T)
    n_actions_B = mask_B_T.sum(dim=1)
    if average == "sequence":
        total = (kept_B_T.sum(dim=1) / n_actions_B.clamp(min=1)).sum()
        default = int((n_actions_B > 0).sum())
    else:
        total, default = kept_B_T.sum(), int(n_actions_B.sum())
    return total / (denominator if denominator is not None else max(default, 1))


def masked_mean(value_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Mean over the places where the mask is True, of truths their share; 0 for an empty mask."""
    return _keep(value_B_T, mask_B_T).sum() / mask_B_T.sum().clamp(min=1)


def value_loss(
    value_B_T: Tensor,
    old_value_B_T: Tensor,
    return_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: float = 0.2,
    denominator: float | None = None,
) -> ValueLoss:
    """Pull the critic to the returns, by at most `clip` away from its old values.

    0.5 * mean over action tokens of max((V - R)^2, (V_old + clip(V - V_old, +-clip) - R)^2).
    The mean is the sum divided by `denominator`, by default the number of action tokens. A caller
    that splits a batch passes the number of the whole batch; the losses of the parts then add up.
    Raises ValueError for a denominator that is not positive.
    Source: OpenAI baselines' PPO2, as in Huang et al. 2022, "The 37 implementation details of PPO".
    """
    mask_B_T = mask_B_T.bool()
    value_B_T = _keep(value_B_T, mask_B_T)
    held_B_T = value_B_T.clamp(old_value_B_T - clip, old_value_B_T + clip)
    free_error_B_T = (value_B_T - return_B_T).square()
    held_error_B_T = (held_B_T - return_B_T).square()
    error_B_T = 0.5 * torch.maximum(free_error_B_T, held_error_B_T)
    return ValueLoss(
        loss=aggregate(error_B_T, mask_B_T, average="token", denominator=denominator),
        clip_fraction=masked_mean(held_error_B_T > free_error_B_T, mask_B_T),
    )


def ranking_loss(score_K: Tensor, tiers: Sequence[Sequence[int]], *, margin: float = 0.0) -> Tensor:
    """Penalise scores that contradict a ranking: Bradley-Terry over all its pairs.

    `tiers` hold indices into score_K, best first; indices of one tier are tied, indices in no tier
    give no pair. The mean over all pairs of -log sigmoid(winner - loser - margin * d), where the
    winner stands d tiers above the loser; a tie is half a win each way, without a margin. Without a
    pair the loss is 0 with a zero gradient.
    Raises ValueError for an index that is out of range or stands twice, or a margin that is
    negative or not finite.
    Source: InstructGPT (arXiv 2203.02155), eq. 1: every pair of a prompt in one batch element;
    margin: Llama 2 (arXiv 2307.09288), eq. 2, there by a rating of the pair.
    """
    check_tiers(tiers, len(score_K))
    if not 0 <= margin < torch.inf:
        raise ValueError(f"margin is {margin}; expected a finite number of at least 0")
    first, second, wins = tier_pairs(tiers)
    if not wins:
        return _keep(score_K, torch.zeros_like(score_K, dtype=torch.bool)).sum()
    score_K = _at_least_fp32(score_K)
    tier_of = {index: place for place, tier in enumerate(tiers) for index in tier}
    apart = [tier_of[worse] - tier_of[better] for better, worse in zip(first, second, strict=True)]
    ahead_E = score_K[first] - score_K[second] - margin * score_K.new_tensor(apart)
    win_E = score_K.new_tensor(wins)
    return (win_E * softplus(-ahead_E) + (1 - win_E) * softplus(ahead_E)).mean()


def listwise_loss(score_K: Tensor, tiers: Sequence[Sequence[int]]) -> Tensor:
    """Penalise scores that contradict a ranking: Plackett-Luce, one choice after another.

    Each response of a tier is chosen among its own and all later tiers; ties as in Breslow's
    approximation. The mean over all choices among at least two; without such a choice 0.
    Two responses without a tie give the same value as `ranking_loss`.
    Raises ValueError for an index that is out of range or stands twice.
    Source: Plackett 1975; Breslow 1974 for ties.
    """
    check_tiers(tiers, len(score_K))
    losses = []
    for position, tier in enumerate(tiers):
        remaining = [index for later in tiers[position:] for index in later]
        if len(remaining) > 1:
            left_K = _at_least_fp32(score_K[remaining])
            losses += [left_K.logsumexp(0) - score_K[index] for index in tier]
    return torch.stack(losses).mean() if losses else ranking_loss(score_K, [])


def centering_loss(score_K: Tensor, tiers: Sequence[Sequence[int]]) -> Tensor:
    """Penalise scores for lying off zero together, which a ranking says nothing about.

    (2 * mean of the ranked scores)^2, for two responses (first + second)^2; 0 for fewer. It does
    not change the differences of scores, as the mean of (first + second)^2 over all pairs of more
    than two responses would.
    Source: Eisenstein et al. 2023 (arXiv 2312.09244), for two responses.
    """
    check_tiers(tiers, len(score_K))
    placed = [index for tier in tiers for index in tier]
    if len(placed) < 2:
        return ranking_loss(score_K, [])
    return (2 * _at_least_fp32(score_K[placed]).mean()).square()


def step_loss(score_M: Tensor, label_M: Tensor) -> Tensor:
    """Penalise log-odds of steps that contradict their labels, per step: cross-entropy in nats.

    Labels are probabilities in 0..1: 1 = right, 0 = wrong, or the share of continuations that came
    out right.
    Source: Lightman et al. 2023 (arXiv 2305.20050); soft labels: Math-Shepherd
    (arXiv 2312.08935), eq. 2.
    """
    score_M = _at_least_fp32(score_M)
    return label_M * softplus(-score_M) + (1 - label_M) * softplus(score_M)


def tier_pairs(tiers: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[float]]:
    """All pairs of a ranking as (first, second, share of the win of the first: 1 or 0.5)."""
    placed = [(index, place) for place, tier in enumerate(tiers) for index in tier]
    pairs = list(combinations(placed, 2))
    return (
        [first for (first, _), _ in pairs],
        [second for _, (second, _) in pairs],
        [0.5 if place == other else 1.0 for (_, place), (_, other) in pairs],
    )


def check_tiers(tiers: Sequence[Sequence[int]], n_responses: int) -> None:
    """Raise ValueError if an index is not in 0..n_responses-1 or stands twice."""
    placed = [index for tier in tiers for index in tier]
    wrong = [index for index in placed if not 0 <= index < n_responses]
    if wrong or len(set(placed)) != len(placed):
        raise ValueError(
            f"tiers {[list(tier) for tier in tiers]} do not fit {n_responses} responses: each "
            f"index of 0..{n_responses - 1} may occur at most once"
        )


def dpo_loss(
    chosen_logp_B: Tensor,
    rejected_logp_B: Tensor,
    ref_chosen_logp_B: Tensor,
    ref_rejected_logp_B: Tensor,
    *,
    beta: float,
    label_smoothing: float = 0.0,
    loss: Literal["sigmoid", "ipo"] = "sigmoid",
) -> DpoLoss:
    """Penalise the policy for preferring the rejected response, relative to the reference.

    Inputs are log-probabilities of whole responses in nats, summed over response tokens only. With
    h = (chosen - ref_chosen) - (rejected - ref_rejected): sigmoid = -log sigmoid(beta h), its label
    flipped with probability `label_smoothing`; ipo = (h - 1 / (2 beta))^2. Averaged over B.
    Raises ValueError if beta <= 0, the batch is empty or `loss` is neither of the two.
    Source: DPO (arXiv 2305.18290), eq. 7; IPO (arXiv 2310.12036), eq. 17, on sums.
    """
    if beta <= 0 or len(chosen_logp_B) == 0:
        raise ValueError(
            f"beta is {beta} and there are {len(chosen_logp_B)} pairs; expected both above 0"
        )
    chosen_B = chosen_logp_B - ref_chosen_logp_B
    rejected_B = rejected_logp_B - ref_rejected_logp_B
    margin_B = chosen_B - rejected_B
    if loss == "ipo":
        loss_B = (margin_B - 1 / (2 * beta)).square()
    elif loss == "sigmoid":
        loss_B = (1 - label_smoothing) * softplus(-beta * margin_B)
        loss_B = loss_B + label_smoothing * softplus(beta * margin_B)
    else:
        raise ValueError(f"unknown DPO loss {loss!r}; expected sigmoid or ipo")
    return DpoLoss(loss_B.mean(), (beta * chosen_B).detach(), (beta * rejected_B).detach())


def _clamp(log_ratio: Tensor) -> Tensor:
    return log_ratio.clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def _keep(value: Tensor, mask: Tensor) -> Tensor:
    # `where` and not a product: NaN * 0 is NaN, and its gradient too.
    return torch.where(mask, value, torch.zeros_like(value))


def _at_least_fp32(value: Tensor) -> Tensor:
    # bf16 has no digits left for close scores: they would compare equal.
    return value if value.dtype == torch.float64 else value.float()
