"""Run a model's body over a batch and hand out hidden states at places of its rows.

Used by `logprobs`, `heads` and sft. What rows begin with alike - the system prompt, the prompt of
several responses - is computed once, with its gradient, and padding not at all. Axes: N tokens of a
prefix tree.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, DynamicLayer

from worker.trainer.data import prefix_tree
from worker.trainer.data.prefix_tree import PrefixTree
from worker.trainer.data.tokens import Batch
from worker.trainer.models import attention

# As long as a stem must be to become a segment of its own.
PROBE_TOKENS = 16
TREE_FUNCTIONS = {"eager": attention.tree_eager, "sdpa": attention.tree_sdpa}


def hidden_at(body: nn.Module, batch: Batch, place_B_T: Tensor) -> Tensor:
    """Last hidden states at the marked places of the rows, M x H, in row order."""
    if batch.tree is not None and takes_trees(body):
        hidden_N_H = _tree_states(body, batch.tree)
        return hidden_N_H[batch.tree.node_B_T[place_B_T]]
    # Padding on the right needs no mask: a causal model never looks at what comes later.
    hidden_B_T_H: Tensor = body(input_ids=batch.ids_B_T, use_cache=False).last_hidden_state
    return hidden_B_T_H[place_B_T]


def install_trees(model: PreTrainedModel) -> None:
    """Let a model compute prefix trees, with the attention that it was loaded with.

    One that does not give a tree the states of its rows (its layers are not plain attention over
    all that came before) stays as it is, and computes padded rows.
    """
    loaded_with = str(model.config._attn_implementation)
    if not _is_plain(model) or loaded_with not in TREE_FUNCTIONS:
        return
    model.set_attn_implementation(TREE_FUNCTIONS[loaded_with].__name__)
    if not _is_exact(model):
        model.set_attn_implementation(loaded_with)


def _is_plain(model: PreTrainedModel) -> bool:
    layers = DynamicCache(config=_config(model)).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


@torch.no_grad()
def _is_exact(model: PreTrainedModel) -> bool:
    body = model.get_decoder() if hasattr(model, "get_decoder") else model
    n_tokens = body.get_input_embeddings().num_embeddings
    stem = [place % n_tokens for place in range(PROBE_TOKENS)]
    rows_B_T = torch.tensor([[*stem, 0, 1], [*stem, 1, 2]], device=model.device)
    tree = prefix_tree.build(rows_B_T.tolist(), model.device)
    try:
        found = _tree_states(body, tree)[tree.node_B_T[:, -2:]]
    except (TypeError, ValueError, KeyError, RuntimeError):
        return False
    expected = body(input_ids=rows_B_T, use_cache=False).last_hidden_state[:, -2:]
    distance = float((found - expected).float().norm() / expected.float().norm())
    return distance < math.sqrt(torch.finfo(expected.dtype).eps)


def _tree_states(body: nn.Module, tree: PrefixTree) -> Tensor:
    states_1_N_H: Tensor = body(
        input_ids=tree.ids_N[None],
        position_ids=tree.position_N[None],
        # Of four axes, it is passed on as it is: no mask of N x N is made.
        attention_mask=torch.ones(1, 1, 1, 1, device=tree.ids_N.device),
        use_cache=False,
        tree=tree,
    ).last_hidden_state
    return states_1_N_H[0]


def takes_trees(model: nn.Module) -> bool:
    """True if `install_trees` found that this model computes trees exactly."""
    implementation = _config(model)._attn_implementation
    return implementation in {function.__name__ for function in TREE_FUNCTIONS.values()}


def _config(model: nn.Module) -> Any:
    return model.config.get_text_config()  # type: ignore[operator, union-attr]
