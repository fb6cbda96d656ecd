"""Log-probabilities of response tokens under a model, without ever holding B x T x V numbers.

Used by the methods that train a language model, and by evaluations. The body runs over whole rows;
the head runs over action positions only, a part of the vocabulary at a time. Axes: B rows, T
tokens, N action tokens in row order, V vocabulary, C tokens of one part of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from worker.trainer.data.tokens import Batch
from worker.trainer.models.body import hidden_at

# Logits that are there at once: 16 MB in fp32.
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class TokenLogp:
    """Log-probability of each action token and entropy of its distribution, in nats.

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
    for rows in _slices(len(token_N), AT_ONCE // len(head.weight)):
        logp_N_V = (head(hidden_N_H[rows]).float() / temperature).log_softmax(-1)
        ref_N_V = (ref_head(ref_hidden_N_H[rows]).float() / temperature).log_softmax(-1)
        token = token_N[rows, None]
        kl_N = (logp_N_V.exp() * (logp_N_V - ref_N_V)).sum(-1)
        parts.append((kl_N, logp_N_V.gather(-1, token)[:, 0], ref_N_V.gather(-1, token)[:, 0]))
    kl, logp, ref = (torch.cat(column) for column in zip(*parts, strict=True))
    return kl, logp, ref


class _HeadLogp(torch.autograd.Function):
    """Log-probabilities and entropies by as few passes over as few logits as there are.

    A part of the vocabulary at a time, so that each weight of the head is read, and its gradient
    written, once; the softmax is summed up as in Milakov and Gimelshein 2018 (arXiv 1805.02867).
    Computing the logits anew for the gradient costs less than keeping them.
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
        whole_N, mean_N, own_N = hidden_N_H.new_zeros(3, len(token_N), dtype=torch.float32)
        top_N = torch.full_like(whole_N, -torch.inf)
        with torch.autocast(device_type, enabled=False):
            for part, _, scaled_N_C in _logits(hidden_N_H, weight_V_H, bias_V, temperature):
                is_here_N, place_N_1 = _places(token_N, part)
                own_N = torch.where(is_here_N, scaled_N_C.gather(-1, place_N_1)[:, 0], own_N)
                above_N, top_N = top_N, torch.maximum(top_N, scaled_N_C.amax(-1))
                mass_N_C = (scaled_N_C - top_N[:, None]).exp_()
                shrunk_N = (above_N - top_N).exp_()
                whole_N = shrunk_N * whole_N + mass_N_C.sum(-1)
                mean_N = shrunk_N * mean_N + torch.einsum("nc,nc->n", mass_N_C, scaled_N_C)
        log_mass_N = top_N + whole_N.log()
        entropy_N = log_mass_N - mean_N / whole_N
        ctx.save_for_backward(hidden_N_H, token_N, weight_V_H, bias_V, entropy_N, log_mass_N)
        if not entropy_gradient:
            ctx.mark_non_differentiable(entropy_N)
        return own_N - log_mass_N, entropy_N

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """d logp / d z is 1 at the token minus p; d entropy / d z is -p (log p + entropy)."""
        to_logp_N, to_entropy_N = gradients
        hidden_N_H, token_N, weight_V_H, bias_V, entropy_N, log_mass_N = ctx.saved_tensors
        to_hidden_N_H = torch.zeros_like(hidden_N_H, dtype=torch.float32)
        to_weight_V_H = torch.empty_like(weight_V_H) if ctx.needs_input_grad[2] else None
        to_bias_V = torch.empty_like(bias_V) if ctx.needs_input_grad[3] else None
        parts = _logits(hidden_N_H, weight_V_H, bias_V, ctx.temperature)
        for part, weight_C_H, scaled_N_C in parts:
            logp_N_C = scaled_N_C.sub_(log_mass_N[:, None])
            factor = to_logp_N[:, None]
            if ctx.entropy_gradient:
                factor = factor + to_entropy_N[:, None] * (logp_N_C + entropy_N[:, None])
            to_N_C = logp_N_C.exp_().mul_(-factor)
            is_here_N, place_N_1 = _places(token_N, part)
            to_N_C.scatter_add_(-1, place_N_1, torch.where(is_here_N, to_logp_N, 0.0)[:, None])
            to_N_C = to_N_C.div_(ctx.temperature).to(weight_C_H.dtype)
            to_hidden_N_H += to_N_C @ weight_C_H
            if to_weight_V_H is not None:
                to_weight_V_H[part] = to_N_C.t() @ hidden_N_H
            if to_bias_V is not None:
                to_bias_V[part] = to_N_C.sum(0)
        return to_hidden_N_H.to(ctx.hidden_dtype), None, to_weight_V_H, to_bias_V, None, None


def _logits(
    hidden_N_H: Tensor, weight_V_H: Tensor, bias_V: Tensor | None, temperature: float
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Part after part of the vocabulary: where, its weights, and logits / temperature in fp32."""
    for part in _slices(len(weight_V_H), AT_ONCE // max(len(hidden_N_H), 1)):
        weight_C_H = weight_V_H[part].to(hidden_N_H.dtype)
        bias_C = None if bias_V is None else bias_V[part].to(hidden_N_H.dtype)
        scaled_N_C = functional.linear(hidden_N_H, weight_C_H, bias_C).float()
        yield part, weight_C_H, scaled_N_C.div_(temperature) if temperature != 1 else scaled_N_C


def _places(token_N: Tensor, part: slice) -> tuple[Tensor, Tensor]:
    """Which tokens are in this part of the vocabulary, and where in it, N x 1; others anywhere.

    The rows are not picked out: a card would be waited for, part after part, to learn how many.
    """
    place_N = token_N - part.start
    last = part.stop - part.start - 1
    return (place_N >= 0) & (place_N <= last), place_N.clamp(0, last)[:, None]


def _slices(stop: int, size: int) -> Iterator[slice]:
    """Cut the places from 0 to before `stop` into slices of `size`."""
    size = max(size, 1)
    return (slice(first, min(first + size, stop)) for first in range(0, stop, size))
