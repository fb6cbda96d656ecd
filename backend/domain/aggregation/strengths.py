"""Bradley-Terry, and Davidson where there are ties: the strengths that explain the votes best.

With strengths theta, a beats b in proportion to exp(theta_a), loses in proportion to exp(theta_b),
and ties in proportion to nu exp((theta_a + theta_b) / 2). Sources: Bradley & Terry 1952; Davidson
1970, On extending the Bradley-Terry model to accommodate ties.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from backend.domain.aggregation.votes import Merged, Pair, by_score, votes
from backend.domain.ranking import Ranking

# Newton's method needs five steps or so; more mean that rounding is all that still moves.
_STEPS = 100
_CLOSE = 1e-10


@dataclass(frozen=True)
class Strengths:
    """The strengths `of` responses, which sum to 0; `tie` is log(nu), None where nobody tied."""

    of: Mapping[str, float]
    tie: float | None


def bradley_terry(rankings: Iterable[Ranking], *, prior: float) -> Merged:
    """One ranking of all responses that somebody placed, or of each part that votes join.

    Equal strengths are tied.
    """
    found = votes(rankings)
    strengths = fit(found.placed, found.wins, found.ties, prior=prior)
    return by_score(found, lambda one: strengths.of[one])


def fit(
    responses: Sequence[str],
    wins: Mapping[Pair, float],
    ties: Mapping[Pair, float],
    *,
    prior: float,
    near: Mapping[str, float] | None = None,
) -> Strengths:
    """The strengths that maximise log-likelihood - prior / 2 (sum theta^2 + log(nu)^2).

    `near` is where to look first, which saves steps and changes nothing else.
    `prior` > 0 keeps them finite where a response won or lost every time; it is the precision of a
    normal prior. The function is strictly concave, so there is one maximum.
    """
    has_ties = any(ties.values())
    counts = _counts(responses, wins, ties)
    at = [0.0 if near is None else near[one] for one in responses] + [0.0] * has_ties
    value = _objective(at, counts, has_ties, prior)
    for _ in range(_STEPS):
        step = _newton_step(at, counts, has_ties, prior)
        # Halved until it climbs: far from the maximum a whole step may go beyond it.
        while True:
            ahead = [x + dx for x, dx in zip(at, step, strict=True)]
            better = _objective(ahead, counts, has_ties, prior)
            if better >= value or max(map(abs, step)) < _CLOSE:
                break
            step = [dx / 2 for dx in step]
        if max(map(abs, step), default=0.0) < _CLOSE:
            break
        at, value = ahead, better
    return Strengths(dict(zip(responses, at, strict=False)), at[-1] if has_ties else None)


# Places of two responses, and how often the first won, the second won, and they were tied.
_Count = tuple[int, int, float, float, float]


def _counts(
    responses: Sequence[str], wins: Mapping[Pair, float], ties: Mapping[Pair, float]
) -> list[_Count]:
    found = []
    for (i, a), (j, b) in combinations(enumerate(responses), 2):
        tied = ties.get((a, b), 0.0) + ties.get((b, a), 0.0)
        count = (i, j, wins.get((a, b), 0.0), wins.get((b, a), 0.0), tied)
        if any(count[2:]):
            found.append(count)
    return found


def _outcomes(at: Sequence[float], i: int, j: int) -> tuple[float, float, float]:
    """Log-probabilities that i wins, that j wins, and that they tie."""
    logits = at[i], at[j], at[-1] + (at[i] + at[j]) / 2
    top = max(logits)
    total = top + math.log(sum(math.exp(one - top) for one in logits))
    return logits[0] - total, logits[1] - total, logits[2] - total


def _objective(
    at: Sequence[float], counts: Sequence[_Count], has_ties: bool, prior: float
) -> float:
    value = -prior / 2 * sum(x * x for x in at)
    for i, j, won, lost, tied in counts:
        if has_ties:
            win, loss, tie = _outcomes(at, i, j)
            value += won * win + lost * loss + tied * tie
        else:
            value -= won * _softplus(at[j] - at[i]) + lost * _softplus(at[i] - at[j])
    return value


def _softplus(x: float) -> float:
    """log(1 + exp(x)), without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _newton_step(
    at: Sequence[float], counts: Sequence[_Count], has_ties: bool, prior: float
) -> list[float]:
    n = len(at)
    slope = [-prior * x for x in at]
    curve = [[prior * (row == column) for column in range(n)] for row in range(n)]
    for count in counts:
        (_add_davidson if has_ties else _add_bradley_terry)(at, count, slope, curve)
    return _solved(curve, slope)


_Matrix = list[list[float]]


def _add_bradley_terry(
    at: Sequence[float], count: _Count, slope: list[float], curve: _Matrix
) -> None:
    """What one pair adds to the slope and to the curvature (its sign turned)."""
    i, j, won, lost, _ = count
    win = 1 / (1 + math.exp(at[j] - at[i]))
    push = won - (won + lost) * win
    bend = (won + lost) * win * (1 - win)
    slope[i] += push
    slope[j] -= push
    curve[i][i] += bend
    curve[j][j] += bend
    curve[i][j] -= bend
    curve[j][i] -= bend


# By how much each outcome (i wins, j wins, tie) raises theta_i, theta_j and log(nu).
_FEATURES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.5, 1.0))


def _add_davidson(at: Sequence[float], count: _Count, slope: list[float], curve: _Matrix) -> None:
    """The same with ties: the covariance of the features, since the model is log-linear."""
    i, j, *seen = count
    chances = [math.exp(one) for one in _outcomes(at, i, j)]
    times = sum(seen)
    places = (i, j, len(at) - 1)
    mean = [sum(p * one[k] for p, one in zip(chances, _FEATURES, strict=True)) for k in range(3)]
    for k, row in enumerate(places):
        slope[row] += sum(n * one[k] for n, one in zip(seen, _FEATURES, strict=True))
        slope[row] -= times * mean[k]
        for m, column in enumerate(places):
            both = sum(p * one[k] * one[m] for p, one in zip(chances, _FEATURES, strict=True))
            curve[row][column] += times * (both - mean[k] * mean[m])


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """x with matrix x = right, by elimination; a positive definite matrix needs no pivots."""
    n = len(right)
    for pivot in range(n):
        for row in range(pivot + 1, n):
            factor = matrix[row][pivot] / matrix[pivot][pivot]
            for column in range(pivot, n):
                matrix[row][column] -= factor * matrix[pivot][column]
            right[row] -= factor * right[pivot]
    found = [0.0] * n
    for row in reversed(range(n)):
        known = sum(matrix[row][column] * found[column] for column in range(row + 1, n))
        found[row] = (right[row] - known) / matrix[row][row]
    return found
