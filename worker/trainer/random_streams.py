"""Random numbers as a function of what they are for: (seed, name, step, ...).

Every module that needs chance asks here. No stream has a state that outlives its use, so nothing
has to be saved, and what one part draws never moves the numbers of another.
"""

import hashlib

import torch
from torch import Tensor


def derive(seed: int, *key: str | int) -> int:
    """A seed in 0..2^63-1 for this purpose; equal arguments give equal seeds."""
    text = "\x1f".join([str(seed), *(f"{type(part).__name__}:{part}" for part in key)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def stream(seed: int, *key: str | int) -> torch.Generator:
    """A fresh CPU generator for this purpose."""
    return torch.Generator().manual_seed(derive(seed, *key))


def uniforms(n: int, seed: int, *key: str | int) -> Tensor:
    """n numbers in [0, 1), float64."""
    return torch.rand(n, generator=stream(seed, *key), dtype=torch.float64)


def permutation(n: int, seed: int, *key: str | int) -> list[int]:
    """The numbers 0..n-1 in random order."""
    order: list[int] = torch.randperm(n, generator=stream(seed, *key)).tolist()
    return order
