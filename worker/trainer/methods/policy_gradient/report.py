"""What a step of policy_gradient reports: metrics of the rollout and of the updates.

Called by the loop; changes nothing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

import torch
from torch import Tensor

from backend.schemas.run_directory.events import Histogram
from backend.schemas.vocabulary import FinishReason
from worker.trainer import losses
from worker.trainer.advantages import Advantages, are_equal
from worker.trainer.evaluation.graded import coverage
from worker.trainer.evaluation.histograms import histogram
from worker.trainer.methods.policy_gradient.critic import explained_variance
from worker.trainer.methods.policy_gradient.rollout import Rollout


@dataclass(frozen=True)
class UpdateReport:
    """What one micro-batch did; `loss` adds up over micro-batches, the others are token means."""

    loss: float
    clip_low: float
    clip_high: float
    approx_kl: float
    ratio_mean: float
    ratio_max: float
    value: tuple[float, float] | None = None

    @classmethod
    def of(
        cls, policy: losses.PolicyLoss, loss: Tensor, value: losses.ValueLoss | None = None
    ) -> Self:
        """The numbers of a policy loss and, with a critic, of its loss and clip."""
        return cls(
            float(loss.detach()),
            float(policy.clip_fraction_low),
            float(policy.clip_fraction_high),
            float(policy.approx_kl),
            float(policy.ratio_mean),
            float(policy.ratio_max),
            None if value is None else (float(value.loss.detach()), float(value.clip_fraction)),
        )


def combine(parts: Sequence[tuple[float, UpdateReport]]) -> dict[str, float]:
    """Metrics of one update from its micro-batches and their shares of the action tokens."""

    def mean(name: str) -> float:
        return sum(share * float(asdict(report)[name]) for share, report in parts)

    return {
        "loss": sum(report.loss for _, report in parts),
        "clip_fraction/low": mean("clip_low"),
        "clip_fraction/high": mean("clip_high"),
        "approx_kl": mean("approx_kl"),
        "ratio/mean": mean("ratio_mean"),
        "ratio/max": max(report.ratio_max for _, report in parts),
        **_value_metrics(parts),
    }


def _value_metrics(parts: Sequence[tuple[float, UpdateReport]]) -> dict[str, float]:
    found = [(share, *report.value) for share, report in parts if report.value is not None]
    if not found:
        return {}
    return {
        "value/loss": sum(loss for _, loss, _ in found),
        "value/clip_fraction": sum(share * clipped for share, _, clipped in found),
    }


def mean_of(updates: Sequence[dict[str, float]]) -> dict[str, float]:
    """Mean over the updates of a step; of `ratio/max` the largest."""
    done = [update for update in updates if update]
    names = done[0] if done else {}
    values = {name: sum(update[name] for update in done) / len(done) for name in names}
    if done:
        values["ratio/max"] = max(update["ratio/max"] for update in done)
    return values


@torch.no_grad()
def metrics(rollout: Rollout, advantages: Advantages) -> dict[str, float]:
    """Reward, KL, entropy, advantage, length, groups, drift and seconds of a rollout.

    Those of rewards and tokens are over the responses that count; where none does they are missing.
    """
    usable_B = rollout.mask_B_T.any(dim=1)
    told = _sampling_metrics(rollout)
    return told | _trained_metrics(rollout, advantages, usable_B) if usable_B.any() else told


def _sampling_metrics(rollout: Rollout) -> dict[str, float]:
    """What is known of all responses, those too that are left out."""
    length_B = torch.tensor([float(len(response.ids)) for response in rollout.responses])
    n_cut = sum(response.finish_reason is FinishReason.LENGTH for response in rollout.responses)
    return {
        **_grading_metrics(rollout),
        "length/mean": float(length_B.mean()),
        "length/p95": float(length_B.quantile(0.95)),
        "truncated_fraction": n_cut / len(rollout.responses),
        "tokens/sampled": float(rollout.n_sampled),
        **_replacement_metrics(rollout),
        **{f"time/{name}_s": seconds for name, seconds in rollout.seconds.items()},
    }


def _trained_metrics(
    rollout: Rollout, advantages: Advantages, usable_B: Tensor
) -> dict[str, float]:
    """What the step trains on."""
    mask_B_T = rollout.mask_B_T
    reward_B = torch.tensor(rollout.scores.reward)[usable_B]
    raw_B = torch.tensor(rollout.scores.raw)[usable_B]
    advantage_N = advantages.advantage_B_T[mask_B_T]
    drift_B_T = (rollout.logp_B_T - rollout.sampler_logp_B_T).abs()
    return {
        "reward/raw_mean": float(raw_B.mean()),
        "reward/mean": float(reward_B.mean()),
        "reward/std": float(reward_B.std(correction=0)),
        **_term_metrics(rollout, usable_B),
        **_kl_metrics(rollout, usable_B),
        "entropy": float(losses.masked_mean(rollout.entropy_B_T, mask_B_T)),
        "advantage/mean": float(advantage_N.mean()),
        "advantage/std": float(advantage_N.std(correction=0)),
        "logp_drift": float(losses.masked_mean(drift_B_T, mask_B_T)),
        **_baseline_metrics(rollout, advantages, usable_B),
        **_penalty_metrics(rollout, usable_B),
        **_importance_metrics(rollout),
        **_group_metrics(rollout, usable_B),
    }


def distributions(rollout: Rollout, advantages: Advantages) -> dict[str, Histogram]:
    """How reward and length of the responses that count and the advantage of their tokens spread.

    Where no response counts, nothing.
    """
    usable_B = rollout.mask_B_T.any(dim=1)
    if not usable_B.any():
        return {}
    length_B = torch.tensor([float(len(response.ids)) for response in rollout.responses])
    return {
        "reward": histogram(torch.tensor(rollout.scores.reward)[usable_B]),
        "length": histogram(length_B[usable_B]),
        "advantage": histogram(advantages.advantage_B_T[rollout.mask_B_T]),
    }


def _kl_metrics(rollout: Rollout, usable_B: Tensor) -> dict[str, float]:
    if rollout.ref_logp_B_T is None:
        return {}
    mask_B_T = rollout.mask_B_T
    k1_B_T = losses.kl(rollout.logp_B_T, rollout.ref_logp_B_T, "k1")
    k3_B_T = losses.kl(rollout.logp_B_T, rollout.ref_logp_B_T, "k3")
    return {
        "kl/response": float(torch.where(mask_B_T, k1_B_T, 0.0).sum(1)[usable_B].mean()),
        "kl/token": float(losses.masked_mean(k1_B_T, mask_B_T)),
        "kl/k3": float(losses.masked_mean(k3_B_T, mask_B_T)),
    }


def columns(
    rollout: Rollout, advantages: Advantages, rows: Sequence[int]
) -> dict[str, list[object]]:
    """What is known of some responses, for a look at a batch that broke."""
    reference = {} if rollout.ref_logp_B_T is None else {"ref_logp": rollout.ref_logp_B_T}
    of_tokens = {
        "logp": rollout.logp_B_T,
        **reference,
        "sampler_logp": rollout.sampler_logp_B_T,
        "advantage": advantages.advantage_B_T,
    }
    return {
        "prompt_id": [rollout.prompts[row].id for row in rows],
        "response": [rollout.answers[row].text for row in rows],
        "reward": [rollout.scores.reward[row] for row in rows],
        **{
            name: [value_B_T[row, : len(rollout.responses[row].ids)].tolist() for row in rows]
            for name, value_B_T in of_tokens.items()
        },
    }


def _term_metrics(rollout: Rollout, usable_B: Tensor) -> dict[str, float]:
    """Average each term over the responses that count and that it could score.

    A term of weight 0 may have no score of a response that counts.
    """
    means = {}
    for name, values in rollout.scores.terms.items():
        score_B = torch.tensor(values)
        scored_B = usable_B & score_B.isfinite()
        if scored_B.any():
            means[f"reward/{name}"] = float(score_B[scored_B].mean())
    return means


def _grading_metrics(rollout: Rollout) -> dict[str, float]:
    """Measure which shares of all responses passed and could be scored by each term."""
    passed = [one for one in rollout.scores.passed if one is not None]
    values = {} if not passed else {"pass_rate": sum(passed) / len(passed)}
    return values | coverage(rollout.scores)


def _penalty_metrics(rollout: Rollout, usable_B: Tensor) -> dict[str, float]:
    if not rollout.scores.penalty:
        return {}
    penalty_B = torch.tensor(rollout.scores.penalty)
    return {"reward/overlong_penalty": float(penalty_B[usable_B].mean())}


def _replacement_metrics(rollout: Rollout) -> dict[str, float]:
    if rollout.n_replaced is None:
        return {}
    n_groups = int(rollout.group_B.max()) + 1
    return {
        "group/sampled": float(n_groups + rollout.n_replaced),
        "group/replaced": float(rollout.n_replaced),
    }


def _importance_metrics(rollout: Rollout) -> dict[str, float]:
    found = rollout.importance
    if found is None:
        return {}
    return {
        "importance/mean": float(losses.masked_mean(found.weight_B_T, rollout.mask_B_T)),
        "importance/cut_fraction": found.cut_fraction,
    }


def _baseline_metrics(
    rollout: Rollout, advantages: Advantages, usable_B: Tensor
) -> dict[str, float]:
    values = {}
    if rollout.greedy_reward_B is not None:
        values["reward/greedy"] = float(rollout.greedy_reward_B[usable_B].mean())
    if rollout.value_B_T is not None:
        values["value/mean"] = float(losses.masked_mean(rollout.value_B_T, rollout.mask_B_T))
        values["value/explained_variance"] = explained_variance(
            rollout.value_B_T, advantages.return_B_T, rollout.mask_B_T
        )
    return values


def _group_metrics(rollout: Rollout, usable_B: Tensor) -> dict[str, float]:
    reward_B = torch.tensor(rollout.scores.reward, dtype=torch.float64)
    groups = [
        reward_B[(rollout.group_B == group) & usable_B]
        for group in range(int(rollout.group_B.max()) + 1)
    ]
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return {}
    return {
        "group/reward_std": sum(float(g.std(correction=1)) for g in groups) / len(groups),
        "group/zero_std_fraction": sum(are_equal(g) for g in groups) / len(groups),
    }
