"""Log-probabilities of response tokens under a model, without ever holding B x T x V numbers.

Used by sft, policy_gradient, generate and evaluations. The body runs over whole rows; the head runs
over action positions only, in chunks. Axes: B rows, T tokens, N action tokens in row order.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

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

    def chunk_logp(hidden: Tensor, token: Tensor) -> tuple[Tensor, Tensor]:
        logits = head(hidden).float() / temperature
        logsumexp = logits.logsumexp(-1)
        logp = logits.gather(-1, token[:, None]).squeeze(-1) - logsumexp
        with torch.set_grad_enabled(entropy_gradient and torch.is_grad_enabled()):
            probability = (logits - logsumexp[:, None]).exp()
            entropy = logsumexp - (probability * logits).sum(-1)
        return logp, entropy

    parts = _in_chunks(chunk_logp, hidden_N_H, token_N)
    return TokenLogp(
        torch.cat([logp for logp, _ in parts]),
        torch.cat([entropy for _, entropy in parts]),
        hidden_N_H,
    )


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


def _in_chunks(
    function: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], hidden_N_H: Tensor, token_N: Tensor
) -> list[tuple[Tensor, Tensor]]:
    chunks = zip(hidden_N_H.split(CHUNK), token_N.split(CHUNK), strict=True)
    if torch.is_grad_enabled():
        # Recomputing the logits in the backward pass costs less than keeping them.
        return [checkpoint(function, *chunk, use_reentrant=False) for chunk in chunks]
    return [function(*chunk) for chunk in chunks]
