"""The comparisons about which annotators disagree most: where guidelines are worth a second look.

Called by `backend.domain.agreement.overview`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.agreement.pairwise import Meeting, TieRates


@dataclass(frozen=True)
class Dispute:
    """One comparison. `agreement` as in the headline, with the annotators' usual tie rates.

    `pairs` counts every pair of responses once for each two annotators who both placed it.
    """

    comparison_id: str
    responses: int
    annotators: int
    pairs: int
    contradicted: int
    agreement: float


def disputes(met: Sequence[Meeting], ties: TieRates, *, most: int) -> list[Dispute]:
    """Find at most this many comparisons on which not all agree, the worst first."""
    by_comparison: dict[str, list[Meeting]] = defaultdict(list)
    for one in met:
        by_comparison[one.comparison_id].append(one)
    disputed = [
        _dispute(together, ties)
        for together in by_comparison.values()
        if any(one.agreed < one.pairs for one in together)
    ]
    # Of equally bad ones, the one with more contradictions says more.
    return sorted(disputed, key=lambda one: (one.agreement, -one.contradicted))[:most]


def _dispute(met: Sequence[Meeting], ties: TieRates) -> Dispute:
    pairs = sum(one.pairs for one in met)
    observed = sum(one.agreed for one in met) / pairs
    # Below 1: who disagrees on a pair does not tie every pair, and the rates contain this one.
    expected = sum(one.pairs * ties.chance(one) for one in met) / pairs
    return Dispute(
        comparison_id=met[0].comparison_id,
        responses=met[0].size,
        annotators=len({user for one in met for user in one.users}),
        pairs=pairs,
        contradicted=sum(one.contradicted for one in met),
        agreement=(observed - expected) / (1 - expected),
    )
