"""All solutions of a puzzle, exactly: one number holds what a claim is under every assignment.

Bit a of such a number stands for the assignment a, whose bit i says whether person i is a knight;
so and, or, not of claims are those of whole numbers, 2^n assignments at a time.
"""

from collections.abc import Sequence
from functools import cache

from problems.knights.claims import Claim
from problems.knights.puzzle import Puzzle


def solutions(puzzle: Puzzle) -> list[tuple[bool, ...]]:
    """Every assignment under which exactly the knights tell the truth; True = knight."""
    n = len(puzzle.names)
    everything, knights = _columns(n)
    fits = everything
    for knight, claim in zip(knights, puzzle.claims, strict=True):
        fits &= everything ^ knight ^ _truth(claim, everything, knights)
    return [_assignment(a, n) for a in _bits(fits)]


@cache
def _columns(n: int) -> tuple[int, tuple[int, ...]]:
    """All assignments of n people, and those in which each of them is a knight."""
    n_assignments = 1 << n
    everything = (1 << n_assignments) - 1
    # Person i is a knight in every other run of 2^i assignments.
    knights = tuple(everything // ((1 << (1 << i)) + 1) << (1 << i) for i in range(n))
    return everything, knights


def _truth(claim: Claim, everything: int, knights: Sequence[int]) -> int:
    kind, *parts = claim
    if kind == "knight":
        return knights[parts[0]]
    if kind == "knave":
        return everything ^ knights[parts[0]]
    found = [_truth(part, everything, knights) for part in parts]
    if kind == "not":
        return everything ^ found[0]
    one, two = found
    if kind == "and":
        return one & two
    if kind == "or":
        return one | two
    if kind == "if":
        return everything ^ one | two
    return everything ^ one ^ two


def _bits(number: int) -> list[int]:
    places = []
    while number:
        lowest = number & -number
        places.append(lowest.bit_length() - 1)
        number ^= lowest
    return places


def _assignment(a: int, n: int) -> tuple[bool, ...]:
    return tuple(bool(a >> i & 1) for i in range(n))
