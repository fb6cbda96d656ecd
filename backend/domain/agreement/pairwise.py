"""The headline: how often two annotators say the same of the same two responses, beyond chance.

The other measures of this folder count by its pairs.

Of two responses a and b an annotator who placed both says a < b, a = b or a > b. A meeting is two
annotators on one comparison. With m(i, j) the pairs of responses that both i and j placed,

    Po = sum w m_agreed(i, j) / sum w m(i, j)                      over all meetings
    Pe = sum w m(i, j) c(i, j) / sum w m(i, j)
    c(i, j) = t_i t_j + (1 - t_i)(1 - t_j) / 2
    agreement = (Po - Pe) / (1 - Pe)

- w = 1 / (pairs of responses x pairs of annotators) of the comparison: one that all its annotators
  ranked in full weighs 1, whether it has 2 responses or 9, 2 judgments or 20, as it does in the
  loss of a reward model; one ranked in part weighs the share of it that was judged twice.
- 1 / 2: responses are shown in random order, so < and > are exchangeable names.
- t_i is the share of ties among i's pairs in these same sums, for each number of responses (K)
  alone: who ties more often among eight responses than among two would otherwise seem to agree,
  because both annotators of a comparison see the same K. Counted over the very pairs that are
  compared, it makes the mean of Po - Pe exactly 0 for annotators who rank at random.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from math import comb

from backend.domain.agreement.interval import interval_of_share
from backend.domain.agreement.judged import Judged
from intervals.interval import Interval

# Below this many comparisons an interval would promise more than anybody knows.
FEWEST = 20

# An annotator among comparisons with this many responses.
Cell = tuple[str, int]


@dataclass(frozen=True)
class Meeting:
    """Two annotators on one comparison, and the pairs of responses that both placed."""

    comparison_id: str
    size: int  # responses of the comparison
    users: tuple[str, str]
    at: datetime  # when the later one judged
    weight: float  # of each pair of responses
    pairs: int
    agreed: int
    contradicted: int  # one says <, the other >
    tied: tuple[int, int]  # pairs that each of the two tied

    @property
    def cells(self) -> tuple[Cell, Cell]:
        """The keys of the tie rates of the two annotators."""
        return (self.users[0], self.size), (self.users[1], self.size)


def chance_alike(left: float, right: float) -> float:
    """How often two who tie this often, and else rank at random, say the same of two responses."""
    return left * right + (1 - left) * (1 - right) / 2


@dataclass(frozen=True)
class TieRates:
    """How often each annotator ties, and how the rate moves with the weight of a comparison."""

    rates: Mapping[Cell, float]
    moves: Mapping[Cell, Sequence[tuple[str, float]]]

    def chance(self, meeting: Meeting) -> float:
        """The share of pairs on which these two would agree by chance."""
        left, right = meeting.cells
        return chance_alike(self.rates[left], self.rates[right])


@dataclass(frozen=True)
class Pairwise:
    """Agreement beyond chance (1 = always, 0 = as by chance), and what it is made of.

    `interval` covers 95 %; None below 20 comparisons. `value` is None where nobody shares a pair,
    and where chance alone explains all: everybody ties everything.
    """

    value: float | None
    interval: Interval | None
    observed: float | None
    expected: float | None
    comparisons: int


def meetings(judged: Iterable[Judged]) -> list[Meeting]:
    """Every two annotators of a comparison who placed the same two responses."""
    by_comparison: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.ranking.tiers:
            by_comparison[one.comparison_id].append(one)
    found = (
        _meeting(one, other, len(together))
        for together in by_comparison.values()
        for one, other in combinations(together, 2)
        if one.user_id != other.user_id
    )
    return [meeting for meeting in found if meeting.pairs]


def _meeting(one: Judged, other: Judged, rankings: int) -> Meeting:
    mine, yours = one.ranking.places, other.ranking.places
    said = [
        (_order(mine[a], mine[b]), _order(yours[a], yours[b]))
        for a, b in combinations(mine.keys() & yours.keys(), 2)
    ]
    size = len(mine) + len(one.ranking.unranked)
    return Meeting(
        comparison_id=one.comparison_id,
        size=size,
        users=(one.user_id, other.user_id),
        at=max(one.at, other.at),
        weight=1 / (comb(size, 2) * comb(rankings, 2)),
        pairs=len(said),
        agreed=sum(left == right for left, right in said),
        contradicted=sum(left * right < 0 for left, right in said),
        tied=(sum(left == 0 for left, _ in said), sum(right == 0 for _, right in said)),
    )


def _order(one: int, other: int) -> int:
    return (one > other) - (one < other)


def tie_rates(met: Sequence[Meeting]) -> TieRates:
    """The tie rates of all annotators, over the pairs that they share with others."""
    shared: dict[Cell, dict[str, tuple[float, float]]] = defaultdict(dict)
    for one in met:
        for cell, tied in zip(one.cells, one.tied, strict=True):
            ties, pairs = shared[cell].get(one.comparison_id, (0.0, 0.0))
            more = one.weight * tied, one.weight * one.pairs
            shared[cell][one.comparison_id] = ties + more[0], pairs + more[1]
    rates, moves = {}, {}
    for cell, found in shared.items():
        total = sum(pairs for _, pairs in found.values())
        rate = sum(ties for ties, _ in found.values()) / total
        rates[cell] = rate
        moves[cell] = [(one, (ties - rate * pairs) / total) for one, (ties, pairs) in found.items()]
    return TieRates(rates, moves)


def pairwise(met: Sequence[Meeting], ties: TieRates) -> Pairwise:
    """The agreement in these meetings, which may be a part of those that `ties` are from."""
    comparisons = len({one.comparison_id for one in met})
    weight = sum(one.weight * one.pairs for one in met)
    if not weight:
        return Pairwise(None, None, None, None, 0)
    observed = sum(one.weight * one.agreed for one in met) / weight
    expected = sum(one.weight * one.pairs * ties.chance(one) for one in met) / weight
    # Everybody ties everything: expected is 1 up to rounding, and nothing is left beyond chance.
    if 1 - expected < 1e-9:
        return Pairwise(None, None, observed, expected, comparisons)
    value = (observed - expected) / (1 - expected)
    interval = None
    if comparisons >= FEWEST:
        moves = _moves(met, ties, value, weight)
        low, high = interval_of_share(1 - observed, moves, clusters=comparisons)
        interval = 1 - high / (1 - expected), 1 - low / (1 - expected)
    return Pairwise(value, interval, observed, expected, comparisons)


def _moves(met: Sequence[Meeting], ties: TieRates, value: float, weight: float) -> list[float]:
    """(1 - Pe) times the derivative of 1 - value by the weight of each comparison.

    The tie rates move too, since each comparison adds to them.
    """
    moves: dict[str, float] = defaultdict(float)
    slopes: dict[Cell, float] = defaultdict(float)
    for one in met:
        (left, right), shared = one.cells, one.weight * one.pairs
        by_chance = (1 - value) * shared * ties.chance(one)
        moves[one.comparison_id] += value * shared - one.weight * one.agreed + by_chance
        slopes[left] += shared * (3 * ties.rates[right] - 1) / 2
        slopes[right] += shared * (3 * ties.rates[left] - 1) / 2
    for cell, slope in slopes.items():
        for comparison_id, move in ties.moves[cell]:
            moves[comparison_id] += (1 - value) * slope * move
    return [move / weight for move in moves.values()]
