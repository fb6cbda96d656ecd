"""Run a model's body over a batch, the tokens that all rows share only once.

Used by `logprobs` and `reward_head`. All rows usually begin with the same system prompt; computing
it once, with its gradient, is exact and saves that share of the work.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers.cache_utils import DynamicCache, DynamicLayer

from worker.trainer.data import Batch

# Below this the second pass over the layers costs more than it saves.
FEWEST_SHARED_TOKENS = 8


def hidden_states(body: nn.Module, batch: Batch) -> tuple[Tensor, int]:
    """Last hidden states of the rows without their first k tokens, B x (T - k) x H, and k.

    k is 0, or the number of tokens that all rows share.
    """
    n_rows, n_tokens = batch.ids_B_T.shape
    cache = DynamicCache(config=_config(body))
    is_plain = all(type(layer) is DynamicLayer for layer in cache.layers)
    if n_rows == 1 or batch.n_shared < FEWEST_SHARED_TOKENS or not is_plain:
        hidden: Tensor = body(input_ids=batch.ids_B_T, use_cache=False).last_hidden_state
        return hidden, 0
    body(input_ids=batch.ids_B_T[:1, : batch.n_shared], past_key_values=cache, use_cache=True)
    for layer in cache.layers:
        layer.keys = layer.keys.expand(n_rows, -1, -1, -1)
        layer.values = layer.values.expand(n_rows, -1, -1, -1)
    position_1_T = torch.arange(batch.n_shared, n_tokens, device=batch.ids_B_T.device)[None]
    rest: Tensor = body(
        input_ids=batch.ids_B_T[:, batch.n_shared :],
        position_ids=position_1_T,
        past_key_values=cache,
        use_cache=True,
    ).last_hidden_state
    return rest, batch.n_shared


def _config(body: nn.Module) -> Any:
    return body.config.get_text_config()  # type: ignore[operator, union-attr]
