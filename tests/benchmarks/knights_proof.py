"""Knights and Knaves: 10,000 puzzles against a brute force that reads their text; puzzles a second.

The brute force (`tests/problems/brute_force.py`) shares no code with the solver.
"""

import os
import time

import pytest

from problems.knights.making import make
from problems.knights.puzzle import of_metadata
from problems.knights.solver import solutions
from tests.problems import brute_force

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(0)]

PUZZLES = int(os.environ.get("PODIUM_BENCH_PUZZLES", "10000"))
LEAST_PER_S = 1000


def test_ten_thousand_puzzles_have_the_solution_that_a_brute_force_finds() -> None:
    sizes = dict.fromkeys(range(3, 9), PUZZLES // 7)
    sizes[2] = 60  # there are few of two people
    sizes[5] += PUZZLES - sum(sizes.values())
    n_agreed = 0
    for n_people, count in sizes.items():
        for problem in make(n_people, count, seed=11):
            [island] = brute_force.solutions(problem.prompt)
            told = ", ".join(f"{name} is a {role}" for name, role in island.items())
            n_agreed += told == problem.reference
    print(f"{n_agreed} of {PUZZLES} puzzles agree, by people: {dict(sorted(sizes.items()))}")
    assert n_agreed == PUZZLES


def test_a_thousand_puzzles_of_eight_people_are_solved_a_second() -> None:
    """From the metadata that a reward reads to the list of all solutions."""
    told = [problem.metadata for problem in make(8, 500, seed=12)]
    began = time.process_time()
    for metadata in told:
        assert len(solutions(of_metadata(metadata))) == 1
    rate = len(told) / (time.process_time() - began)
    print(f"{rate:,.0f} puzzles of 8 people read and solved a second")
    assert rate > LEAST_PER_S
