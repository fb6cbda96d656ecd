"""The beta distribution, without a library for statistics."""

import math
from functools import cache

_PRECISION = 1e-12
_SMALLEST = 1e-300
_HALVINGS = 50
_MOST_TERMS = 10_000


def cdf(x: float, a: float, b: float) -> float:
    """P(X <= x) of the beta distribution with positive a and b.

    By the continued fraction DLMF 8.17.22, on the side of the mean where it converges fast.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    log_density = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_density + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


@cache
def quantile(share: float, a: float, b: float) -> float:
    """The x below which a share in (0, 1) of the distribution lies; by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if cdf(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _fraction(x: float, a: float, b: float) -> float:
    """1 / (1 + d1 / (1 + d2 / (1 + ...))), by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for place in range(1, _MOST_TERMS):
        term = _coefficient(place, x, a, b)
        d = 1 / _not_zero(1 + term * d)
        c = _not_zero(1 + term / c)
        value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return 1 / value


def _coefficient(place: int, x: float, a: float, b: float) -> float:
    m = place // 2
    if place % 2 == 0:
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))


def _not_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST
