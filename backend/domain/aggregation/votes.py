"""What several rankings of one comparison say about each pair of its responses.

Every way of aggregation reads its rankings through this; pairs that an annotator did not place
count nowhere.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict

Pair = tuple[str, str]

# Two estimated strengths that differ by less are the same: rounding must not break a tie.
_SAME = 1e-6


@dataclass(frozen=True)
class Votes:
    """`wins` by (better, worse); `ties` by the two ids in order; both count annotators.

    `verdict`: ranked if anybody ranked; else what all said, cannot_judge if they differ.
    """

    wins: Mapping[Pair, int]
    ties: Mapping[Pair, int]
    placed: Sequence[str]  # in order of their ids
    unplaced: Sequence[str]
    verdict: Verdict


def votes(rankings: Iterable[Ranking]) -> Votes:
    """The votes in these rankings of one comparison."""
    wins: Counter[Pair] = Counter()
    ties: Counter[Pair] = Counter()
    placed: set[str] = set()
    every: set[str] = set()
    verdicts: set[Verdict] = set()
    for one in rankings:
        verdicts.add(one.verdict)
        wins.update(one.wins)
        ties.update((min(a, b), max(a, b)) for a, b in one.ties)
        placed.update(response for tier in one.tiers for response in tier)
        every.update(one.unranked)
    return Votes(wins, ties, sorted(placed), sorted(every - placed), _verdict(verdicts))


def _verdict(said: Collection[Verdict]) -> Verdict:
    if Verdict.RANKED in said:
        return Verdict.RANKED
    return Verdict.ALL_BAD if set(said) == {Verdict.ALL_BAD} else Verdict.CANNOT_JUDGE


def by_score(found: Votes, score: Callable[[str], float]) -> Ranking:
    """The placed responses by their scores, highest first; equal scores share a tier."""
    tiers: list[list[str]] = []
    last = None
    for one in sorted(found.placed, key=score, reverse=True):
        if last is None or last - score(one) > _SAME:
            tiers.append([])
        tiers[-1].append(one)
        last = score(one)
    placed = tuple(tuple(sorted(tier)) for tier in tiers)
    return Ranking(placed, tuple(found.unplaced), found.verdict)
