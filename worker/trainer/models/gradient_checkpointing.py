"""Blocks that are computed again for the backward pass, so that of each its input alone is kept.

Installed by `loading` and by the critic if the config asks for it. Memory then grows with the width
of a token times the blocks, not with all that a block computes of it; the step takes about a third
longer. Source: Chen et al. 2016 (arXiv 1604.06174), section 4.1, with a checkpoint at every block.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers.modeling_layers import GradientCheckpointingLayer


def install(model: nn.Module) -> None:
    """Let every block of a model compute itself again; numbers stay the same to the bit.

    Passes without a gradient, and those that read or fill a cache, are as before.
    """
    for block in model.modules():
        if isinstance(block, GradientCheckpointingLayer):
            # The block's own switch is bound to training mode, and policies train in eval mode.
            block.forward = partial(_forward, block.forward)


def _forward(compute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if not torch.is_grad_enabled() or kwargs.get("past_key_values") is not None:
        return compute(*args, **kwargs)
    return checkpoint(compute, *args, use_reentrant=False, **kwargs)
