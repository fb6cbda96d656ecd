"""The reward term `knights`: does the response say who is a knight and who a knave?

The puzzle stands in the prompt's metadata, as `podium problems make knights` writes it. It is
solved here, so that no reference is trusted.
"""

import math

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import KnightsReward
from problems.knights.answer import Unreadable, read
from problems.knights.puzzle import WrongPuzzle, of_metadata, told
from problems.knights.solver import solutions
from worker.trainer.rewards.sampled_response import RIGHT, Grade, SampledResponse, Score
from worker.trainer.run import Run


def build(term: KnightsReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term; it knows no settings but whether people count one by one."""
    is_partial = term.score == "partial"
    return lambda answers: [knights_grade(one, is_partial=is_partial) for one in answers]


def knights_grade(answer: SampledResponse, *, is_partial: bool = False) -> Grade:
    """1 and passed where everybody is called what they are, else 0, or the share of people.

    Without a score where the metadata hold no puzzle that can be solved: that is nobody's answer.
    """
    try:
        puzzle = of_metadata(answer.metadata)
    except WrongPuzzle as error:
        return Grade(math.nan, passed=False, why=f"the prompt has no puzzle: {error}")
    right = solutions(puzzle)
    if not right:
        return Grade(math.nan, passed=False, why="the puzzle of the prompt has no solution")
    try:
        said = read(answer.text, puzzle.names)
    except Unreadable as error:
        return Grade(0.0, passed=False, why=str(error))
    if said in right:
        return Grade(1.0, passed=True, answer=RIGHT)
    share = max(_share(said, solution) for solution in right)
    why = f"the correct roles: {told(right[0], puzzle.names)}"
    voted = told(said, puzzle.names)
    return Grade(share if is_partial else 0.0, passed=False, why=why, answer=voted)


def _share(said: tuple[bool, ...], solution: tuple[bool, ...]) -> float:
    return sum(a == b for a, b in zip(said, solution, strict=True)) / len(solution)
