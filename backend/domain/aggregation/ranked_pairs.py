"""Ranked pairs: the strongest majorities decide first.

Source: Tideman 1987, Independence of clones as a criterion for voting rules.
"""

from collections.abc import Collection, Iterable

from backend.domain.aggregation.votes import Merged, Pair, Votes, by_score, votes
from backend.domain.ranking import Ranking


def ranked_pairs(rankings: Iterable[Ranking]) -> Merged:
    """One ranking of all responses that somebody placed, or of each part that votes join.

    A majority is a pair (a, b) that more annotators rank a > b than b > a; its strength is the
    difference. Strong ones are locked before weak ones, unless they contradict what is locked.

    Ties: majorities of the same strength are locked together; those that contradict each other,
    because they lie on a cycle with locked ones, are left out together. A response stands by the
    number of responses that it beats through locked majorities less the number that beat it;
    equal numbers share a tier. Reversing every ranking reverses the result.
    """
    found = votes(rankings)
    beaten = {one: _reached(one, _locked(found)) for one in found.placed}
    score = {
        one: len(beaten[one]) - sum(one in others for others in beaten.values())
        for one in found.placed
    }
    return by_score(found, lambda one: score[one])


def _locked(found: Votes) -> set[Pair]:
    strength = {(a, b): n - found.wins.get((b, a), 0) for (a, b), n in found.wins.items()}
    locked: set[Pair] = set()
    for level in sorted({n for n in strength.values() if n > 0}, reverse=True):
        equal = {pair for pair, n in strength.items() if n == level and not _closes(pair, locked)}
        known = locked | equal
        locked |= {pair for pair in equal if not _closes(pair, known)}
    return locked


def _closes(pair: Pair, majorities: Collection[Pair]) -> bool:
    """Whether these majorities lead from the worse one back to the better one."""
    return pair[0] in _reached(pair[1], majorities)


def _reached(start: str, majorities: Collection[Pair]) -> set[str]:
    """All that `start` beats, directly or through others."""
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        here = ahead.pop()
        further = {worse for better, worse in majorities if better == here} - reached
        reached |= further
        ahead.extend(further)
    return reached
