"""How much a token counts where the sampler's probabilities differ from the trainer's.

Used by policy_gradient with vLLM and, in bf16, with the trainer's own sampler (decision 15): what
was sampled is weighted by how likely the trainer would have sampled it.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from backend.schemas.policy_gradient import Importance

# A log-ratio beyond this is e^20: any cap is far below it.
_LARGEST_LOG_RATIO = 20.0


@dataclass(frozen=True)
class Weights:
    """B x T, without a gradient; 0 outside the mask. `cut_fraction` of the tokens were changed."""

    weight_B_T: Tensor
    cut_fraction: float


def weights(
    logp_B_T: Tensor, sampler_logp_B_T: Tensor, mask_B_T: Tensor, config: Importance
) -> Weights:
    """w = pi_trainer / pi_sampler of the tokens in the mask.

    Both log-probabilities, B x T, are those of the weights that sampled. `level` token: of each
    token; sequence: the product over a response, for all its tokens. `action` truncate: at most
    `cap` (truncated importance sampling, Yao et al. 2025); mask: 0 outside [1 / cap, cap] (IcePop,
    Ling Team 2025), else as it is. The policy loss of a token is multiplied by its weight.
    """
    log_B_T = torch.where(mask_B_T, logp_B_T - sampler_logp_B_T, 0.0).detach()
    if config.level == "sequence":
        log_B_T = log_B_T.sum(dim=1, keepdim=True).expand_as(log_B_T)
    ratio_B_T = log_B_T.clamp(-_LARGEST_LOG_RATIO, _LARGEST_LOG_RATIO).exp()
    is_cut_B_T = ratio_B_T > config.cap
    if config.action == "mask":
        is_cut_B_T |= ratio_B_T < 1 / config.cap
    instead = config.cap if config.action == "truncate" else 0.0
    weight_B_T = torch.where(is_cut_B_T, instead, ratio_B_T)
    n_tokens = int(mask_B_T.sum())
    return Weights(
        weight_B_T=torch.where(mask_B_T, weight_B_T, 0.0),
        cut_fraction=int((is_cut_B_T & mask_B_T).sum()) / n_tokens if n_tokens else 0.0,
    )
