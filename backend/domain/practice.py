"""Practice: how much of an answer agrees with what is expected, and whether that is enough.

Called by `backend.store.data.practice`.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from backend.domain.ranking import Ranking

# Shares are floats: 7 of 10 pairs reach a bar of 0.7.
_ROUNDING = 1e-9


class Score(NamedTuple):
    """How many of the `pairs` that the expected ranking places the answer places alike."""

    agreed: int
    pairs: int


def score(expected: Ranking, answer: Ranking) -> Score:
    """Compare better, worse and tied of every two responses that the expected ranking places.

    A pair that the answer does not place does not agree.
    """
    wanted, found = expected.places, answer.places
    pairs = list(combinations(wanted, 2))
    agreed = sum(_order(wanted, pair) == _order(found, pair) for pair in pairs)
    return Score(agreed, len(pairs))


def total(scores: Sequence[Score]) -> Score:
    """Several scores as one."""
    return Score(sum(one.agreed for one in scores), sum(one.pairs for one in scores))


def passes(found: Score, bar: float) -> bool:
    """Whether this share of the pairs (from 0 to 1) agrees."""
    return found.agreed >= bar * found.pairs - _ROUNDING


def _order(places: dict[str, int], pair: tuple[str, str]) -> int | None:
    """-1 if the first is better, 1 if the second is, 0 for a tie, None where one is missing."""
    one, other = (places.get(name) for name in pair)
    if one is None or other is None:
        return None
    return (one > other) - (one < other)
