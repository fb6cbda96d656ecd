"""Shares of levels that have few problems, counted by hand."""

from problems.drawing import TooMany
from problems.problem import Problem
from problems.sharing import shared


def counts(there_are: list[int], n_together: int) -> list[int]:
    """Of levels with so many problems each."""

    def make(level: int, n: int) -> list[Problem]:
        there = [Problem(f"{level} {number}", "") for number in range(min(n, there_are[level]))]
        if len(there) < n:
            raise TooMany(there, n, "train")
        return there

    found = shared(make, range(len(there_are)), n_together)
    assert list(found) == list(range(len(there_are)))
    for level, problems in found.items():
        assert [one.prompt for one in problems] == [f"{level} {n}" for n in range(len(problems))]
    return [len(problems) for problems in found.values()]


def test_levels_with_enough_problems_have_equal_shares() -> None:
    assert counts([9, 9, 9], 6) == [2, 2, 2]
    assert counts([9, 9, 9], 8) == [2, 3, 3]


def test_the_others_share_what_a_level_lacks() -> None:
    assert counts([1, 9, 9], 6) == [1, 2, 3]
    # Of 12 each would give 4; then 11 among two: 5 and 6, of which the second has 5; then the rest.
    assert counts([1, 9, 5], 12) == [1, 6, 5]


def test_where_all_have_fewer_all_is_given() -> None:
    assert counts([1, 2, 0], 30) == [1, 2, 0]


def test_a_level_that_lacks_some_is_found_before_the_next_is_made() -> None:
    asked: list[tuple[int, int]] = []

    def make(level: int, n: int) -> list[Problem]:
        asked.append((level, n))
        if level == 0 and n > 1:
            raise TooMany([Problem("0", "")], n, "train")
        return [Problem(f"{level} {number}", "") for number in range(n)]

    shared(make, [0, 1, 2], 9)

    assert asked == [(0, 3), (1, 4), (2, 4)]
