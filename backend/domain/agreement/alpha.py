"""Krippendorff's alpha with the ordinal distance, and how it moves with each comparison.

Called by `backend.domain.agreement.ranks`. Source: Krippendorff 2011, Computing Krippendorff's
Alpha-Reliability, section C with the ordinal metric: values are as far apart as there are values
between them, each end counted half.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations, product

Coincidences = Counter[tuple[float, float]]
# One annotator's ranks of the responses of a comparison, always in the same order of responses.
Ranks = Sequence[float]


def coincidences(units: Iterable[Sequence[float]]) -> Coincidences:
    """Pairs of values given to the same unit, each weighted 1 / (m - 1) of its m values.

    Units with fewer than two values say nothing.
    """
    found: Coincidences = Counter()
    for values in units:
        for pair in permutations(values, 2):
            found[pair] += 1 / (len(values) - 1)  # type: ignore[assignment]
    return found


def ordinal_alpha(found: Mapping[tuple[float, float], float]) -> float | None:
    """Alpha; None if nothing varies or nothing is shared. 1 = equal ranks, 0 = chance, >= -1."""
    totals = _totals(found)
    n = sum(totals.values())
    if n <= 1:
        return None
    middle = _middles(totals)
    observed = _spread(found, middle) / n
    expected = _spread(_by_chance(totals), middle) / (n * (n - 1))
    return None if math.isclose(expected, 0) else 1 - observed / expected


def alpha_moves(
    found: Mapping[tuple[float, float], float], comparisons: Sequence[Sequence[Ranks]]
) -> list[float]:
    """How far alpha moves with the weight of each comparison; the moves sum to 0.

    `found` are the coincidences of these comparisons, each with two annotators or more, and alpha
    is defined. With A the observed spread and B the expected one, 1 - alpha = n A / B for large n.
    A comparison adds its own pairs to A, and its values to n, to B and to the distances in both.
    """
    totals = _totals(found)
    n, middle, chance = sum(totals.values()), _middles(totals), _by_chance(totals)
    a, b = _spread(found, middle), _spread(chance, middle)
    pull_a, pull_b = _pulls(found, middle), _pulls(chance, middle)
    of_value = {}
    for value in totals:
        apart = sum(weight * (middle[value] - middle[one]) ** 2 for one, weight in totals.items())
        of_value[value] = (a + n * pull_a[value] - n * a / b * (2 * apart + pull_b[value])) / b
    return [-_move(rankings, middle, n / b, of_value) for rankings in comparisons]


def _move(
    rankings: Sequence[Ranks],
    middle: Mapping[float, float],
    of_spread: float,
    of_value: Mapping[float, float],
) -> float:
    values = sum(of_value[one] for ranks in rankings for one in ranks)
    spread = sum(
        (middle[x] - middle[y]) ** 2
        for unit in zip(*rankings, strict=True)
        for x, y in permutations(unit, 2)
    )
    return values + of_spread * spread / (len(rankings) - 1)


def _totals(found: Mapping[tuple[float, float], float]) -> dict[float, float]:
    """How often each value was given, in order of the values."""
    totals: dict[float, float] = defaultdict(float)
    for (value, _), weight in sorted(found.items()):
        totals[value] += weight
    return totals


def _middles(totals: Mapping[float, float]) -> dict[float, float]:
    """Where each value lies when all are put in order: between those below and those above it."""
    middle: dict[float, float] = {}
    below = 0.0
    for value, weight in totals.items():
        middle[value] = below + weight / 2
        below += weight
    return middle


def _by_chance(totals: Mapping[float, float]) -> dict[tuple[float, float], float]:
    return {(x, y): totals[x] * totals[y] for x, y in product(totals, repeat=2)}


def _spread(weights: Mapping[tuple[float, float], float], middle: Mapping[float, float]) -> float:
    return sum(weight * (middle[x] - middle[y]) ** 2 for (x, y), weight in weights.items())


def _pulls(
    weights: Mapping[tuple[float, float], float], middle: Mapping[float, float]
) -> dict[float, float]:
    """How a spread moves through its distances when a value is given once more.

    The value's own middle rises by 1/2, and all above it by 1.
    """
    slopes = dict.fromkeys(middle, 0.0)
    for (x, y), weight in weights.items():
        slopes[x] += 4 * weight * (middle[x] - middle[y])
    pulls: dict[float, float] = {}
    above = 0.0
    for value in reversed(list(middle)):
        pulls[value] = slopes[value] / 2 + above
        above += slopes[value]
    return pulls
