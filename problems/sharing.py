"""Share a number of problems over levels, some of which may have fewer problems than others."""

from collections.abc import Callable, Sequence

from problems.drawing import TooMany
from problems.problem import Problem

# So many problems of a level; raises TooMany where no more are found.
Make = Callable[[int, int], list[Problem]]


def shared(make: Make, levels: Sequence[int], n_together: int) -> dict[int, list[Problem]]:
    """The problems of each level, `n_together` in all if so many are found.

    Levels have equal shares; a remainder goes to the last ones. A level with fewer problems than
    its share gives all of them, and the others share what is missing.
    """
    made: dict[int, list[Problem]] = {}
    while rest := [level for level in levels if level not in made]:
        wanted = _shares(n_together - sum(map(len, made.values())), rest)
        found: dict[int, list[Problem]] = {}
        for level, n in wanted.items():
            found[level] = _at_most(make, level, n)
            if len(found[level]) < n:
                # The shares of the others are larger than these, so no more are made of them.
                found = {level: found[level]}
                break
        made |= found
    return {level: made[level] for level in levels}


def _shares(n: int, levels: Sequence[int]) -> dict[int, int]:
    each, n_more = divmod(n, len(levels))
    first_with_more = len(levels) - n_more
    return {level: each + (place >= first_with_more) for place, level in enumerate(levels)}


def _at_most(make: Make, level: int, n: int) -> list[Problem]:
    try:
        return make(level, n)
    except TooMany as error:
        return error.found
