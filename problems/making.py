"""The sets that can be made, by name: how, and which levels each has."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from problems import arithmetic, lists, stories
from problems.knights import making as knights
from problems.problem import Problem


class Made(NamedTuple):
    """How a set is made, and its levels; those of knights are people."""

    make: Callable[..., list[Problem]]
    levels: Sequence[int]


MADE: Mapping[str, Made] = {
    "knights": Made(knights.make, range(knights.FEWEST_PEOPLE, knights.MOST_PEOPLE + 1)),
    "arithmetic": Made(arithmetic.make, arithmetic.LEVELS),
    "stories": Made(stories.make, stories.LEVELS),
    "lists": Made(lists.make, lists.LEVELS),
    "sorting": Made(lists.make_sorting, lists.LEVELS),
}
