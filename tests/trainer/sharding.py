"""One policy update of a rollout, whole or shared by several processes; for `test_sharding`.

The pattern for data-parallel training with these losses: advantages are made from the gathered
rollout, the losses take the denominators of the whole window, and gradients are summed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from backend.schemas.references import Reference
from worker.trainer import losses
from worker.trainer.advantages import Advantages, estimate
from worker.trainer.data.tokens import Tokens, collate
from worker.trainer.models import loading
from worker.trainer.models.logprobs import TokenLogp, action_logp

LENGTHS = [7, 1, 3, 5, 2, 6, 1, 4]
REWARD = [1.0, 0.0, 0.5, 2.0, -1.0, 0.3, 0.7, 0.7]
GROUP = [0, 0, 0, 1, 1, 2, 2, 2]
END = 2


@dataclass(frozen=True)
class Update:
    """How a rollout is trained on."""

    estimator: str
    average: losses.LossAverage
    micro_batch: int


RULES = [
    Update("reinforce_pp", "token", 8),
    Update("reinforce_pp_baseline", "sequence", 8),
    Update("rloo", "constant", 8),
    Update("grpo", "token", 8),
    Update("ppo", "token", 8),
]


def rows_of() -> list[Tokens]:
    """Eight responses of different length to prompts of different length."""
    return [
        Tokens(
            [40 + (5 * row + i) % 50 for i in range(3 + row % 3)], [60 + row + i for i in range(n)]
        )
        for row, n in enumerate(LENGTHS)
    ]


def update(model: nn.Module, how: Update, mine: list[int]) -> dict[str, Tensor]:
    """Gradients of the rows that are mine; over all processes they add up to the update."""
    rows = rows_of()
    before = dict(zip(mine, forward(model, [rows[i] for i in mine], grad=False), strict=True))
    old_B_T, ref_B_T, old_value_B_T, mask_B_T = shifted(gathered(before))
    advantages = advantages_of(how, old_B_T - ref_B_T, mask_B_T, old_value_B_T)
    denominator = {
        "token": float(mask_B_T.sum()),
        "sequence": float(mask_B_T.any(dim=1).sum()),
        "constant": 100.0,
    }[how.average]
    for start in range(0, len(mine), how.micro_batch):
        part = mine[start : start + how.micro_batch]
        found = pad_sequence(forward(model, [rows[i] for i in part], grad=True), batch_first=True)
        logp_B_T, entropy_B_T, value_B_T = found.unbind(-1)
        width = logp_B_T.shape[1]
        mask = mask_B_T[part, :width]
        loss = losses.policy_loss(
            logp_B_T,
            old_B_T[part, :width],
            advantages.advantage_B_T[part, :width],
            mask,
            clip_low=0.2,
            clip_high=0.2,
            average=how.average,
            denominator=denominator,
        ).loss
        kl_B_T = losses.kl(logp_B_T, ref_B_T[part, :width], "k3")
        n_actions = float(mask_B_T.sum())
        kl = losses.aggregate(kl_B_T, mask, average="token", denominator=n_actions)
        bonus = losses.aggregate(entropy_B_T, mask, average="token", denominator=n_actions)
        loss = loss + 0.1 * kl - 0.2 * bonus
        if how.estimator == "ppo":
            loss = (
                loss
                + losses.value_loss(
                    value_B_T,
                    old_value_B_T[part, :width],
                    advantages.return_B_T[part, :width],
                    mask,
                    denominator=n_actions,
                ).loss
            )
        loss.backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def advantages_of(how: Update, kl_B_T: Tensor, mask_B_T: Tensor, value_B_T: Tensor) -> Advantages:
    """Of all rows: whitening and groups must not see a part alone."""
    return estimate(
        how.estimator,
        reward_B=torch.tensor(REWARD),
        kl_B_T=kl_B_T,
        mask_B_T=mask_B_T,
        group_B=torch.tensor(GROUP),
        kl_coef=0.1,
        value_B_T=value_B_T,
    )


def forward(model: nn.Module, rows: list[Tokens], *, grad: bool) -> list[Tensor]:
    """Per row, tokens x 3: log-probability, entropy, and a value by a fixed head on the trunk."""
    with torch.set_grad_enabled(grad):
        batch = collate(rows, pad_id=END, device=torch.device("cpu"))
        found: TokenLogp = action_logp(model, batch, temperature=1.0, entropy_gradient=True)
        hidden_N_H = found.hidden_N_H
        value_N = hidden_N_H @ torch.linspace(-0.2, 0.2, hidden_N_H.shape[1], dtype=torch.float64)
        found_N_3 = torch.stack([found.logp_N, found.entropy_N, value_N], dim=-1)
    return list(found_N_3.split([len(row.response) for row in rows]))


def gathered(mine: dict[int, Tensor]) -> list[Tensor]:
    """The rows of all processes, in order."""
    parts: list[dict[int, Tensor] | None] = [mine]
    if dist.is_initialized():
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, mine)
    found = {row: own for part in parts if part is not None for row, own in part.items()}
    return [found[row] for row in sorted(found)]


def shifted(rows: list[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """An older policy, a reference and an older critic, all some way off; and the mask.

    So ratios, KL and the clips do something.
    """
    logp_B_T, _, value_B_T = pad_sequence(rows, batch_first=True).unbind(-1)
    mask_B_T = torch.arange(logp_B_T.shape[1]) < torch.tensor(LENGTHS)[:, None]
    noise = torch.randn(3, *logp_B_T.shape, generator=torch.Generator().manual_seed(0))
    return (
        logp_B_T + 0.15 * noise[0],
        logp_B_T + noise[1],
        value_B_T + 0.3 * noise[2],
        mask_B_T,
    )


def load(folder: Path) -> nn.Module:
    """The tiny model; in float64, or rounding would hide small mistakes."""
    model: nn.Module = loading.load_causal_lm(
        Reference(path=str(folder)), dtype=torch.float64, device=torch.device("cpu")
    )
    return model


def run_rank(arguments: Sequence[str]) -> int:
    """One of several processes: every n-th row is mine; the first saves the sums by rule."""
    rank, n_ranks = map(int, arguments[:2])
    model, out = map(Path, arguments[2:])
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{out / 'meeting'}",
        timeout=timedelta(seconds=120),
        rank=rank,
        world_size=n_ranks,
    )
    try:
        for how in RULES:
            how = replace(how, micro_batch=2)
            gradients = update(load(model), how, list(range(rank, len(LENGTHS), n_ranks)))
            for gradient in gradients.values():
                dist.all_reduce(gradient)
            if rank == 0:
                save_file(gradients, out / how.estimator)
    finally:
        dist.destroy_process_group()
    return 0
