"""Knights and Knaves for a very small model: puzzles of one width, and a search in words.

Everybody says one thing about two different people, in six words: `a : or b=knave c=knight ;`. The
search takes every assignment in one fixed order and asks claim after claim whether it fits (`yes`)
until one does not (`no`); the assignment that fits all is the answer. So the one thing to be
learnt is whether a claim fits an assignment, and a response is right where it never errs.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product

from problems.drawing import Split, split_of
from problems.knights.claims import JOINS, ROLES, Claim
from problems.knights.form import form
from problems.knights.puzzle import Puzzle
from problems.knights.solver import solutions

NAMES = "abcdef"
FEWEST_PEOPLE, MOST_PEOPLE = 2, len(NAMES)
END_OF_PUZZLE, ANSWER = "?", "answer:"
WORDS = (
    *(":", ";", END_OF_PUZZLE, "yes", "no", ANSWER),
    *JOINS,
    *NAMES,
    *(f"{name}={role}" for name in NAMES for role in ROLES),
)

# Draws without anything new, after which there seem to be no more.
_MOST_VAIN_DRAWS = 20_000

Assignment = tuple[bool, ...]


def draw(n_people: int, n_wanted: int, *, seed: str, split: Split) -> list[Puzzle]:
    """So many puzzles with one solution, no two alike, the same for the same arguments.

    The form of a puzzle decides on its split, as in `problems.knights.making`: under other names or
    in another order it is in the same one. Within a split two puzzles may share a form. Raises
    ValueError where there seem to be fewer.
    """
    found: dict[Puzzle, None] = {}
    n_vain = number = 0
    while len(found) < n_wanted and n_vain < _MOST_VAIN_DRAWS:
        puzzle = _drawn(random.Random(f"{seed} {n_people} {number}"), n_people)
        is_wanted = len(solutions(puzzle)) == 1 and split_of(form(puzzle)) == split
        n_vain = 0 if is_wanted and puzzle not in found else n_vain + 1
        number += 1
        if is_wanted:
            found[puzzle] = None
    if len(found) < n_wanted:
        raise ValueError(
            f"found {len(found)} puzzles of {n_people} people for the {split} split, expected "
            f"{n_wanted}; ask for fewer"
        )
    return list(found)


def _drawn(source: random.Random, n_people: int) -> Puzzle:
    names = tuple(NAMES[:n_people])
    return Puzzle(names, tuple(_claim(source, n_people) for _ in names))


def _claim(source: random.Random, n_people: int) -> Claim:
    two = source.sample(range(n_people), 2)
    return (source.choice(JOINS), *((source.choice(ROLES), person) for person in two))


def asked(puzzle: Puzzle) -> str:
    """The prompt: six words a person and a mark at the end."""
    said = (
        f"{name} : {join} {_word(one, puzzle)} {_word(two, puzzle)} ;"
        for name, (join, one, two) in zip(puzzle.names, puzzle.claims, strict=True)
    )
    return " ".join([*said, END_OF_PUZZLE])


def searched(puzzle: Puzzle) -> str:
    """The response that is taught: the search to its end, and the answer."""
    words = []
    for assignment in assignments(len(puzzle.names)):
        who_is_what = told(assignment, puzzle)
        words += [who_is_what, *_checked(puzzle, assignment)]
        if words[-1] == "yes":
            return " ".join([*words, ANSWER, who_is_what])
    raise ValueError(f"the puzzle {puzzle.claims} has no solution")


def assignments(n_people: int) -> Iterator[Assignment]:
    """Every assignment, from all knights (True) to all knaves; the last person changes first."""
    return product((True, False), repeat=n_people)


def told(assignment: Sequence[bool], puzzle: Puzzle) -> str:
    """Who is what: `a=knight b=knave`."""
    roles = ("knight" if is_knight else "knave" for is_knight in assignment)
    return " ".join(f"{name}={role}" for name, role in zip(puzzle.names, roles, strict=True))


def _checked(puzzle: Puzzle, assignment: Assignment) -> Iterator[str]:
    """A word for each claim, up to the first that does not fit."""
    for speaker, claim in zip(assignment, puzzle.claims, strict=True):
        fits = _is_true(claim, assignment) == speaker
        yield "yes" if fits else "no"
        if not fits:
            return


def _is_true(claim: Claim, assignment: Assignment) -> bool:
    join, *parts = claim
    one, two = ((role == "knight") == assignment[person] for role, person in parts)
    return {"and": one and two, "or": one or two, "if": not one or two, "iff": one == two}[join]


def _word(claim: Claim, puzzle: Puzzle) -> str:
    role, person = claim
    return f"{puzzle.names[person]}={role}"
