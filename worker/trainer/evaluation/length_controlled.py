"""A win rate at equal length: how often the model would win if it wrote no longer or shorter.

Used by evaluate where it compares with a baseline. Source: Dubois et al. 2024 (arXiv 2404.04475),
without the term of the difficulty of each instruction, which needs many models.
"""

import math
from collections.abc import Sequence
from statistics import pstdev

from intervals.clustered import Interval
from intervals.student import quantile

# Of a normal prior with variance 10 on both coefficients: a model that always wins by being longer
# has no finite fit.
_RIDGE = 0.1
_STEPS = 50


def win_rate_at_equal_length(
    share_N: Sequence[float], longer_N: Sequence[float], prompt_N: Sequence[str]
) -> tuple[float, Interval | None]:
    """The win rate where the difference in length is taken off, and its 95 % interval by prompt.

    share: 1 won, 0.5 tied, 0 lost. longer: tokens by which the model's response is longer.
    P(win) = sigmoid(a + b tanh(longer / deviation of longer)), fitted by Newton's method with a
    small ridge; the win rate is sigmoid(a). The interval is that of a with the sandwich variance
    by prompt, carried through the sigmoid; none with one prompt.
    """
    deviation = pstdev(longer_N) or 1.0
    x_N = [math.tanh(longer / deviation) for longer in longer_N]
    a, b, inverse = _fitted(share_N, x_N)
    moves: dict[str, list[float]] = {}
    for share, x, prompt in zip(share_N, x_N, prompt_N, strict=True):
        residual = share - _sigmoid(a + b * x)
        own = moves.setdefault(prompt, [0.0, 0.0])
        own[0] += residual
        own[1] += residual * x
    n = len(moves)
    if n < 2:
        return _sigmoid(a), None
    pushes = (inverse[0] * first + inverse[1] * second for first, second in moves.values())
    error = math.sqrt(math.fsum(push * push for push in pushes) * n / (n - 1))
    half = quantile(0.975, n - 1) * error
    return _sigmoid(a), (_sigmoid(a - half), _sigmoid(a + half))


def _fitted(
    share_N: Sequence[float], x_N: Sequence[float]
) -> tuple[float, float, tuple[float, float]]:
    """a, b, and the row of a in the inverse of the Hessian."""
    a, b = 0.0, 0.0
    row = (0.0, 0.0)
    for _ in range(_STEPS):
        rate_N = [_sigmoid(a + b * x) for x in x_N]
        spread_N = [rate * (1 - rate) for rate in rate_N]
        slope_a = math.fsum(s - r for s, r in zip(share_N, rate_N, strict=True)) - _RIDGE * a
        slope_b = (
            math.fsum((s - r) * x for s, r, x in zip(share_N, rate_N, x_N, strict=True))
            - _RIDGE * b
        )
        h_aa = math.fsum(spread_N) + _RIDGE
        h_ab = math.fsum(w * x for w, x in zip(spread_N, x_N, strict=True))
        h_bb = math.fsum(w * x * x for w, x in zip(spread_N, x_N, strict=True)) + _RIDGE
        determinant = h_aa * h_bb - h_ab * h_ab
        row = (h_bb / determinant, -h_ab / determinant)
        a += row[0] * slope_a + row[1] * slope_b
        b += (-h_ab * slope_a + h_aa * slope_b) / determinant
    return a, b, row


def _sigmoid(value: float) -> float:
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    return math.exp(value) / (1 + math.exp(value))
