"""Arithmetic, stories and lists: their answers worked out again, from the words alone."""

import json
import re
from collections.abc import Callable
from fractions import Fraction

import pytest

from problems import arithmetic, lists, stories
from problems.drawing import TooMany, bag_of_words
from problems.problem import Problem

MADE = {
    "arithmetic": arithmetic.make,
    "stories": stories.make,
    "lists": lists.make,
    "sorting": lists.make_sorting,
}
PEOPLE_AND_THINGS = {*stories._PEOPLE, *stories._THINGS}


@pytest.mark.parametrize("level", arithmetic.LEVELS)
def test_arithmetic_has_the_value_of_its_expression(level: int) -> None:
    """Worked out in fractions, so that a division with a remainder would show."""
    for problem in arithmetic.make(level, 30, seed=7):
        text = problem.prompt.removeprefix("What is ").partition("?")[0]
        assert re.fullmatch(r"[\d+*/() -]+", text)
        exact = re.sub(r"(\d+)", r"Fraction(\1)", text)
        assert eval(exact, {"Fraction": Fraction}) == int(problem.reference)  # of digits alone


def retold(text: str) -> int:
    """What a story ends with, sentence by sentence."""
    held = 0
    for sentence in re.split(r"(?<=[.?]) ", text):
        numbers = [int(number) for number in re.findall(r"\d+", sentence)]
        if "boxes with" in sentence:
            held += numbers[0] * numbers[1]
        elif "finds" in sentence:
            held += numbers[0]
        elif "half of them" in sentence:
            assert held % 2 == 0
            held //= 2
        elif "gives" in sentence:
            held -= numbers[0]
        elif "brings" in sentence:
            held *= 3 if "twice" in sentence else 2
        elif "How many" not in sentence:
            [held] = numbers
        assert held >= 0
    return held


@pytest.mark.parametrize("level", stories.LEVELS)
def test_stories_end_with_what_is_told(level: int) -> None:
    for problem in stories.make(level, 40, seed=2):
        story = problem.prompt.partition(" End with")[0]
        assert story.count(".") == level + 1
        assert retold(story) == int(problem.reference)


@pytest.mark.parametrize("level", lists.LEVELS)
def test_lists_are_what_is_asked_for(level: int) -> None:
    """In the order of the task, so that a prompt has one reference whatever the seed."""
    n_even = 0
    for problem in lists.make(level, 30, seed=2):
        asked = problem.prompt.partition(" End with")[0]
        if "even" in asked:
            numbers = asked.rpartition("? ")[2].rstrip(".").split(", ")
            expected = [number for number in numbers if int(number) % 2 == 0]
            n_even += 1
        else:
            one, two = re.findall(r"(?:First|Second): ([^.]+)\.", asked)
            expected = [word for word in one.split(", ") if word in two.split(", ")]
        found = json.loads(problem.reference)
        assert found
        assert found == expected
    assert 0 < n_even < 30


@pytest.mark.parametrize("level", lists.LEVELS)
def test_sorting_is_by_the_alphabet(level: int) -> None:
    for problem in lists.make_sorting(level, 30, seed=2):
        words = problem.prompt.partition(": ")[2].partition(".")[0].split(", ")
        assert json.loads(problem.reference) == sorted(words)
        assert len(words) == 1 + 2 * level


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_no_problem_is_of_two_levels_whatever_the_seeds(
    make: Callable[..., list[Problem]],
) -> None:
    """A project has a prompt once, with one level: another one would contradict it."""

    def prompts(level: int) -> set[str]:
        made: set[str] = set()
        for seed in range(2):
            try:
                problems = make(level, 1500, seed=seed)
            except TooMany as error:
                problems = error.found
            made |= {problem.prompt for problem in problems}
        return made

    of_levels = [prompts(level) for level in arithmetic.LEVELS]
    assert sum(map(len, of_levels)) == len(set().union(*of_levels))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_seeds_repeat_and_no_problem_is_in_both_splits(
    make: Callable[..., list[Problem]],
) -> None:
    """Not under other names either, nor in another order."""

    def forms(problems: list[Problem]) -> set[str]:
        return {bag_of_words(problem.prompt, PEOPLE_AND_THINGS) for problem in problems}

    train = [p for seed in range(3) for p in make(2, 50, seed=seed)]
    test = [p for seed in range(3) for p in make(2, 50, seed=seed, split="test")]
    assert make(2, 50, seed=1) == make(2, 80, seed=1)[:50] == train[50:100]
    assert len(forms(train[:50])) == 50
    assert forms(train) & forms(test) == set()
    with pytest.raises(ValueError, match="levels 1 to 5"):
        make(6, 1, seed=0)


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(TooMany, match="ask for fewer, or for a higher level"):
        arithmetic.make(1, 100, seed=0)
