"""Random ragged batches for hypothesis: masks with holes and empty rows, rubbish where masked."""

import math
from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

# What a masked place may hold.
RUBBISH = [math.nan, math.inf, -math.inf, 1e30, 0.0]


@dataclass(frozen=True)
class Batch:
    """A mask and as many tensors of its shape as one asks for; axes B x T."""

    mask_B_T: Tensor
    seed: int
    rubbish: float

    def normal(self, name: str, *, scale: float = 1.0) -> Tensor:
        """Normal numbers in float64 at the places that count, rubbish elsewhere."""
        generator = torch.Generator().manual_seed(self.seed * 1000 + sum(name.encode()))
        value_B_T = torch.randn(self.mask_B_T.shape, generator=generator, dtype=torch.float64)
        return (scale * value_B_T).masked_fill(~self.mask_B_T, self.rubbish)


@st.composite
def batches(draw: st.DrawFn, *, fewest_rows: int = 1) -> Batch:
    """Up to 6 rows of up to 7 places; a row may be empty, and so may all."""
    n_rows, n_tokens = draw(st.integers(fewest_rows, 6)), draw(st.integers(1, 7))
    row = st.lists(st.booleans(), min_size=n_tokens, max_size=n_tokens)
    mask = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    return Batch(
        torch.tensor(mask).view(n_rows, n_tokens),
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from(RUBBISH)),
    )
