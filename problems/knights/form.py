"""The form of a puzzle: the same whatever its people are called and in which order they speak.

Made by colour refinement: at first all people look alike; round after round, how each looks follows
from what they say and from what is said of them, until as many rounds are done as there are people.
Puzzles of equal structure always have equal forms. Two others may share one, too, which is harmless
where the form decides on which side of a split a puzzle stands: whatever is alike stands together.
Source: Weisfeiler and Leman 1968.
"""

import hashlib
from collections.abc import Sequence

from problems.knights.claims import JOINS, ROLES, Claim
from problems.knights.puzzle import Puzzle

_EVEN_SIDED = frozenset(JOINS) - {"if"}


def form(puzzle: Puzzle) -> str:
    """Hash what a puzzle says, whatever its names and their order: 64 hexadecimal digits."""
    looks = [""] * len(puzzle.names)
    for _ in puzzle.names:
        looks = [_look(person, looks, puzzle.claims) for person in range(len(looks))]
    return _digest(sorted(looks))


def _look(person: int, looks: Sequence[str], claims: Sequence[Claim]) -> str:
    """Hash what this person says, and what others say who mention them."""
    of_them = sorted(
        looks[other] + _shape(claim, looks, speaker=other, marked=person)
        for other, claim in enumerate(claims)
        if person in _mentioned(claim)
    )
    return _digest([_shape(claims[person], looks, speaker=person, marked=person), *of_them])


def _shape(claim: Claim, looks: Sequence[str], *, speaker: int, marked: int) -> str:
    kind, *parts = claim
    if kind in ROLES:
        [person] = parts
        return f"{kind}{int(person == speaker)}{int(person == marked)}{looks[person]}"
    shapes = [_shape(part, looks, speaker=speaker, marked=marked) for part in parts]
    if kind in _EVEN_SIDED:
        shapes.sort()
    return f"{kind}({','.join(shapes)})"


def _mentioned(claim: Claim) -> set[int]:
    kind, *parts = claim
    if kind in ROLES:
        return {parts[0]}
    return set().union(*(_mentioned(part) for part in parts))


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
