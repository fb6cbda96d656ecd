"""Draw different problems from a seed, each of which belongs to one split for ever.

What decides is a hash of what a problem is up to names and order: no seed puts a problem of the
test split into the train split, also not under other names or in another order.
"""

import hashlib
import random
import re
from collections.abc import Callable, Collection
from itertools import count
from typing import Any, Literal, TypeVar

T = TypeVar("T")
P = TypeVar("P")
Split = Literal["train", "test"]
# Told before each draw how many were found so far; may raise, which ends the drawing.
Watch = Callable[[int], None]
# One problem in so many is of the test split.
_TEST_SHARE = 5
# Draws without anything new, after which there seems to be no more.
_MOST_VAIN_DRAWS = 2_000


class TooMany(ValueError):
    """More problems are wanted than there seem to be; `found` are those that were found."""

    def __init__(self, found: list[Any], n_wanted: int, split: Split) -> None:
        super().__init__(
            f"only {len(found)} different problems were found for the {split} split, but "
            f"{n_wanted} are wanted; ask for fewer, or for a higher level"
        )
        self.found = found


def unwatched(_: int) -> None:
    """Let a drawing go on until it is done."""


def split_of(key: str) -> Split:
    """The split of whatever this text names."""
    digest = hashlib.sha256(key.encode()).digest()
    return "test" if int.from_bytes(digest[:8], "big") % _TEST_SHARE == 0 else "train"


def bag_of_words(text: str, without: Collection[str] = ()) -> str:
    """The words, numbers and operators of a text in order of the alphabet; of `without` none."""
    return " ".join(sorted(w for w in re.findall(r"\w+|[-+*/]", text) if w not in without))


def distinct(
    drawn: Callable[[random.Random], T],
    n_wanted: int,
    *,
    seed: str,
    split: Split,
    key: Callable[[T], str],
    told: Callable[[T], P],
    watch: Watch = unwatched,
) -> list[P]:
    """Draw `n_wanted` problems of a split, no two of one key, in the order in which they are drawn.

    `told`: the problem of what was drawn. More of them begin with the fewer ones. Raises TooMany
    where no more are found.
    """
    found: list[T] = []
    seen: set[str] = set()
    n_vain = 0
    for number in count():
        watch(len(found))
        if len(found) == n_wanted:
            return [told(one) for one in found]
        if n_vain == _MOST_VAIN_DRAWS:
            break
        one = drawn(random.Random(f"{seed} {number}"))
        name = key(one)
        n_vain += 1
        if name not in seen and split_of(name) == split:
            seen.add(name)
            found.append(one)
            n_vain = 0
    raise TooMany([told(one) for one in found], n_wanted, split)
