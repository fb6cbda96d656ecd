"""How the values of a tensor are spread, in bins that are the same for every step and every run."""

import torch
from torch import Tensor

from backend.schemas.run_directory.events import BIN_SHIFT, SMALLEST, Histogram


@torch.no_grad()
def histogram(value_N: Tensor) -> Histogram:
    """How many values lie in each bin; of numbers that are not finite nothing is told.

    A bin is the sign and the first bits of a float32
    (`backend.schemas.run_directory.events.Histogram`).
    """
    value_N = value_N[value_N.isfinite()].to("cpu", torch.float32)
    # A float64 may have become infinite.
    value_N = value_N.clamp(-torch.finfo(torch.float32).max, torch.finfo(torch.float32).max)
    size_N = torch.where(value_N.abs() < SMALLEST, 0.0, value_N.abs())
    bin_N = (size_N.view(torch.int32) >> BIN_SHIFT) * value_N.sign().to(torch.int32)
    bins, counts = bin_N.unique(return_counts=True)
    return Histogram(bins=bins.tolist(), counts=counts.tolist())
