"""Graded arithmetic: one whole number to find, five levels from a single digit to three operations.

| level | is |
| --- | --- |
| 1 | a sum of two numbers below 10 |
| 2 | a sum or difference of two numbers below 100 |
| 3 | a product of two numbers below 20, or a difference below 0 |
| 4 | two operations with parentheses, numbers below 50 |
| 5 | three operations, among them a division without a remainder |

No expression is of two levels: a project has a prompt once, with one level.
"""

import random
from collections.abc import Callable, Mapping

from problems.drawing import Split, Watch, bag_of_words, distinct, unwatched
from problems.problem import Problem

LEVELS = range(1, 6)


def make(
    level: int,
    n_wanted: int,
    *,
    seed: int,
    split: Split = "train",
    watch: Watch = unwatched,
) -> list[Problem]:
    """Make `n_wanted` different problems of a level; the same for the same arguments.

    Raises TooMany where the level has no more, ValueError for a level that is not 1 to 5.
    """
    if level not in _EXPRESSIONS:
        raise ValueError(f"level {level}; arithmetic has the levels 1 to {LEVELS[-1]}")
    expression = _EXPRESSIONS[level]
    name = f"arithmetic {seed} {level}"

    def told(one: tuple[str, int]) -> Problem:
        return _problem(*one, level, split)

    return distinct(expression, n_wanted, seed=name, split=split, key=_key, told=told, watch=watch)


def _key(one: tuple[str, int]) -> str:
    return bag_of_words(one[0])


def _problem(text: str, value: int, level: int, split: Split) -> Problem:
    return Problem(
        prompt=f"What is {text}? End with a line such as\nAnswer: ...",
        reference=str(value),
        tags=("arithmetic", split),
        metadata={"set": "arithmetic", "split": split, "level": level},
    )


def _digits(draw: random.Random) -> tuple[str, int]:
    a, b = draw.randrange(10), draw.randrange(10)
    return f"{a} + {b}", a + b


def _hundreds(draw: random.Random) -> tuple[str, int]:
    a, b = draw.randrange(10, 100), draw.randrange(10, 100)
    if draw.random() < 0.5:
        return f"{a} + {b}", a + b
    return f"{max(a, b)} - {min(a, b)}", abs(a - b)


def _products(draw: random.Random) -> tuple[str, int]:
    if draw.random() < 0.5:
        a, b = draw.randrange(2, 20), draw.randrange(2, 20)
        return f"{a} * {b}", a * b
    a, b = sorted(draw.sample(range(10, 100), 2))
    return f"{a} - {b}", a - b


def _two_operations(draw: random.Random) -> tuple[str, int]:
    a, b, c = (draw.randrange(2, 50) for _ in range(3))
    return draw.choice(
        [
            (f"({a} + {b}) * {c}", (a + b) * c),
            (f"({a} - {b}) * {c}", (a - b) * c),
            (f"{a} * {b} - {c}", a * b - c),
            (f"{a} - ({b} + {c})", a - (b + c)),
        ]
    )


def _three_operations(draw: random.Random) -> tuple[str, int]:
    divisor, quotient = draw.randrange(2, 20), draw.randrange(2, 20)
    a, b = draw.randrange(2, 50), draw.randrange(2, 50)
    divided = divisor * quotient
    return draw.choice(
        [
            (f"{divided} / {divisor} + {a} * {b}", quotient + a * b),
            (f"({divided} / {divisor} - {a}) * {b}", (quotient - a) * b),
            (f"{a} * {b} - {divided} / {divisor}", a * b - quotient),
        ]
    )


_EXPRESSIONS: Mapping[int, Callable[[random.Random], tuple[str, int]]] = {
    1: _digits,
    2: _hundreds,
    3: _products,
    4: _two_operations,
    5: _three_operations,
}
