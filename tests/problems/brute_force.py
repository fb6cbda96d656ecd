"""Knights and Knaves solved the slow way, from the English text alone.

Nothing of `problems` is used: sentences are read by patterns of their own, and each assignment is
tried person by person.
"""

import re
from collections.abc import Mapping
from itertools import product

_SAYS = re.compile(r'^(\w+) says: "(.+)\."$', re.MULTILINE)
_DENIED = re.compile(r"^it is not the case that (.+)$", re.IGNORECASE)
_JOINED = [
    (re.compile(r"^if (.+) then (.+)$", re.IGNORECASE), lambda a, b: b if a else True),
    (re.compile(r"^(.+) if and only if (.+)$"), lambda a, b: a is b),
    (re.compile(r"^(.+) and (.+)$"), lambda a, b: a and b),
    (re.compile(r"^(.+) or (.+)$"), lambda a, b: a or b),
]
_SINGLE = re.compile(r"^(\w+) is a (knight|knave)$")


def solutions(text: str) -> list[dict[str, str]]:
    """Every way to call each speaker of a puzzle a knight or a knave that does not contradict."""
    said = dict(_SAYS.findall(text))
    found = []
    for roles in product(["knight", "knave"], repeat=len(said)):
        island = dict(zip(said, roles, strict=True))
        if all(
            is_true(sentence, island) is (island[name] == "knight")
            for name, sentence in said.items()
        ):
            found.append(island)
    return found


def is_true(sentence: str, island: Mapping[str, str]) -> bool:
    """Whether a sentence holds on an island."""
    if denied := _DENIED.match(sentence):
        return not is_true(denied[1].removeprefix("(").removesuffix(")"), island)
    for pattern, joined in _JOINED:
        if parts := pattern.match(sentence):
            return bool(joined(is_true(parts[1], island), is_true(parts[2], island)))
    single = _SINGLE.match(sentence)
    assert single is not None, sentence
    return island[single[1]] == single[2]
