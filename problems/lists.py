"""Tasks whose answer is a list: name what two lists share, keep the even numbers; sort words.

The reference is the list as JSON. Sorting is a set of its own, for there alone order counts.
"""

import json
import random
from collections.abc import Callable, Sequence

from problems.drawing import Split, Watch, bag_of_words, distinct, unwatched
from problems.problem import Problem

LEVELS = range(1, 6)
_WORDS = (
    *("anchor", "basket", "candle", "dragon", "engine", "feather", "garden", "hammer", "island"),
    *("jacket", "kettle", "ladder", "mirror", "needle", "orchard", "pillow", "quarry", "ribbon"),
    *("saddle", "tunnel", "umbrella", "velvet", "window", "yellow", "zipper", "bridge", "copper"),
    *("desert", "forest", "guitar", "harbor", "insect", "jungle", "lantern", "meadow", "tablet"),
)
_Task = tuple[str, tuple[str, ...]]
_Draw = Callable[[random.Random, int], _Task]


def make(
    level: int,
    n_wanted: int,
    *,
    seed: int,
    split: Split = "train",
    watch: Watch = unwatched,
) -> list[Problem]:
    """Make `n_wanted` different tasks on lists of 3 (level 1) to 11 items (level 5), in any order.

    The same for the same arguments. Raises ValueError for a level that is not 1 to 5.
    """

    def drawn(draw: random.Random, size: int) -> _Task:
        return draw.choice((_shared, _even))(draw, size)

    return _made("lists", drawn, level, n_wanted, seed, split, watch)


def make_sorting(
    level: int,
    n_wanted: int,
    *,
    seed: int,
    split: Split = "train",
    watch: Watch = unwatched,
) -> list[Problem]:
    """Make tasks as `make` does: words to be sorted, whose order in the answer counts."""
    return _made("sorting", _sorted, level, n_wanted, seed, split, watch)


def _made(
    name: str,
    draw_one: _Draw,
    level: int,
    n_wanted: int,
    seed: int,
    split: Split,
    watch: Watch,
) -> list[Problem]:
    if level not in LEVELS:
        raise ValueError(f"level {level}; {name} has the levels 1 to {LEVELS[-1]}")

    def drawn(draw: random.Random) -> _Task:
        return draw_one(draw, 1 + 2 * level)

    def told(task: _Task) -> Problem:
        text, items = task
        return Problem(
            prompt=f"{text} End with a line such as\nAnswer: one, two, three",
            reference=json.dumps(items),
            tags=(name, split),
            metadata={"set": name, "split": split, "level": level},
        )

    series = f"{name} {seed} {level}"
    return distinct(drawn, n_wanted, seed=series, split=split, key=_key, told=told, watch=watch)


def _key(task: _Task) -> str:
    return bag_of_words(task[0])


def _sorted(draw: random.Random, size: int) -> _Task:
    words = draw.sample(_WORDS, size)
    return f"Sort these words by the alphabet: {', '.join(words)}.", tuple(sorted(words))


def _shared(draw: random.Random, size: int) -> _Task:
    words = draw.sample(_WORDS, 2 * size)
    both = words[: draw.randrange(1, size)]
    rest = size - len(both)
    one = _mixed(draw, both + words[size : size + rest])
    two = _mixed(draw, both + words[size + rest : size + 2 * rest])
    text = f"Which words are in both lists? First: {', '.join(one)}. Second: {', '.join(two)}."
    # Not in the order in which they were drawn: the same prompt would have another reference.
    return text, tuple(word for word in one if word in both)


def _even(draw: random.Random, size: int) -> _Task:
    numbers = draw.sample(range(10, 100), size)
    if all(number % 2 for number in numbers):
        numbers[0] += 1
    text = f"Which of these numbers are even? {', '.join(map(str, numbers))}."
    return text, tuple(str(number) for number in numbers if number % 2 == 0)


def _mixed(draw: random.Random, words: Sequence[str]) -> list[str]:
    return draw.sample(words, len(words))
