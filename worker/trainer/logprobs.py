"""Log-probabilities of response tokens under a model, without ever holding B x T x V numbers.

Used by sft, policy_gradient, generate and evaluations. The body runs over whole rows; the head runs
over action positions only, in chunks. Axes: B rows, T tokens, N action tokens in row order.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from worker.trainer.body import hidden_at
from worker.trainer.data import Batch

# 512 rows of 49,152 fp32 logits are 100 MB.
CHUNK = 512


@dataclass(frozen=True)
class TokenLogp:
    """Per action token, nats: log-probability of the token, and entropy of its distribution.

    `hidden_N_H` are the states that both were made from.
    """

    logp_N: Tensor
    entropy_N: Tensor
    hidden_N_H: Tensor


def action_hidden(causal: nn.Module, batch: Batch) -> Tensor:
    """Hidden states that predict the action tokens, N x H: those one place before them."""
    before_B_T = torch.zeros_like(batch.action_B_T)
    before_B_T[:, :-1] = batch.action_B_T[:, 1:]
    return hidden_at(causal.get_decoder(), batch, before_B_T)  # type: ignore[operator]


def action_logp(
    causal: nn.Module, batch: Batch, *, temperature: float, entropy_gradient: bool = False
) -> TokenLogp:
    """Log-probabilities of softmax(logits / temperature) at the action tokens, fp32.

    With a gradient unless under no_grad; the entropy has one only if asked for.
    """
    hidden_N_H = action_hidden(causal, batch)
    token_N = batch.ids_B_T[batch.action_B_T]
    head = causal.get_output_embeddings()  # type: ignore[operator]

    parameters = [p for p in head.parameters() if p.requires_grad]
    parts = [
        _HeadLogp.apply(  # type: ignore[no-untyped-call]
            hidden, token, head, temperature, entropy_gradient, *parameters
        )
        for hidden, token in zip(hidden_N_H.split(CHUNK), token_N.split(CHUNK), strict=True)
    ]
    logp, entropy = zip(*parts, strict=True)
    return TokenLogp(torch.cat(logp), torch.cat(entropy), hidden_N_H)


@torch.no_grad()
def exact_kl(
    causal: nn.Module,
    ref_hidden_N_H: Tensor,
    ref_head: nn.Module,
    batch: Batch,
    *,
    temperature: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Full-softmax KL(model || reference) at each action's prefix, and both log-probabilities.

    Returns kl_N, logp_N, ref_logp_N in nats, fp32.
    """
    hidden_N_H = action_hidden(causal, batch)
    token_N = batch.ids_B_T[batch.action_B_T]
    head = causal.get_output_embeddings()  # type: ignore[operator]
    parts = []
    for start in range(0, len(token_N), CHUNK):
        rows = slice(start, start + CHUNK)
        logp_N_V = (head(hidden_N_H[rows]).float() / temperature).log_softmax(-1)
        ref_N_V = (ref_head(ref_hidden_N_H[rows]).float() / temperature).log_softmax(-1)
        token = token_N[rows, None]
        kl_N = (logp_N_V.exp() * (logp_N_V - ref_N_V)).sum(-1)
        parts.append((kl_N, logp_N_V.gather(-1, token)[:, 0], ref_N_V.gather(-1, token)[:, 0]))
    kl, logp, ref = (torch.cat(column) for column in zip(*parts, strict=True))
    return kl, logp, ref


def scatter(value_N: Tensor, action_B_T: Tensor) -> Tensor:
    """Put values of action tokens back to their places; zero elsewhere."""
    value_B_T = value_N.new_zeros(action_B_T.shape)
    value_B_T[action_B_T] = value_N
    return value_B_T


class _HeadLogp(torch.autograd.Function):
    """Log-probabilities and entropies of one chunk, by as few passes over the logits as there are.

    Computing the logits anew for the gradient costs less than keeping them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden_N_H: Tensor,
        token_N: Tensor,
        head: nn.Module,
        temperature: float,
        entropy_gradient: bool,
        *parameters: nn.Parameter,
    ) -> tuple[Tensor, Tensor]:
        ctx.head, ctx.temperature, ctx.entropy_gradient = head, temperature, entropy_gradient
        ctx.parameters, ctx.device_type = parameters, hidden_N_H.device.type
        ctx.autocast = {
            "enabled": torch.is_autocast_enabled(ctx.device_type),
            "dtype": torch.get_autocast_dtype(ctx.device_type),
        }
        scaled_N_V = _scaled(head(hidden_N_H), temperature)
        scaled_N_V -= scaled_N_V.amax(-1, keepdim=True)
        mass_N_V = scaled_N_V.exp()
        whole_N = mass_N_V.sum(-1)
        with torch.autocast(ctx.device_type, enabled=False):  # else this product would be bf16
            weighted_N = torch.einsum("nv,nv->n", mass_N_V, scaled_N_V)
        logp_N = scaled_N_V.gather(-1, token_N[:, None])[:, 0] - whole_N.log()
        entropy_N = whole_N.log() - weighted_N / whole_N
        ctx.save_for_backward(hidden_N_H, token_N, entropy_N)
        if not entropy_gradient:
            ctx.mark_non_differentiable(entropy_N)
        return logp_N, entropy_N

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """d logp / d z is 1 at the token minus p; d entropy / d z is -p (log p + entropy)."""
        grad_logp_N, grad_entropy_N = gradients
        hidden_N_H, token_N, entropy_N = ctx.saved_tensors
        with torch.enable_grad(), torch.autocast(ctx.device_type, **ctx.autocast):
            leaf_N_H = hidden_N_H.detach().requires_grad_()
            logits_N_V = ctx.head(leaf_N_H)
        scaled_N_V = _scaled(logits_N_V.detach(), ctx.temperature)
        grad_N_V = scaled_N_V.softmax(-1)
        if ctx.entropy_gradient:
            surplus_N_V = scaled_N_V.log_softmax(-1) + entropy_N[:, None]
            grad_N_V *= -grad_logp_N[:, None] - grad_entropy_N[:, None] * surplus_N_V
        else:
            grad_N_V *= -grad_logp_N[:, None]
        grad_N_V.scatter_add_(-1, token_N[:, None], grad_logp_N[:, None])
        grad_N_V /= ctx.temperature
        found = torch.autograd.grad(
            logits_N_V, [leaf_N_H, *ctx.parameters], grad_N_V.to(logits_N_V.dtype)
        )
        return found[0], None, None, None, None, *found[1:]


def _scaled(logits_N_V: Tensor, temperature: float) -> Tensor:
    return logits_N_V.float() / temperature if temperature != 1 else logits_N_V.float()
