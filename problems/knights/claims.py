"""What a person on the island says: who is a knight, and how such claims are joined.

A claim is a tuple: ("knight", i) or ("knave", i) of the person i; ("not", c); or one of `JOINS`
with two claims. Written down it is Polish notation with names: `and knight Ann not knave Ben`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Claim: TypeAlias = tuple[Any, ...]

ROLES = ("knight", "knave")
JOINS = ("and", "or", "if", "iff")
# Of one claim: words in its notation.
MOST_WORDS = 64


class WrongClaim(ValueError):
    """A notation that is no claim; says what was found."""


def parse(text: str, places: Mapping[str, int]) -> Claim:
    """The claim of a notation; `places` gives the person of each name.

    Raises WrongClaim.
    """
    words = text.split()
    if len(words) > MOST_WORDS:
        raise WrongClaim(f"a claim has {len(words)} words; at most {MOST_WORDS} are read")
    rest = iter(words)
    claim = _next(rest, places)
    if (word := next(rest, None)) is not None:
        raise WrongClaim(f"{word!r} comes after the end of the claim {text[:100]!r}")
    return claim


def _next(words: Iterator[str], places: Mapping[str, int]) -> Claim:
    word = next(words, None)
    if word in ROLES:
        name = next(words, "")
        if name not in places:
            raise WrongClaim(f"{name[:50]!r} comes after {word}, but names nobody")
        return (word, places[name])
    if word == "not":
        return (word, _next(words, places))
    if word in JOINS:
        return (word, _next(words, places), _next(words, places))
    raise WrongClaim(f"found {str(word)[:50]!r} where a claim should begin")


def notation(claim: Claim, names: Sequence[str]) -> str:
    """The notation of a claim, which `parse` reads again."""
    kind, *parts = claim
    if kind in ROLES:
        return f"{kind} {names[parts[0]]}"
    return " ".join([kind, *(notation(part, names) for part in parts)])


def english(claim: Claim, names: Sequence[str]) -> str:
    """A claim as a clause of a sentence; joined claims inside another stand in parentheses."""
    kind, *parts = claim
    if kind in ROLES:
        return f"{names[parts[0]]} is a {kind}"
    said = [_inside(part, names) for part in parts]
    if kind == "not":
        return f"it is not the case that {said[0]}"
    if kind == "if":
        return f"if {said[0]} then {said[1]}"
    if kind == "iff":
        return f"{said[0]} if and only if {said[1]}"
    return f"{said[0]} {kind} {said[1]}"


def _inside(claim: Claim, names: Sequence[str]) -> str:
    clause = english(claim, names)
    return f"({clause})" if claim[0] in JOINS else clause
