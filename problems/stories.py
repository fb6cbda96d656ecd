"""Word problems of grade school: a short story, one whole number to find, levels by its steps.

Level k tells of a beginning and k changes. The numbers, people and things are drawn; the answer is
never negative.
"""

import random
from collections.abc import Callable

from problems.drawing import Split, Watch, bag_of_words, distinct, unwatched
from problems.problem import Problem

LEVELS = range(1, 6)
_PEOPLE = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Hana", "Ivo", "Kai", "Nora", "Otto", "Zoe")
_THINGS = ("apples", "books", "coins", "marbles", "pencils", "shells", "stamps", "tickets")
_LARGEST = 1000


def make(
    level: int,
    n_wanted: int,
    *,
    seed: int,
    split: Split = "train",
    watch: Watch = unwatched,
) -> list[Problem]:
    """Make `n_wanted` different stories of a level; the same for the same arguments.

    Raises ValueError for a level that is not 1 to 5.
    """
    if level not in LEVELS:
        raise ValueError(f"level {level}; stories have the levels 1 to {LEVELS[-1]}")

    def drawn(draw: random.Random) -> tuple[str, int]:
        return _story(draw, level)

    name = f"stories {seed} {level}"

    def told(one: tuple[str, int]) -> Problem:
        return _problem(*one, level, split)

    return distinct(drawn, n_wanted, seed=name, split=split, key=_key, told=told, watch=watch)


def _key(one: tuple[str, int]) -> str:
    return bag_of_words(one[0], without=(*_PEOPLE, *_THINGS))


def _problem(text: str, value: int, level: int, split: Split) -> Problem:
    return Problem(
        prompt=f"{text} End with a line such as\nAnswer: ...",
        reference=str(value),
        tags=("stories", split),
        metadata={"set": "stories", "split": split, "level": level},
    )


def _story(draw: random.Random, n_changes: int) -> tuple[str, int]:
    owner, other = draw.sample(_PEOPLE, 2)
    things, held = draw.choice(_THINGS), draw.randrange(5, 60)
    sentences = [f"{owner} has {held} {things}."]
    for _ in range(n_changes):
        fitting = [change for change, fits in _CHANGES if fits(held)]
        sentence, held = draw.choice(fitting)(draw, held, owner, other, things)
        sentences.append(sentence)
    sentences.append(f"How many {things} does {owner} have now?")
    return " ".join(sentences), held


def _finds(draw: random.Random, held: int, owner: str, _: str, things: str) -> tuple[str, int]:
    n = draw.randrange(2, 40)
    return f"{owner} finds {n} more {things}.", held + n


def _gives(draw: random.Random, held: int, owner: str, other: str, _: str) -> tuple[str, int]:
    n = draw.randrange(2, held)
    return f"{owner} gives {n} of them to {other}.", held - n


def _doubles(draw: random.Random, held: int, owner: str, other: str, _: str) -> tuple[str, int]:
    times, word = draw.choice([(1, "as many as"), (2, "twice as many as")])
    return f"{other} brings {owner} {word} {owner} has.", held * (1 + times)


def _buys(draw: random.Random, held: int, owner: str, _: str, things: str) -> tuple[str, int]:
    n_boxes, n_each = draw.randrange(2, 10), draw.randrange(2, 13)
    return f"{owner} buys {n_boxes} boxes with {n_each} {things} each.", held + n_boxes * n_each


def _halves(_: random.Random, held: int, owner: str, other: str, _things: str) -> tuple[str, int]:
    return f"{owner} gives half of them to {other}.", held // 2


_Change = Callable[[random.Random, int, str, str, str], tuple[str, int]]
# What may happen, and to how many things.
_CHANGES: tuple[tuple[_Change, Callable[[int], bool]], ...] = (
    (_finds, lambda held: True),
    (_gives, lambda held: held > 3),
    (_doubles, lambda held: 0 < held <= _LARGEST // 3),
    (_buys, lambda held: True),
    (_halves, lambda held: held > 0 and held % 2 == 0),
)
