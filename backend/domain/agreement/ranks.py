"""Agreement on ranks, among comparisons of one size: Krippendorff's alpha and Kendall's W.

Called by `backend.domain.agreement.overview`. Ranks of different numbers of responses cannot be
mixed: annotators who flip coins between two responses and among eight would seem to agree, because
both give small ranks to the one and larger ranks to the other. So of each comparison only the
responses count that all its annotators placed, ranked among themselves, and each number of them
stands alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.agreement.alpha import (
    Coincidences,
    Ranks,
    alpha_moves,
    coincidences,
    ordinal_alpha,
)
from backend.domain.agreement.interval import interval_of_share
from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import FEWEST
from backend.domain.ranking import Ranking
from backend.schemas.numbers import mean
from intervals.interval import Interval


@dataclass(frozen=True)
class RankAgreement:
    """Comparisons in which all annotators placed this many same responses.

    `alpha`: 1 = equal ranks, 0 = chance. `kendalls_w`: the mean over comparisons, from 0 to 1;
    annotators who rank at random reach `kendalls_w_by_chance`, 1 / (their number). The intervals
    cover 95 %; None below 20 comparisons.
    """

    responses: int
    comparisons: int
    alpha: float | None
    alpha_interval: Interval | None
    kendalls_w: float | None
    kendalls_w_interval: Interval | None
    kendalls_w_by_chance: float | None


def ranks(ranking: Ranking, among: Iterable[str]) -> dict[str, float]:
    """The ranks of these responses among each other, 1 = best; tied ones share their mean."""
    counted = set(among)
    found: dict[str, float] = {}
    for tier in ranking.tiers:
        tied = [one for one in tier if one in counted]
        found.update(dict.fromkeys(tied, len(found) + (len(tied) + 1) / 2))
    return found


def rank_agreement(judged: Iterable[Judged]) -> list[RankAgreement]:
    """Alpha and W for each number of responses that annotators ranked together, smallest first."""
    by_comparison: dict[str, dict[str, Ranking]] = defaultdict(dict)
    for one in judged:
        if one.ranking.tiers:
            by_comparison[one.comparison_id][one.user_id] = one.ranking
    by_size: dict[int, list[list[Ranks]]] = defaultdict(list)
    for rankings in by_comparison.values():
        common = ranked_together(list(rankings.values()))
        if common and len(common[0]) > 1:
            by_size[len(common[0])].append(common)
    return [_of_size(size, found) for size, found in sorted(by_size.items())]


def ranked_together(rankings: Sequence[Ranking]) -> list[Ranks]:
    """Each annotator's ranks of the responses that all of them placed; empty for fewer than two."""
    if len(rankings) < 2:
        return []
    placed = [{one for tier in ranking.tiers for one in tier} for ranking in rankings]
    among = sorted(set.intersection(*placed))
    found = (ranks(ranking, among) for ranking in rankings)
    return [[each[one] for one in among] for each in found]


def _of_size(size: int, comparisons: Sequence[Sequence[Ranks]]) -> RankAgreement:
    found = coincidences(
        values for rankings in comparisons for values in zip(*rankings, strict=True)
    )
    alpha = ordinal_alpha(found)
    defined = [(w, 1 / len(one)) for one in comparisons if (w := kendalls_w(one)) is not None]
    each = [w for w, _ in defined]
    return RankAgreement(
        responses=size,
        comparisons=len(comparisons),
        alpha=alpha,
        alpha_interval=None if alpha is None else _alpha_interval(alpha, found, comparisons),
        kendalls_w=mean(each),
        kendalls_w_interval=_interval_of_mean(each),
        kendalls_w_by_chance=mean([chance for _, chance in defined]),
    )


def _alpha_interval(
    alpha: float, found: Coincidences, comparisons: Sequence[Sequence[Ranks]]
) -> Interval | None:
    """Compute the interval of alpha by that of a share; None for too few comparisons.

    (1 - alpha) / 2 is a share of disagreement: 0 = equal ranks, 1/2 = chance, 1 = reversed.
    """
    if len(comparisons) < FEWEST:
        return None
    moves = [-one / 2 for one in alpha_moves(found, comparisons)]
    low, high = interval_of_share((1 - alpha) / 2, moves, clusters=len(comparisons))
    return 1 - 2 * high, 1 - 2 * low


def _interval_of_mean(each: Sequence[float]) -> Interval | None:
    """Compute the 95 % interval of the mean of numbers in [0, 1], one for each comparison.

    None for fewer than `FEWEST` numbers.
    """
    middle = mean(each)
    if middle is None or len(each) < FEWEST:
        return None
    moves = [(one - middle) / len(each) for one in each]
    return interval_of_share(middle, moves, clusters=len(each))


def kendalls_w(rankings: Sequence[Ranks]) -> float | None:
    """Kendall's coefficient of concordance, corrected for ties; None if everybody ties everything.

    W = 12 S / (r^2 (m^3 - m) - r T) with r rankings of m responses, S the squared deviations of the
    sums of ranks from their mean, and T the sum of t^3 - t over all groups of t tied responses.
    Source: Kendall & Gibbons 1990, Rank Correlation Methods, chapter 6.
    """
    r, m = len(rankings), len(rankings[0])
    sums = [sum(values) for values in zip(*rankings, strict=True)]
    spread = sum((one - r * (m + 1) / 2) ** 2 for one in sums)
    ties = sum(t**3 - t for ranking in rankings for t in Counter(ranking).values())
    most: float = r * r * (m**3 - m) - r * ties
    return 12 * spread / most if most else None
