"""Student's t distribution with whole degrees of freedom, without a library for statistics."""

import math
from functools import cache

_LARGEST = 1e4
_PRECISION = 1e-9


def cdf(t: float, freedom: int) -> float:
    """P(T <= t), by the finite sums of Abramowitz & Stegun 26.7.3 and 26.7.4.

    Raises ValueError for no degree of freedom.
    """
    if freedom < 1:
        raise ValueError(f"found {freedom} degrees of freedom; expected at least 1")
    angle = math.atan2(t, math.sqrt(freedom))
    cos2 = math.cos(angle) ** 2
    # Each term is the one before times cos^2 and a fraction: (n - 1) / n for n = 2, 4, ... or 3, 5.
    is_odd = freedom % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    terms = [term] if freedom > 1 else []
    for n in range(3 if is_odd else 2, freedom - 1, 2):
        term *= cos2 * (n - 1) / n
        terms.append(term)
    between = math.sin(angle) * math.fsum(terms)
    if is_odd:
        between = 2 / math.pi * (angle + between)
    return (1 + between) / 2


@cache
def quantile(share: float, freedom: int) -> float:
    """The t below which a share in (0.5, 1) of the distribution lies; by halving."""
    low, high = 0.0, _LARGEST
    while high - low > _PRECISION * max(1.0, low):
        middle = (low + high) / 2
        if cdf(middle, freedom) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
