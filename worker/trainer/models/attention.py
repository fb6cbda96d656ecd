"""Attention over a prefix tree: one call per block of segments that are about equally long.

Used by `body`. Everything else in a transformer works token by token, so a tree goes through it
without padding or repetition; only here do its tokens meet. Calls without a tree (sampling) get the
ordinary sdpa, but for single tokens on a CPU.

Axes: within one block S segments, Q query tokens of each, L key tokens that they see, M own tokens
of the block; A attention heads (in `decode`: key-value heads), X query heads per key-value head, F
features of one head, D features of all heads; SQ is S and Q flattened.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask
from transformers.modeling_utils import AttentionInterface

from worker.trainer.data.prefix_tree import Block, PrefixTree

Kernel = Callable[[Tensor, Tensor, Tensor, Block, float, float], Tensor]


def tree_eager(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attention by two products and a softmax; `options` may hold a `tree`."""
    return _attend(_eager, module, query, key, value, attention_mask, **options)


def tree_sdpa(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attention by torch's fused kernels; `options` may hold a `tree`."""
    return _attend(_sdpa, module, query, key, value, attention_mask, **options)


for _function in (tree_eager, tree_sdpa):
    AttentionInterface.register(_function.__name__, _function)
    AttentionMaskInterface.register(_function.__name__, sdpa_mask)


def _attend(
    kernel: Kernel,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float,
    dropout: float = 0.0,
    tree: PrefixTree | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Query, key and value are 1 x heads x N x size; the result is 1 x N x heads x size."""
    if tree is None and query.shape[2] == 1 and query.device.type == "cpu":
        return decode(query, key, value, attention_mask, scaling), None
    if tree is None:
        found: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, **options
        )
        return found
    n_heads = query.shape[1]
    # Rotary embeddings may have left these in fp32; autocast would take the products in bf16.
    query_N_D, key_N_D, value_N_D = (
        x[0].transpose(0, 1).flatten(1).to(value.dtype) for x in (query, key, value)
    )
    parts = []
    for block in tree.blocks:
        own = slice(block.start, block.stop)
        query_S_Q_D = _padded(query_N_D[own], block)
        if block.key_S_L is None:
            key_S_L_D, value_S_L_D = _padded(key_N_D[own], block), _padded(value_N_D[own], block)
        else:
            key_S_L_D, value_S_L_D = key_N_D[block.key_S_L], value_N_D[block.key_S_L]
        mixed_S_A_Q_F = kernel(
            _heads(query_S_Q_D, query.shape[-1]),
            _heads(key_S_L_D, key.shape[-1]),
            _heads(value_S_L_D, value.shape[-1]),
            block,
            scaling,
            dropout,
        )
        mixed_SQ_D = mixed_S_A_Q_F.transpose(1, 2).flatten(2).flatten(0, 1)
        parts.append(mixed_SQ_D if block.place_M is None else mixed_SQ_D[block.place_M])
    mixed_N_D = torch.cat(parts) if len(parts) > 1 else parts[0]
    return mixed_N_D.unflatten(-1, (n_heads, -1))[None], None


def decode(
    query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, scaling: float
) -> Tensor:
    """Attention of one new token per row; torch's kernel for CPUs takes five times as long.

    Query is B x heads x 1 x size, key and value B x heads of keys x T x size, the mask B x 1 x 1 x
    T with True where a key is seen; the result is B x 1 x heads x size. Heads that share keys are
    rows of one product.
    """
    n_rows, n_heads, _, size = query.shape
    query_B_A_X_F = (query * scaling).reshape(n_rows, key.shape[1], -1, size)
    scores_B_A_X_T = query_B_A_X_F @ key.transpose(-1, -2)
    if attention_mask is not None:
        scores_B_A_X_T = scores_B_A_X_T.masked_fill(~attention_mask, -torch.inf)
    weights_B_A_X_T = scores_B_A_X_T.softmax(-1, dtype=torch.float32).to(value.dtype)
    return (weights_B_A_X_T @ value).reshape(n_rows, 1, n_heads, size)


def _heads(x_S_T_D: Tensor, size: int) -> Tensor:
    return x_S_T_D.unflatten(-1, (-1, size)).transpose(1, 2)  # type: ignore[no-any-return]


def _padded(x_M_D: Tensor, block: Block) -> Tensor:
    if block.place_M is not None:
        n_places = block.n_segments * block.bias_S_Q_L.shape[1]
        x_M_D = x_M_D.new_zeros(n_places, x_M_D.shape[1]).index_copy(0, block.place_M, x_M_D)
    return x_M_D.view(block.n_segments, -1, x_M_D.shape[1])


def _eager(
    query: Tensor, key: Tensor, value: Tensor, block: Block, scaling: float, dropout: float
) -> Tensor:
    """Attend by two products; heads that share keys are rows of one product.

    The softmax sums in fp32 and is kept in the dtype of the values: autocast would keep both.
    """
    n_rows, n_heads, n_queries, size = query.shape
    query = (query * scaling).reshape(n_rows, key.shape[1], -1, size)
    scores = (query @ key.transpose(-1, -2)).unflatten(2, (-1, n_queries))
    bias = block.bias_S_Q_L[:, None, None].to(scores.dtype)
    with torch.autocast(query.device.type, enabled=False):
        weights = functional.dropout((scores + bias).softmax(-1), dropout)
    return (weights.flatten(2, 3) @ value).reshape(n_rows, n_heads, n_queries, -1)


def _sdpa(
    query: Tensor, key: Tensor, value: Tensor, block: Block, scaling: float, dropout: float
) -> Tensor:
    """Attend by torch's own kernels; without a stem by the fastest, which know the causal mask.

    With a mask of their own those for GPUs want as many heads of keys as of queries.
    """
    is_causal = block.key_S_L is None
    if not is_causal:
        n_repeats = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(n_repeats, dim=1) for x in (key, value))
    return functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=None if is_causal else block.bias_S_Q_L[:, None].to(query.dtype),
        dropout_p=dropout,
        scale=scaling,
        is_causal=is_causal,
        enable_gqa=query.shape[1] != key.shape[1],
    )
