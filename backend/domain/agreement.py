"""How far annotators agree, and what each one's judgments look like.

Called by `backend.store.data.judgments` for the agreement route. A number that is not defined is
None, never 0 or 1.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import median

from backend.domain.ranking import Ranking
from backend.schemas.numbers import mean

RESAMPLES = 500
# A bootstrap beyond this many comparisons adds seconds and no digits that anybody reads.
MOST_RESAMPLED = 2000

Coincidences = Counter[tuple[float, float]]


@dataclass(frozen=True)
class JudgedComparison:
    """One judgment with what was on the screen; `content` maps response id to text."""

    comparison_id: str
    prompt_id: str
    user_id: str
    ranking: Ranking
    content: Mapping[str, str]
    presented_order: Sequence[str]
    active_s: float | None


def ranks(ranking: Ranking) -> dict[str, float]:
    """Each placed response's rank, 1 = best; tied responses share the mean of their ranks."""
    found: dict[str, float] = {}
    before = 0
    for tier in ranking.tiers:
        shared = before + (len(tier) + 1) / 2
        found.update(dict.fromkeys(tier, shared))
        before += len(tier)
    return found


def coincidences(units: Sequence[Sequence[float]]) -> Coincidences:
    """Pairs of values given to the same unit, each weighted 1 / (m - 1) of its m values.

    Units with fewer than two values say nothing. Source: Krippendorff 2011, Computing
    Krippendorff's Alpha-Reliability.
    """
    found: Coincidences = Counter()
    for values in units:
        for pair in permutations(values, 2):
            found[pair] += 1 / (len(values) - 1)  # type: ignore[assignment]
    return found


def ordinal_alpha(found: Mapping[tuple[float, float], float]) -> float | None:
    """Krippendorff's alpha with the ordinal distance; None if nothing varies or nothing is shared.

    1 = perfect agreement, 0 = chance. Source: Krippendorff 2011, section C with the ordinal metric.
    """
    totals: dict[float, float] = defaultdict(float)
    for (value, _), weight in found.items():
        totals[value] += weight
    n = sum(totals.values())
    if n <= 1:
        return None
    middle: dict[float, float] = {}
    below = 0.0
    for value in sorted(totals):
        middle[value] = below + totals[value] / 2
        below += totals[value]
    observed = sum(w * (middle[a] - middle[b]) ** 2 for (a, b), w in found.items()) / n
    expected = (
        2
        * sum(
            totals[a] * totals[b] * (middle[a] - middle[b]) ** 2 for a, b in combinations(totals, 2)
        )
        / (n * (n - 1))
    )
    return None if math.isclose(expected, 0) else 1 - observed / expected


def agreement(
    judged: Sequence[JudgedComparison], *, seed: int = 0
) -> tuple[float | None, tuple[float, float] | None, int]:
    """Alpha, its 95 % interval by resampling comparisons, and how many comparisons it rests on.

    A unit is one response of one comparison, its values the ranks it was given; comparisons with
    fewer than two rankings do not count.
    """
    by_comparison: dict[str, list[dict[str, float]]] = defaultdict(list)
    for one in judged:
        if one.ranking.tiers:
            by_comparison[one.comparison_id].append(ranks(one.ranking))
    each = [
        coincidences(_units(rankings)) for rankings in by_comparison.values() if len(rankings) > 1
    ]
    alpha = ordinal_alpha(_summed(each))
    if alpha is None:
        return None, None, len(each)
    return alpha, _interval(each, seed), len(each)


def _units(rankings: Sequence[Mapping[str, float]]) -> list[list[float]]:
    units: dict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for response, rank in ranking.items():
            units[response].append(rank)
    return list(units.values())


def _summed(each: Sequence[Coincidences]) -> dict[tuple[float, float], float]:
    total: dict[tuple[float, float], float] = defaultdict(float)
    for found in each:
        for pair, weight in found.items():
            total[pair] += weight
    return total


def _interval(each: Sequence[Coincidences], seed: int) -> tuple[float, float] | None:
    if len(each) < 2:
        return None
    draw = random.Random(seed)
    used = each if len(each) <= MOST_RESAMPLED else draw.sample(each, MOST_RESAMPLED)
    drawn = (
        ordinal_alpha(_summed(draw.choices(used, k=len(used)))) for _ in range(_resamples(used))
    )
    alphas = sorted(alpha for alpha in drawn if alpha is not None)
    if not alphas:
        return None
    return alphas[int(0.025 * len(alphas))], alphas[min(int(0.975 * len(alphas)), len(alphas) - 1)]


def _resamples(each: Sequence[Coincidences]) -> int:
    # About a second of plain Python at most.
    return min(RESAMPLES, max(100, 200_000 // len(each)))


@dataclass(frozen=True)
class AnnotatorFacts:
    """What one annotator's judgments look like; None where there is too little to say."""

    judgments: int
    first_shown_rate: float | None
    longer_rate: float | None
    tie_rate: float | None
    self_consistency: float | None
    median_active_s: float | None


def annotator_facts(judged: Sequence[JudgedComparison]) -> AnnotatorFacts:
    """The facts of one annotator.

    first_shown_rate: share of the best tier that was shown first, 1 / K by chance. longer_rate:
    pairs of unequal length won by the longer. tie_rate: ties among all placed pairs.
    self_consistency: pairs of equal texts judged more than once that got the same outcome.
    """
    ranked = [one for one in judged if one.ranking.tiers]
    ties = sum(len(one.ranking.ties) for one in ranked)
    wins = sum(len(one.ranking.wins) for one in ranked)
    return AnnotatorFacts(
        judgments=len(judged),
        first_shown_rate=mean([_first_shown(one) for one in ranked if one.presented_order]),
        longer_rate=mean([share for one in ranked for share in _longer(one)]),
        tie_rate=ties / (ties + wins) if ties + wins else None,
        self_consistency=_self_consistency(ranked),
        median_active_s=_median([one.active_s for one in judged if one.active_s is not None]),
    )


def _first_shown(one: JudgedComparison) -> float:
    best = one.ranking.tiers[0]
    return (one.presented_order[0] in best) / len(best)


def _longer(one: JudgedComparison) -> list[float]:
    lengths = {response: len(text) for response, text in one.content.items()}
    return [
        float(lengths[better] > lengths[worse])
        for better, worse in one.ranking.wins
        if lengths[better] != lengths[worse]
    ]


def _self_consistency(ranked: Sequence[JudgedComparison]) -> float | None:
    outcomes: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for one in ranked:
        pairs = [(pair, True) for pair in one.ranking.wins]
        pairs += [(pair, False) for pair in one.ranking.ties]
        for (left, right), is_win in pairs:
            a, b = one.content[left], one.content[right]
            if a != b:
                outcome = (1 if a < b else -1) if is_win else 0
                outcomes[one.prompt_id, min(a, b), max(a, b)].append(outcome)
    repeated = [values for values in outcomes.values() if len(values) > 1]
    return mean([float(x == y) for values in repeated for x, y in combinations(values, 2)])


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
