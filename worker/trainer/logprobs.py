"""Log-probabilities of response tokens under a model, without ever holding B x T x V numbers.

Used by sft, policy_gradient, generate and evaluations. The body runs over whole rows; the head runs
over action positions only, in chunks. Axes: B rows, T tokens, N action tokens in row order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from worker.trainer.body import hidden_at
from worker.trainer.data import Batch

# Rows of one product with the head, and of those that are wide (fp32) at once: of 49,152 logits
# 25 MB in bf16 and 6 MB.
CHUNK = 256
WIDE = 32
# Rows of the head's weight whose gradient is computed at once.
HEAD_ROWS = 8192


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
    logp_N, entropy_N = _HeadLogp.apply(  # type: ignore[no-untyped-call]
        hidden_N_H, token_N, head.weight, head.bias, temperature, entropy_gradient
    )
    return TokenLogp(logp_N, entropy_N, hidden_N_H)


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
    """Log-probabilities and entropies by as few passes over as few logits as there are.

    Computing the logits anew for the gradient costs less than keeping them, and adding up the
    gradient of the head's weight in place less than leaving it to autograd.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden_N_H: Tensor,
        token_N: Tensor,
        weight_V_H: Tensor,
        bias_V: Tensor | None,
        temperature: float,
        entropy_gradient: bool,
    ) -> tuple[Tensor, Tensor]:
        ctx.temperature, ctx.entropy_gradient = temperature, entropy_gradient
        ctx.hidden_dtype, device_type = hidden_N_H.dtype, hidden_N_H.device.type
        if torch.is_autocast_enabled(device_type):
            hidden_N_H = hidden_N_H.to(torch.get_autocast_dtype(device_type))
        with torch.autocast(device_type, enabled=False):
            columns = [
                _summarize(_scaled(logits_N_V, temperature), token_N[rows])
                for rows, logits_N_V in _wide(_logits(hidden_N_H, weight_V_H, bias_V))
            ]
        logp_N, entropy_N, log_mass_N = (torch.cat(column) for column in zip(*columns, strict=True))
        ctx.save_for_backward(hidden_N_H, token_N, weight_V_H, bias_V, entropy_N, log_mass_N)
        if not entropy_gradient:
            ctx.mark_non_differentiable(entropy_N)
        return logp_N, entropy_N

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """d logp / d z is 1 at the token minus p; d entropy / d z is -p (log p + entropy)."""
        hidden_N_H, token_N, weight_V_H, bias_V, entropy_N, log_mass_N = ctx.saved_tensors
        own_V_H = weight_V_H.to(hidden_N_H.dtype)
        to_hidden_N_H = torch.empty_like(hidden_N_H)
        to_weight_V_H = torch.zeros_like(weight_V_H) if ctx.needs_input_grad[2] else None
        to_bias_V = torch.zeros_like(bias_V) if ctx.needs_input_grad[3] else None
        for rows, logits_N_V in _logits(hidden_N_H, own_V_H, bias_V):
            for part, logits_n_V in _wide([(rows, logits_N_V)]):
                logp_n_V = _scaled(logits_n_V, ctx.temperature).sub_(log_mass_N[part, None])
                to_logp_n, to_entropy_n = (gradient[part, None] for gradient in gradients)
                factor = to_logp_n
                if ctx.entropy_gradient:
                    factor = factor + to_entropy_n * (logp_n_V + entropy_N[part, None])
                to_n_V = (
                    logp_n_V.exp_().mul_(-factor).scatter_add_(-1, token_N[part, None], to_logp_n)
                )
                logits_n_V.copy_(to_n_V.div_(ctx.temperature))
            to_hidden_N_H[rows] = logits_N_V @ own_V_H
            if to_weight_V_H is not None:
                _add_product(to_weight_V_H, logits_N_V, hidden_N_H[rows])
            if to_bias_V is not None:
                to_bias_V += logits_N_V.sum(0)
        return to_hidden_N_H.to(ctx.hidden_dtype), None, to_weight_V_H, to_bias_V, None, None


def _logits(
    hidden_N_H: Tensor, weight_V_H: Tensor, bias_V: Tensor | None
) -> Iterator[tuple[slice, Tensor]]:
    """Logits of CHUNK rows at a time, in the dtype of the hidden states."""
    weight_V_H = weight_V_H.to(hidden_N_H.dtype)
    bias_V = None if bias_V is None else bias_V.to(hidden_N_H.dtype)
    for start in range(0, len(hidden_N_H), CHUNK):
        rows = slice(start, min(start + CHUNK, len(hidden_N_H)))
        yield rows, functional.linear(hidden_N_H[rows], weight_V_H, bias_V)


def _wide(chunks: Iterable[tuple[slice, Tensor]]) -> Iterator[tuple[slice, Tensor]]:
    """The same rows, WIDE at a time."""
    for rows, logits_N_V in chunks:
        for start in range(rows.start, rows.stop, WIDE):
            part = slice(start, min(start + WIDE, rows.stop))
            yield part, logits_N_V[part.start - rows.start : part.stop - rows.start]


def _scaled(logits_N_V: Tensor, temperature: float) -> Tensor:
    """Logits / temperature in fp32, a tensor of its own."""
    scaled_N_V = logits_N_V.to(torch.float32, copy=True)
    return scaled_N_V.div_(temperature) if temperature != 1 else scaled_N_V


def _add_product(sum_V_H: Tensor, to_logits_N_V: Tensor, hidden_N_H: Tensor) -> None:
    """Add to_logits^T hidden, by HEAD_ROWS rows: in bf16 each needs room of its own."""
    for start in range(0, len(sum_V_H), HEAD_ROWS):
        rows = slice(start, start + HEAD_ROWS)
        sum_V_H[rows] += to_logits_N_V[:, rows].t() @ hidden_N_H


def _summarize(scaled_N_V: Tensor, token_N: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probability of the tokens, entropy, and log of the sum of exp, each of N."""
    top_N = scaled_N_V.amax(-1, keepdim=True)
    scaled_N_V -= top_N
    mass_N_V = scaled_N_V.exp()
    whole_N = mass_N_V.sum(-1)
    weighted_N = torch.einsum("nv,nv->n", mass_N_V, scaled_N_V)
    logp_N = scaled_N_V.gather(-1, token_N[:, None])[:, 0] - whole_N.log()
    return logp_N, whole_N.log() - weighted_N / whole_N, top_N[:, 0] + whole_N.log()
