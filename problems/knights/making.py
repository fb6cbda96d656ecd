"""Puzzles with exactly one solution, made from a seed.

The form of a puzzle decides on its split, so that a puzzle of the test split is not in the train
split under other names or in another order either, whatever the seeds of the two.
"""

import random

from problems.drawing import Split, Watch, distinct, unwatched
from problems.knights.claims import JOINS, ROLES, Claim
from problems.knights.form import form
from problems.knights.puzzle import Puzzle, told
from problems.knights.solver import solutions
from problems.problem import Problem

FEWEST_PEOPLE, MOST_PEOPLE = 2, 8
NAMES = (
    *("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June", "Kai", "Lena"),
    *("Max", "Nora", "Otto", "Pia", "Quinn", "Rosa", "Sam", "Tess", "Uma", "Vera", "Will", "Zoe"),
)


def make(
    n_people: int,
    n_wanted: int,
    *,
    seed: int,
    split: Split = "train",
    watch: Watch = unwatched,
) -> list[Problem]:
    """Make `n_wanted` puzzles of `n_people`, no two of one form; the same for the same arguments.

    A longer list begins with the shorter one. Raises TooMany where no more are found, ValueError
    unless there are 2 to 8 people.
    """
    if not FEWEST_PEOPLE <= n_people <= MOST_PEOPLE:
        raise ValueError(f"a puzzle of {n_people} people; {FEWEST_PEOPLE} to {MOST_PEOPLE} can be")

    def drawn(draw: random.Random) -> Puzzle:
        return _puzzle(draw, n_people)

    name = f"knights {seed} {n_people}"

    def of_split(puzzle: Puzzle) -> Problem:
        return problem(puzzle, split)

    return distinct(drawn, n_wanted, seed=name, split=split, key=form, told=of_split, watch=watch)


def problem(puzzle: Puzzle, split: Split) -> Problem:
    """A puzzle with one solution as a problem."""
    [solution] = solutions(puzzle)
    n = len(puzzle.names)
    return Problem(
        prompt=puzzle.text,
        reference=told(solution, puzzle.names),
        tags=("knights", split),
        metadata={"set": "knights", "split": split, "level": n, "n_people": n} | puzzle.metadata,
    )


def _puzzle(draw: random.Random, n_people: int) -> Puzzle:
    """One with exactly one solution."""
    while True:
        names = tuple(draw.sample(NAMES, n_people))
        claims = tuple(_claim(draw, speaker, n_people) for speaker in range(n_people))
        puzzle = Puzzle(names, claims)
        if len(solutions(puzzle)) == 1:
            return puzzle


def _claim(draw: random.Random, speaker: int, n_people: int) -> Claim:
    """Draw a claim about one other person (a third of all) or two people; one in ten is denied."""
    others = [person for person in range(n_people) if person != speaker]
    if draw.random() < 1 / 3:
        claim: Claim = (draw.choice(ROLES), draw.choice(others))
    else:
        two = draw.sample(range(n_people), 2)
        claim = (draw.choice(JOINS), *((draw.choice(ROLES), person) for person in two))
    return ("not", claim) if draw.random() < 0.1 else claim
